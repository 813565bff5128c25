//! What can go wrong while data are prepared from a raw download.

use std::io;
use std::path::{Path, PathBuf};

use crate::csv::CsvError;
use crate::prepare::json::Bad;

/// Why a competition cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The catalog does not say how.
    #[error("competition `{id}` has no native preparation")]
    NoPreparation {
        /// The competition.
        id: String,
    },
    /// The catalog names a preparation that is not built in.
    #[error("there is no preparation `{name}`")]
    UnknownPreparation {
        /// Its name.
        name: String,
    },
    /// There is no such constant.
    #[error("competition `{id}` has no constant `{name}`")]
    NoConstant {
        /// The competition.
        id: String,
        /// The constant.
        name: String,
        /// The constants that there are.
        known: String,
    },
    /// A file or folder of the download is missing.
    #[error("the raw data have no {file}")]
    NoRaw {
        /// Its path in the raw folder.
        file: String,
    },
    /// A file or folder cannot be read or written.
    #[error("cannot {action} {path}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A table cannot be read.
    #[error("cannot read the table {file}")]
    Csv {
        /// Its path in the raw folder.
        file: String,
        /// Why not.
        #[source]
        source: CsvError,
    },
    /// A document cannot be read.
    #[error("cannot read the document {file}")]
    Json {
        /// Its path in the raw folder.
        file: String,
        /// Why not.
        #[source]
        source: Bad,
    },
    /// An archive cannot be read or written, or holds a path that leaves its folder.
    #[error("archive {path}: {problem}")]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A table has no such column.
    #[error("there is no column `{name}` among {known}")]
    NoColumn {
        /// The column.
        name: String,
        /// The columns that there are.
        known: String,
    },
    /// The data are not what the preparation expects.
    #[error("the raw data do not fit: {problem}")]
    Unfit {
        /// What is wrong.
        problem: String,
    },
    /// A step names a table that no step before it made, or the like.
    #[error("a step of the preparation is wrong: {problem}")]
    Step {
        /// What is wrong.
        problem: String,
    },
    /// Another process is at it.
    #[error("another process is working in {folder}")]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder is there already.
    #[error("{folder} is there already")]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
}

impl PrepareError {
    /// A next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoRaw { .. } => Some(
                "`--raw DIR` is the folder with the unpacked download, inner archives as they are".to_owned(),
            ),
            Self::Busy { .. } => Some("wait for its end, or end it".to_owned()),
            Self::NoConstant { known, .. } if known.is_empty() => Some("it has none".to_owned()),
            Self::NoConstant { known, .. } => Some(format!("it has {known}")),
            Self::Exists { folder } => Some(format!("remove {} to prepare it anew", folder.display())),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some space, or choose another folder with `--data-dir`".to_owned())
            }
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn unfit(problem: impl Into<String>) -> Self {
        Self::Unfit { problem: problem.into() }
    }

    pub(crate) fn archive(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Archive { path: path.to_owned(), problem: problem.to_string() }
    }
}

/// Refuses data that are not as they must be.
pub(crate) fn demand(fits: bool, problem: impl FnOnce() -> String) -> Result<(), PrepareError> {
    if fits { Ok(()) } else { Err(PrepareError::Unfit { problem: problem() }) }
}
