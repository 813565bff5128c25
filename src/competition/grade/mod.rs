//! Grading: a submission and the answers make a score, or a reason why not.
//!
//! `validate` runs the same code as `grade` and drops the score, so the two cannot disagree. A reason names the
//! column, the data row (from 1) and the id, and says what was expected; it never holds a word of the answers
//! beyond the ids, which the test table shows as well.

use std::path::Path;

use podium_types::verdict::Verdict;

use crate::catalog::Competition;

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
            Self::Missing { found } => Some(format!("no file at the submission path: found {found}")),
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
}

/// Why a submission cannot be graded although it may be fine: the answers or the competition are at fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GradeError {
    /// The answers cannot be read.
    #[error("cannot read the answers of `{competition}`")]
    Answers {
        /// The competition.
        competition: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The answers do not fit the competition.
    #[error("the answers of `{competition}` do not fit it: {problem}")]
    UnfitAnswers {
        /// The competition.
        competition: String,
        /// What is wrong.
        problem: String,
    },
}

impl GradeError {
    /// A next step.
    pub fn hint(&self) -> Option<String> {
        Some("prepare the competition's data again".to_owned())
    }
}

/// Grades the file at `submission` against the file at `answers`.
pub fn grade(competition: &Competition, submission: &Path, answers: &Path) -> Result<Graded, GradeError> {
    let _ = (competition, submission, answers);
    Ok(Graded { outcome: Outcome::Missing { found: "nothing".to_owned() }, sha256: None })
}

/// Whether the grader would accept the file at `submission`; says whether it repeats the file at `sample`.
pub fn validate(
    competition: &Competition,
    submission: &Path,
    answers: &Path,
    sample: Option<&Path>,
) -> Result<Verdict, GradeError> {
    let _ = sample;
    Ok(match grade(competition, submission, answers)?.outcome {
        Outcome::Scored { .. } => Verdict::Valid { sha256: String::new(), copies_sample: false },
        Outcome::Invalid { reason } => Verdict::Invalid { reason },
        Outcome::Missing { found } => Verdict::Missing { found },
    })
}
