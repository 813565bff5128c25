//! The grading report of one submission, with MLE-bench's field names, so that scripts that read `mlebench grade`
//! read ours. What we add stands after them.

use std::path::Path;

use podium_metric::Direction;
use podium_types::number::Number;
use serde::{Deserialize, Serialize};

use crate::board::{Board, BoardKind, Medal};
use crate::catalog::Competition;
use crate::grade::Outcome;

/// Which board medals were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportBoard {
    /// Human teams or baselines.
    pub kind: BoardKind,
    /// How many; `None` when it is not known.
    pub teams: Option<usize>,
}

/// One graded submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "MLE-bench's fields")]
pub struct GradingReport {
    /// The competition.
    pub competition_id: String,
    /// The score, rounded to five decimals; `null` without a valid submission.
    pub score: Option<Number>,
    /// Score of the last gold place.
    pub gold_threshold: Option<Number>,
    /// Score of the last silver place.
    pub silver_threshold: Option<Number>,
    /// Score of the last bronze place.
    pub bronze_threshold: Option<Number>,
    /// Median of the board.
    pub median_threshold: Option<Number>,
    /// Whether any medal is earned.
    pub any_medal: bool,
    /// Whether it is gold.
    pub gold_medal: bool,
    /// Whether it is silver.
    pub silver_medal: bool,
    /// Whether it is bronze.
    pub bronze_medal: bool,
    /// Whether the score is strictly better than the median.
    pub above_median: bool,
    /// Whether there is a regular file at the path whose name ends in `.csv`.
    pub submission_exists: bool,
    /// Whether the grader accepts it.
    pub valid_submission: bool,
    /// Whether a lower score is better.
    pub is_lower_better: bool,
    /// When it was graded.
    pub created_at: String,
    /// The file.
    pub submission_path: String,
    /// The score in full precision.
    pub raw_score: Option<Number>,
    /// Why the submission is invalid.
    pub reason: Option<String>,
    /// Remarks on how the score came about.
    pub notes: Vec<String>,
    /// Which board the medals refer to.
    pub board: ReportBoard,
    /// Percentage of the board that is beaten, half of the lines that are level included; `None` when they are not at
    /// hand.
    pub percentile: Option<f64>,
}

/// Makes the report of one outcome.
pub fn report(
    competition: &Competition,
    board: &Board,
    outcome: &Outcome,
    submission_path: &str,
    created_at: &str,
) -> GradingReport {
    let thresholds = board.thresholds.as_ref();
    let raw_score = match outcome {
        Outcome::Scored { raw_score, .. } => Some(*raw_score),
        Outcome::Invalid { .. } | Outcome::Missing { .. } => None,
    };
    let score = outcome.rounded_score();
    let standing = score.and_then(|score| board.standing(score));
    let medal = standing.and_then(|standing| standing.medal);
    let direction = thresholds.map_or(competition.direction(), |thresholds| thresholds.direction);
    GradingReport {
        competition_id: competition.id.clone(),
        score: score.map(Number),
        gold_threshold: thresholds.map(|thresholds| Number(thresholds.gold)),
        silver_threshold: thresholds.map(|thresholds| Number(thresholds.silver)),
        bronze_threshold: thresholds.map(|thresholds| Number(thresholds.bronze)),
        median_threshold: thresholds.map(|thresholds| Number(thresholds.median)),
        any_medal: medal.is_some(),
        gold_medal: medal == Some(Medal::Gold),
        silver_medal: medal == Some(Medal::Silver),
        bronze_medal: medal == Some(Medal::Bronze),
        above_median: standing.is_some_and(|standing| standing.above_median),
        submission_exists: !matches!(outcome, Outcome::Missing { .. }) && is_csv(submission_path),
        valid_submission: raw_score.is_some(),
        is_lower_better: direction == Direction::Lower,
        created_at: created_at.to_owned(),
        submission_path: submission_path.to_owned(),
        raw_score: raw_score.map(Number),
        reason: outcome.reason(),
        notes: match outcome {
            Outcome::Scored { notes, .. } => notes.clone(),
            Outcome::Invalid { .. } | Outcome::Missing { .. } => Vec::new(),
        },
        board: ReportBoard { kind: board.kind, teams: thresholds.and_then(|thresholds| thresholds.teams) },
        percentile: standing.and_then(|standing| standing.percentile),
    }
}

/// A file of another kind is no submission to MLE-bench, rather than an invalid one.
fn is_csv(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}
