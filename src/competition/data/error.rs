//! What can go wrong while data are prepared.

use std::io;
use std::path::PathBuf;

/// Why data cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
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
    /// An archive holds something else than regular files with plain paths.
    #[error("archive {archive} holds `{entry}`, which is {problem}")]
    UnsafeEntry {
        /// The archive.
        archive: PathBuf,
        /// The entry.
        entry: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An archive unpacks to more than is plausible.
    #[error("archive {archive} unpacks to more than {limit} bytes")]
    TooLarge {
        /// The archive.
        archive: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A folder is there, but not whole.
    #[error("{folder} is incomplete")]
    Incomplete {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder was prepared from other archives than those at hand.
    #[error("{folder} was prepared from another version of the data")]
    OtherVersion {
        /// The folder.
        folder: PathBuf,
    },
}

impl DataError {
    /// A next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Incomplete { folder } | Self::OtherVersion { folder } => {
                Some(format!("remove {} and try again", folder.display()))
            }
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    Some("choose another data folder with `--data-dir`".to_owned())
                }
                io::ErrorKind::StorageFull => {
                    Some("free some space, or choose another data folder with `--data-dir`".to_owned())
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
