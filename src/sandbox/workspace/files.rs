//! Files of a workspace, read and written from outside on an agent's behalf.
//!
//! A tool that edits files for an agent acts with the harness's rights on a folder that hostile code has laid out, and
//! may be changing at this moment. So a path is relative and has plain names only, no symbolic link is followed on the
//! way or at its end, and what stands there must be a regular file: nothing outside is ever opened, whatever is planted
//! or swapped in between. A file is replaced whole, under its own name, so what a hard link shares is left alone.
//!
//! `./input` is the job's input folder, as it is inside: it can be read and not written. Its own symbolic links are the
//! user's, and are followed as long as they stay in it.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::{AsFd, OwnedFd},
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid},
    io::Errno,
};

use super::{INPUT, ITSELF, PLAIN};
use crate::Job;

/// Larger files are neither read nor written, unless a caller says otherwise: no edit is as large.
const MOST_BYTES: u64 = 16 << 20;
/// Entries of a folder that are listed.
const MOST_ENTRIES: usize = 1000;

/// Why a file was not read, written or listed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path, or what stands there, is nothing that a tool may touch.
    #[error("`{path}` is {found}")]
    Refused {
        /// As it was given.
        path: String,
        /// What it is: `a symbolic link`, `a path that leaves the workspace`, ...
        found: &'static str,
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

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; text of a hostile program.
    pub name: String,
    /// A folder.
    pub is_folder: bool,
    /// Size of a file in bytes.
    pub bytes: u64,
}

/// The files of a job's workspace, and its input.
#[derive(Clone, Debug)]
pub struct Files {
    workspace: PathBuf,
    input: Option<PathBuf>,
    /// Files of the input that others stand in for, as inside.
    instead: Vec<(String, PathBuf)>,
    max_bytes: u64,
}

/// Where a path leads.
enum Target<'a> {
    Workspace(&'a Path),
    Input(&'a Path, PathBuf),
}

impl Files {
    /// Those of a job. Programs of the job may be running.
    pub fn of(job: &Job) -> Self {
        let max_bytes = MOST_BYTES.min(job.limits.file_bytes);
        let (workspace, input, instead) =
            (job.workspace.clone(), job.input.clone(), job.input_instead.clone());
        Self { workspace, input, instead, max_bytes }
    }

    /// The same with another limit on the size of a file, in bytes.
    #[must_use]
    pub fn with_limit(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// The content of a regular file.
    ///
    /// # Errors
    /// When there is none, or it may not be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = self.open(path, flags)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| failed("reading", path, errno))?;
        refuse_other_than_file(path, &stat)?;
        let too_large = || FileError::TooLarge { path: path.to_owned(), max_bytes: self.max_bytes };
        if u64::try_from(stat.st_size).is_ok_and(|size| size > self.max_bytes) {
            return Err(too_large());
        }
        let mut content = Vec::new();
        // It may be growing.
        File::from(file)
            .take(self.max_bytes.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|source| FileError::Io { action: "reading", path: path.to_owned(), source })?;
        if content.len() as u64 > self.max_bytes {
            return Err(too_large());
        }
        Ok(content)
    }

    /// The entries of a folder, by name, and at most a thousand of them; `.` is the workspace itself.
    ///
    /// # Errors
    /// When it is no folder that may be read.
    pub fn list(&self, path: &str) -> Result<Vec<Entry>, FileError> {
        let folder = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
        let failed = |errno| failed("listing", path, errno);
        let mut found = Vec::new();
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if found.len() == MOST_ENTRIES {
                break;
            }
            // One that is gone by now is not listed.
            let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind = FileType::from_raw_mode(stat.st_mode);
            found.push(Entry {
                name: name.to_string_lossy().into_owned(),
                is_folder: kind == FileType::Directory,
                bytes: if kind == FileType::RegularFile { stat.st_size.unsigned_abs() } else { 0 },
            });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Makes a file, or replaces one whole, with the folders it is in. It belongs to whom the workspace belongs, so that
    /// programs can change it.
    ///
    /// # Errors
    /// When something else stands there or on the way.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<(), FileError> {
        let refused = |found| Err(FileError::Refused { path: path.to_owned(), found });
        let relative = match self.target(path)? {
            Target::Workspace(relative) => relative,
            Target::Input(..) => return refused("in the input, which cannot be written"),
        };
        if content.len() as u64 > self.max_bytes {
            return Err(FileError::TooLarge { path: path.to_owned(), max_bytes: self.max_bytes });
        }
        let names: Vec<&OsStr> = plain_names(relative).collect();
        let Some((name, folders)) = names.split_last() else { return refused("the workspace itself") };
        let failed = |errno| failed("writing", path, errno);
        let root = rustix::fs::open(&self.workspace, ITSELF, Mode::empty()).map_err(failed)?;
        let owner = Owner::of(&root).map_err(failed)?;
        let mut folder = root;
        for name in folders {
            folder = owner.enter(&folder, name).map_err(failed)?;
        }
        let mode = match rustix::fs::statat(&folder, *name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                refuse_other_than_file(path, &stat)?;
                Mode::from_raw_mode(stat.st_mode & 0o777)
            }
            Err(Errno::NOENT) => Mode::from_raw_mode(0o644),
            Err(errno) => return Err(failed(errno)),
        };
        let replaced = owner.replace(&folder, name, mode, content);
        replaced.map_err(|source| FileError::Io { action: "writing", path: path.to_owned(), source })
    }

    /// Opens what a path leads to, without following what a program has laid out.
    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, FileError> {
        let (root, relative, resolve) = match self.target(path)? {
            Target::Workspace(relative) => {
                (self.workspace.as_path(), relative.to_owned(), ResolveFlags::NO_SYMLINKS)
            }
            Target::Input(input, relative) => (input, relative, ResolveFlags::NO_MAGICLINKS),
        };
        let failed = |errno| failed("opening", path, errno);
        let root = rustix::fs::open(root, ITSELF, Mode::empty()).map_err(failed)?;
        let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&root, &relative, flags, Mode::empty(), resolve).map_err(failed)
    }

    /// Where a path leads; refused when it is not made of plain names.
    fn target<'a>(&'a self, path: &'a str) -> Result<Target<'a>, FileError> {
        let refused = |found| FileError::Refused { path: path.to_owned(), found };
        if path.is_empty() || path.contains('\0') {
            return Err(refused("no path"));
        }
        let relative = Path::new(path);
        let mut normal = relative.components().filter(|part| *part != Component::CurDir);
        if normal.clone().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(refused("a path that leaves the workspace"));
        }
        match (&self.input, normal.next()) {
            (Some(input), Some(Component::Normal(first))) if first == INPUT => {
                let rest: PathBuf = normal.collect();
                let other = self.instead.iter().find(|(name, _)| rest == Path::new(name));
                if let Some((Some(folder), Some(name))) =
                    other.map(|(_, file)| (file.parent(), file.file_name()))
                {
                    return Ok(Target::Input(folder, name.into()));
                }
                Ok(Target::Input(input, if rest.as_os_str().is_empty() { ".".into() } else { rest }))
            }
            _ => Ok(Target::Workspace(relative)),
        }
    }
}

