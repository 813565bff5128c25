//! Why no competition can be made of the user's data. Each says what is wrong in words that an engineer acts on: the file,
//! the column, the line, the value.

use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::CatalogError;
use crate::csv::CsvError;
use crate::grade::GradeError;

/// Why there is no competition.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnError {
    /// A file or folder cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A table is no table.
    #[error("cannot read {}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: CsvError,
    },
    /// The table is readable and still cannot be used.
    #[error("{}: {problem}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: Option<String>,
    },
    /// There is no table in the folder.
    #[error("{} holds no CSV file: {found}", folder.display())]
    NoTable {
        /// The folder.
        folder: PathBuf,
        /// What it holds.
        found: String,
    },
    /// There are several tables, and which one is meant is not clear.
    #[error("{} holds {} tables and none of them is `train.csv`: {}", folder.display(), tables.len(), tables.join(", "))]
    WhichTable {
        /// The folder.
        folder: PathBuf,
        /// Names of the tables.
        tables: Vec<String>,
    },
    /// What is asked does not fit together.
    #[error("{problem}")]
    Asked {
        /// What does not fit.
        problem: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A share that is none.
    #[error("the test share {0} is not above 0 and at most 0.9")]
    Share(f64),
    /// Its folder is there already.
    #[error("{} is there already", folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// The entry that was written does not read back.
    #[error("the competition does not read back")]
    Entry(#[from] CatalogError),
    /// The grader cannot work with the answers.
    #[error("the answers cannot be graded with")]
    Answers(#[from] GradeError),
    /// The grader refuses the sample submission.
    #[error("the sample submission is not valid: {0}")]
    Sample(String),
}

impl OwnError {
    /// A next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoTable { .. } => Some(
                "save the data as CSV with a first line of column names; for images or texts in folders add a CSV with a \
                 column of file names and a column of labels"
                    .to_owned(),
            ),
            Self::WhichTable { .. } => Some(
                "name the table itself instead of its folder, rename it to train.csv, or name a target that only one of \
                 them has"
                    .to_owned(),
            ),
            Self::Unfit { hint, .. } | Self::Asked { hint, .. } => hint.clone(),
            Self::Exists { folder } => Some(format!(
                "choose another id, or remove {} to make it anew",
                folder.display()
            )),
            Self::Table { source: CsvError::RowTooLong { .. }, .. } => Some(
                "a cell that holds the separator stands in double quotes; see whether the line is whole".to_owned(),
            ),
            Self::Entry(error) => error.hint(),
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn unfit(path: &Path, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Unfit { path: path.to_owned(), problem: problem.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn asked(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Asked { problem: problem.into(), hint: Some(hint.into()) }
    }
}
