//! Submissions of a competition that has a goal and nothing to compare with: any table that can be read is one. It has no
//! score; the outcome of such a run is `no_answers`.

use std::path::Path;

use crate::catalog::{Competition, Rounding};
use crate::csv::{ReadOptions, Table};
use crate::grade::file::{self, RowLimit};
use crate::grade::outcome::{Graded, Outcome};

/// Whether any table is a submission.
pub(crate) fn is_any(competition: &Competition) -> bool {
    let format = &competition.submission;
    competition.answers.absent && format.id.is_empty() && format.columns.is_empty()
}

/// Whether there is a table at `submission`. The score is no number.
pub(crate) fn examine(submission: &Path) -> Graded {
    let reading = file::read_submission(submission, &ReadOptions::default(), &RowLimit::none());
    let (outcome, sha256) = match reading.settle(None) {
        Err(outcome) => (outcome, None),
        Ok((table, sha256)) if table.rows == 0 => {
            (Outcome::Invalid { reason: "there are no data rows".to_owned() }, Some(sha256))
        }
        Ok((_, sha256)) => {
            let (raw_score, rounding) = (f64::NAN, Rounding::default());
            (Outcome::Scored { raw_score, rounding, notes: Vec::new() }, Some(sha256))
        }
    };
    Graded { outcome, sha256, copies_sample: None }
}

/// The table at `path`, which somebody untrusted may have left there, or why there is none.
pub(crate) fn read_any(path: &Path, options: &ReadOptions) -> Result<Table, String> {
    match file::read_submission(path, options, &RowLimit::none()).settle(None) {
        Ok((table, _)) => Ok(table),
        Err(Outcome::Missing { found }) => Err(format!("there is {found} in its place")),
        Err(outcome) => Err(outcome.reason().unwrap_or_default()),
    }
}