fn plain_names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}

/// Refuses everything but a regular file.
fn refuse_other_than_file(path: &str, stat: &Stat) -> Result<(), FileError> {
    let found = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    };
    Err(FileError::Refused { path: path.to_owned(), found })
}

/// What an error number says of a path.
fn failed(action: &'static str, path: &str, errno: Errno) -> FileError {
    let found = match errno {
        Errno::NOENT => return FileError::Missing { path: path.to_owned() },
        Errno::LOOP => "a symbolic link, or a path through one",
        Errno::XDEV => "a path that leaves the workspace",
        Errno::NOTDIR => "no folder, or a path through something that is none",
        Errno::NXIO | Errno::NODEV => "a socket or a device",
        Errno::ACCESS | Errno::PERM => "closed to its owner",
        other => return FileError::Io { action, path: path.to_owned(), source: other.into() },
    };
    FileError::Refused { path: path.to_owned(), found }
}

/// A number that no other write of this process has.
fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// To whom the workspace belongs: another than the harness where a container's programs are another user.
struct Owner {
    user: Uid,
    group: Gid,
    gives: bool,
}

impl Owner {
    fn of(workspace: &OwnedFd) -> rustix::io::Result<Self> {
        let stat = rustix::fs::fstat(workspace)?;
        let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        Ok(Self { user, group, gives: user != rustix::process::geteuid() })
    }

    fn give(&self, made: impl AsFd) -> rustix::io::Result<()> {
        if self.gives { rustix::fs::fchown(made, Some(self.user), Some(self.group)) } else { Ok(()) }
    }

    /// Opens a folder in a folder, or makes it. No link is followed, for the name is a single one.
    fn enter(&self, parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        let real = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(parent, name, ITSELF, Mode::empty()) {
            Err(Errno::NOENT) => {}
            found => return found,
        }
        match rustix::fs::mkdirat(parent, name, PLAIN) {
            Ok(()) => self.give(rustix::fs::openat(parent, name, real, Mode::empty())?)?,
            // A program was faster.
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        rustix::fs::openat(parent, name, ITSELF, Mode::empty())
    }

    /// Writes a file beside the other and puts it in its place.
    fn replace(&self, folder: &OwnedFd, name: &OsStr, mode: Mode, content: &[u8]) -> io::Result<()> {
        let beside = format!(".podium-writing-{}", unique());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(folder, &beside, flags, Mode::RUSR | Mode::WUSR)?;
        let write = || {
            self.give(&made)?;
            rustix::fs::fchmod(&made, mode)?;
            (&File::from(made)).write_all(content)?;
            Ok(rustix::fs::renameat(folder, &beside, folder, name)?)
        };
        let written: io::Result<()> = write();
        if written.is_err() {
            // It may be gone: then there is nothing to do.
            let _ = rustix::fs::unlinkat(folder, &beside, AtFlags::empty());
        }
        written
    }
}
