//! Why a holdout cannot be made or used. Reasons name files and columns, never a label.

use std::path::{Path, PathBuf};

use crate::csv::CsvError;
use crate::grade::GradeError;

/// Why there is no holdout.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HoldoutError {
    /// The catalog does not say where the training labels are.
    #[error("`{competition}` does not say where its training labels are, so none can be held out")]
    NotDeclared {
        /// The competition.
        competition: String,
    },
    /// The training table is not what the catalog says.
    #[error("{file} cannot be parted: {problem}")]
    Unsuitable {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A table cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: CsvError,
    },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// The grader cannot work with the labels.
    #[error("the training labels cannot be scored with")]
    Labels(#[from] GradeError),
}

impl HoldoutError {
    /// A next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotDeclared { .. } => Some(
                "leave `[validation]` out, or describe the table under `[training]` in the competition's TOML"
                    .to_owned(),
            ),
            Self::Unsuitable { .. } => {
                Some("compare `[training]` in the competition's TOML with the table's header".to_owned())
            }
            _ => None,
        }
    }

    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        let Self::Write { source, .. } = self else { return false };
        matches!(source.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
    }

    pub(super) fn read(path: &Path) -> impl FnOnce(CsvError) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}

impl From<CsvError> for HoldoutError {
    fn from(source: CsvError) -> Self {
        Self::Read { path: PathBuf::new(), source }
    }
}
