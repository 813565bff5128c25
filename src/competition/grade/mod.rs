//! Grading: a submission and the answers make a score, or a reason why not.
//!
//! `validate` runs the same code as `grade` and drops the score, so the two cannot disagree. A reason names the
//! column, the data row (from 1) and the id, and says what was expected; it never holds a word of the answers
//! beyond the ids, which the test table shows as well.
//!
//! - `house`: the offline competitions' rules, one for all
//! - `any`: where there is only a goal, any table is a submission
//! - `official`: Kaggle's competitions as MLE-bench grades them: `declared` in the catalog, or `native` in Rust
//! - `align`, `order`, `cells`, `python`: rows and cells as pandas, NumPy and Python have them

mod align;
mod any;
mod cells;
mod declared;
mod file;
mod hash;
mod house;
mod input;
mod keys;
mod lines;
mod native;
mod official;
mod order;
mod outcome;
mod python;
mod ratings;
mod reason;
mod remarks;
mod rows;
mod score;
mod sheet;
mod steps;

use std::path::Path;

use podium_types::verdict::Verdict;

use crate::catalog::{Competition, Grading};

pub(crate) use any::read_any;
pub use outcome::{AnswersFault, GradeError, Graded, Outcome};

use house::House;

/// Grades the file at `submission` against the file at `answers`. A symbolic link at `submission` itself counts as
/// no file: an agent could point it anywhere.
pub fn grade(competition: &Competition, submission: &Path, answers: &Path) -> Result<Graded, GradeError> {
    examine(competition, submission, answers, None)
}

/// Whether the grader would accept the file at `submission`; says whether it repeats the file at `sample`.
pub fn validate(
    competition: &Competition,
    submission: &Path,
    answers: &Path,
    sample: Option<&Path>,
) -> Result<Verdict, GradeError> {
    let graded = examine(competition, submission, answers, sample)?;
    Ok(match (graded.outcome, graded.sha256) {
        (Outcome::Scored { .. }, Some(sha256)) => {
            Verdict::Valid { sha256, copies_sample: graded.copies_sample.unwrap_or(false) }
        }
        // What has a score was read to its end, and what was read to its end has a hash.
        (Outcome::Scored { .. }, None) => Verdict::Missing { found: "a file that was not read".to_owned() },
        (Outcome::Invalid { reason }, _) => Verdict::Invalid { reason },
        (Outcome::Missing { found }, _) => Verdict::Missing { found },
    })
}

/// [`grade`], and [`validate`]'s comparison with the sample submission where one is given.
pub fn examine(
    competition: &Competition,
    submission: &Path,
    answers: &Path,
    sample: Option<&Path>,
) -> Result<Graded, GradeError> {
    if any::is_any(competition) {
        return Ok(any::examine(submission));
    }
    match &competition.grading {
        Grading::House { metric, value } => {
            House { competition, metric: *metric, value: *value }.examine(submission, answers, sample)
        }
        Grading::Declared(_) | Grading::Native { .. } => {
            official::examine(competition, submission, answers, sample)
        }
    }
}
