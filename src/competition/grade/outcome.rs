//! What grading ends with: an outcome of the submission, or an error that is not the submission's.

use podium_types::sha256::Sha256;

use crate::board::{round_like_numpy, round_like_python};
use crate::catalog::Rounding;
use crate::grade::reason::quote;

/// What came of one submission.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has a score; NaN and infinities are scores.
    Scored {
        /// The score in full precision.
        raw_score: f64,
        /// How it is rounded to five decimals.
        rounding: Rounding,
        /// Remarks for the reader of a report.
        notes: Vec<String>,
    },
    /// The grader refuses it.
    Invalid {
        /// Why.
        reason: String,
    },
    /// There is no regular file at the path.
    Missing {
        /// What was found instead.
        found: String,
    },
}

impl Outcome {
    /// The score as a report shows it and as medals are given for it: rounded to five decimals.
    pub fn rounded_score(&self) -> Option<f64> {
        match self {
            Self::Scored { raw_score, rounding, .. } => Some(match rounding {
                Rounding::Python => round_like_python(*raw_score),
                Rounding::Numpy => round_like_numpy(*raw_score),
                Rounding::Integer => *raw_score,
            }),
            Self::Invalid { .. } | Self::Missing { .. } => None,
        }
    }

    /// Why there is no score.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Scored { .. } => None,
            Self::Invalid { reason } => Some(reason.clone()),
            Self::Missing { found } => Some(format!("no file at the submission path, found {found}")),
        }
    }
}

/// One graded submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// The score, or why there is none.
    pub outcome: Outcome,
    /// SHA-256 of the graded bytes; `None` when the file was not read to its end.
    pub sha256: Option<Sha256>,
    /// Whether the predictions equal the sample submission's; `None` when none was given.
    pub copies_sample: Option<bool>,
}

/// Why a submission cannot be graded although it may be fine: the answers are at fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GradeError {
    /// The answers cannot be opened.
    #[error("cannot open the answers of `{competition}`")]
    Open {
        /// The competition.
        competition: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The answers are no table.
    #[error("cannot read the answers of `{competition}`")]
    Read {
        /// The competition.
        competition: String,
        /// Why not.
        #[source]
        source: crate::csv::CsvError,
    },
    /// The answers are not JSON lines.
    #[error("line {line} of the answers of `{competition}` is no JSON")]
    Lines {
        /// The competition.
        competition: String,
        /// Line, from 1.
        line: usize,
    },
    /// This program has no grader of that name.
    #[error("there is no grader `{grader}`, which `{competition}` asks for")]
    NoGrader {
        /// The competition.
        competition: String,
        /// The grader's name.
        grader: String,
    },
    /// The answers do not fit the competition.
    #[error("the answers of `{competition}` do not fit it")]
    Unfit {
        /// The competition.
        competition: String,
        /// What is wrong.
        #[source]
        problem: AnswersFault,
    },
}

/// What is wrong with the answers. Errors are logged and shown while a run goes on, so this names columns of the
/// catalog and numbers of rows; it has no room for a cell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersFault {
    /// A column of the catalog is not there.
    #[error("column {} is missing", quote(.0))]
    NoColumn(String),
    /// A cell is not what the metric reads.
    #[error("column {} does not hold what is expected", quote(.0))]
    Misfit(String),
    /// A label is missing.
    #[error("column {} has an empty cell", quote(.0))]
    EmptyCell(String),
    /// A class without a predicted column.
    #[error("column {} holds a class that is not a predicted column", quote(.0))]
    UnknownClass(String),
    /// Not one truth column.
    #[error("the metric scores one column")]
    NotOneColumn,
    /// Ratings of a kappa.
    #[error("the ratings are not whole numbers")]
    Ratings,
    /// An empty table.
    #[error("there are no rows")]
    NoRows,
    /// A row without a key.
    #[error("the key of data row {row} is missing")]
    NoKey {
        /// Data row, from 1.
        row: usize,
    },
    /// A row with the key of an earlier one.
    #[error("data row {row} repeats a key")]
    RepeatedKey {
        /// Data row, from 1.
        row: usize,
    },
    /// Anything else, in fixed words.
    #[error("{0}")]
    Unexpected(&'static str),
    /// The metric is not defined for them; its error names rows and holds no true value.
    #[error(transparent)]
    Metric(#[from] podium_metric::MetricError),
}

impl GradeError {
    /// A next step.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoGrader { .. } => {
                "`grader` in the competition's TOML names a grader of this program".to_owned()
            }
            _ => "prepare the competition's data again".to_owned(),
        })
    }
}
