//! What tools do with files of a run's home workspace, and what comes of it.
//!
//! Paths are relative to the working directory of an execution. `./input` and what is mounted beside it can be read and
//! not written. Each act can be done twice without harm, so that one whose result a crash took is done again: a write
//! that finds its own content has succeeded, and a removal finds nothing. Appending is no act, for twice is not once: who
//! wants it reads, and writes the whole on condition that the file is [unchanged](WriteWhen::Unchanged).

use serde::{Deserialize, Serialize};

use crate::sha256::Sha256;

/// One act on files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum FilesRequest {
    /// The entries of a folder.
    List {
        /// The folder; `.` is the workspace itself.
        path: String,
    },
    /// The text of a file.
    Read {
        /// The file.
        path: String,
        /// Of a longer file nothing is read, or its beginning.
        max_bytes: u64,
        /// Whether the beginning of a longer file will do.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        beginning: bool,
    },
    /// Makes or replaces a file, whole and at once, with the folders that it is in.
    Write {
        /// The file.
        path: String,
        /// All of its new content.
        content: String,
        /// On what condition.
        #[serde(default, skip_serializing_if = "WriteWhen::is_always")]
        when: WriteWhen,
    },
    /// Copies a file over what stands at another path.
    Copy {
        /// The file.
        from: String,
        /// Where the copy goes.
        to: String,
    },
    /// Removes a file.
    Remove {
        /// The file.
        path: String,
    },
}

impl FilesRequest {
    /// Whether it may change a file.
    pub const fn changes(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Copy { .. } | Self::Remove { .. })
    }
}

/// On what condition a file is written. A file that holds the new content already meets each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WriteWhen {
    /// On none.
    #[default]
    Always,
    /// There is none yet.
    Absent,
    /// It has the content that was read.
    Unchanged {
        /// The SHA-256 that reading told.
        sha256: Sha256,
    },
}

impl WriteWhen {
    const fn is_always(&self) -> bool {
        matches!(self, Self::Always)
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its name: text of a hostile program.
    pub name: String,
    /// A folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_folder: bool,
    /// Size of a file in bytes.
    pub bytes: u64,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// The text: all of it, or its beginning.
    pub text: String,
    /// Size of the whole file in bytes.
    pub bytes: u64,
    /// SHA-256 of the whole file; `None` where only its beginning was read.
    pub sha256: Option<Sha256>,
    /// Bytes that are no UTF-8 were replaced: writing this text back would change the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
}

impl FileText {
    /// Whether it is only the beginning.
    pub const fn is_beginning(&self) -> bool {
        self.sha256.is_none()
    }
}

/// What came of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FilesAnswer {
    /// Of a list.
    Listed {
        /// By name.
        entries: Vec<FileEntry>,
        /// There are more, which were not listed.
        more: bool,
    },
    /// Of a reading.
    Read(FileText),
    /// Of a write or a copy.
    Written {
        /// Size of the file in bytes.
        bytes: u64,
        /// SHA-256 of what was written; `None` of a copy.
        sha256: Option<Sha256>,
    },
    /// Of a removal.
    Removed {
        /// Whether there was a file. After a crash it says `false` of one that was removed just before.
        existed: bool,
    },
}

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum FileFault {
    /// There is nothing at the path.
    #[error("`{path}` does not exist")]
    Missing {
        /// As it was given.
        path: String,
    },
    /// The path is absolute, empty, leads up, or leaves the workspace in another way.
    #[error("`{path}` is not a path inside the workspace")]
    Outside {
        /// As it was given.
        path: String,
    },
    /// A folder where a file was asked for.
    #[error("`{path}` is a folder")]
    Folder {
        /// As it was given.
        path: String,
    },
    /// No folder where one was asked for, or where the path leads through it.
    #[error("`{path}` is no folder, or leads through something that is none")]
    NotAFolder {
        /// As it was given.
        path: String,
    },
    /// A symbolic link, a pipe, a device: nothing that tools touch.
    #[error("`{path}` is {found}")]
    Special {
        /// As it was given.
        path: String,
        /// What it is.
        found: String,
    },
    /// It can be read only.
    #[error("`{path}` cannot be written: the input is read-only")]
    ReadOnly {
        /// As it was given.
        path: String,
    },
    /// Its owner is not allowed to.
    #[error("`{path}` is closed to its owner")]
    Closed {
        /// As it was given.
        path: String,
    },
    /// It has bytes that are in no text.
    #[error("`{path}` is no text ({bytes} bytes)")]
    Binary {
        /// As it was given.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// More than was allowed.
    #[error("`{path}` is larger than {max_bytes} bytes")]
    TooLarge {
        /// As it was given.
        path: String,
        /// What is allowed.
        max_bytes: u64,
    },
    /// A file stands where none was expected.
    #[error("`{path}` exists already")]
    Exists {
        /// As it was given.
        path: String,
    },
    /// It is not what was read any more.
    #[error("`{path}` has changed since it was read")]
    Changed {
        /// As it was given.
        path: String,
    },
    /// The system refused.
    #[error("{message}")]
    Failed {
        /// In its words.
        message: String,
    },
}
