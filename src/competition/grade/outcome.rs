//! What grading ends with: an outcome of the submission, or an error that is not the submission's.

/// What came of one submission.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has a score; NaN and infinities are scores.
    Scored {
        /// The score in full precision.
        raw_score: f64,
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
    /// SHA-256 of the graded bytes, in hexadecimal; `None` when the file was not read to its end.
    pub sha256: Option<String>,
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
    /// The answers do not fit the competition.
    #[error("the answers of `{competition}` do not fit it: {problem}")]
    Unfit {
        /// The competition.
        competition: String,
        /// What is wrong; may name ids and columns, never values.
        problem: String,
    },
}

impl GradeError {
    /// A next step.
    pub fn hint(&self) -> Option<String> {
        Some("prepare the competition's data again".to_owned())
    }
}
