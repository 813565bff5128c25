//! Why a file of a workspace was not touched.

use std::{fmt, io};

use podium_types::files::FileFault;
use rustix::{
    fs::{FileType, Stat},
    io::Errno,
};

/// What stands in the way of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An empty path, or one with a NUL character.
    NoPath,
    /// A path that is absolute or leads up.
    Outside,
    /// The workspace itself, where a file was asked for.
    Workspace,
    /// What is mounted to be read.
    ReadOnly,
    /// A folder.
    Folder,
    /// A link.
    Link,
    /// No folder, where one is needed.
    NoFolder,
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// A socket or a device; opening does not tell which.
    SocketOrDevice,
    /// Its mode.
    Closed,
    /// A kind of file that no system had when this was written.
    Unknown,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPath => "no path",
            Self::Outside => "a path that leaves the workspace",
            Self::Workspace => "the workspace itself",
            Self::ReadOnly => "in the input, which cannot be written",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link, or a path through one",
            Self::NoFolder => "no folder, or a path through something that is none",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::SocketOrDevice => "a socket or a device",
            Self::Closed => "closed to its owner",
            Self::Unknown => "something unknown",
        })
    }
}

/// Why a file was not read, written or listed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path, or what stands there, is nothing that a tool may touch.
    #[error("`{path}` is {found}")]
    Refused {
        /// As it was given.
        path: String,
        /// What it is.
        found: Obstacle,
    },
    /// There is nothing.
    #[error("`{path}` does not exist")]
    Missing {
        /// As it was given.
        path: String,
    },
    /// The content is longer than allowed.
    #[error("`{path}` is larger than {max_bytes} bytes")]
    TooLarge {
        /// As it was given.
        path: String,
        /// What is allowed.
        max_bytes: u64,
    },
    /// A system call failed.
    #[error("{action} `{path}` failed")]
    Io {
        /// What was being done.
        action: &'static str,
        /// As it was given.
        path: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

impl FileError {
    /// Whether the system had no room for it.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }
}

impl From<FileError> for FileFault {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Missing { path } => Self::Missing { path },
            FileError::TooLarge { path, max_bytes } => Self::TooLarge { path, max_bytes },
            FileError::Io { source, action, path } => {
                Self::Failed { message: format!("{action} `{path}` failed: {source}") }
            }
            FileError::Refused { path, found } => match found {
                Obstacle::NoPath | Obstacle::Outside => Self::Outside { path },
                Obstacle::Workspace | Obstacle::Folder => Self::Folder { path },
                Obstacle::ReadOnly => Self::ReadOnly { path },
                Obstacle::NoFolder => Self::NotAFolder { path },
                Obstacle::Closed => Self::Closed { path },
                found => Self::Special { path, found: found.to_string() },
            },
        }
    }
}

/// Refuses everything but a regular file.
pub(super) fn refuse_other_than_file(path: &str, stat: &Stat) -> Result<(), FileError> {
    let found = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => Obstacle::Folder,
        FileType::Symlink => Obstacle::Link,
        FileType::Fifo => Obstacle::Fifo,
        FileType::Socket => Obstacle::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => Obstacle::Device,
        FileType::Unknown => Obstacle::Unknown,
    };
    Err(FileError::Refused { path: path.to_owned(), found })
}

/// What an error number says of a path.
pub(super) fn failed(action: &'static str, path: &str, errno: Errno) -> FileError {
    let found = match errno {
        Errno::NOENT => return FileError::Missing { path: path.to_owned() },
        Errno::LOOP => Obstacle::Link,
        Errno::XDEV => Obstacle::Outside,
        Errno::NOTDIR => Obstacle::NoFolder,
        Errno::ISDIR => Obstacle::Folder,
        Errno::NXIO | Errno::NODEV => Obstacle::SocketOrDevice,
        Errno::ACCESS | Errno::PERM => Obstacle::Closed,
        other => return FileError::Io { action, path: path.to_owned(), source: other.into() },
    };
    FileError::Refused { path: path.to_owned(), found }
}
