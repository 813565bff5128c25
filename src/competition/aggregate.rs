//! The aggregate of many grading reports, with the fields that `mlebench grade` writes, so that scripts that read its
//! file read ours. Sums only; rates with their errors are the experiment report's.
//!
//! What could not be graded is no run with a score of nothing: it stands in a list of its own and in no sum.

use serde::{Deserialize, Serialize};

use crate::report::GradingReport;

/// Many graded submissions. The fields up to `competition_reports` are MLE-bench's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// Reports in all.
    pub total_runs: usize,
    /// Of these, with a file at the submission path.
    pub total_runs_with_submissions: usize,
    /// Of these, with a submission that the grader accepts.
    pub total_valid_submissions: usize,
    /// Medals of any kind.
    pub total_medals: usize,
    /// Gold medals.
    pub total_gold_medals: usize,
    /// Silver medals.
    pub total_silver_medals: usize,
    /// Bronze medals.
    pub total_bronze_medals: usize,
    /// Scores strictly better than the median.
    pub total_above_median: usize,
    /// The reports, in the order of the list.
    pub competition_reports: Vec<GradingReport>,
    /// What was asked for and could not be graded.
    #[serde(default)]
    pub not_graded: Vec<NotGraded>,
}

/// A line of the list without a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotGraded {
    /// Its line, from 1.
    pub line: usize,
    /// The competition, where the line names one.
    pub competition_id: Option<String>,
    /// The submission, where the line names one.
    pub submission_path: Option<String>,
    /// Whether the line itself is at fault, rather than the data or the answers.
    pub broken_line: bool,
    /// What is wrong.
    pub problem: String,
}

impl Aggregate {
    /// Sums up.
    pub fn of(reports: Vec<GradingReport>, not_graded: Vec<NotGraded>) -> Self {
        let count = |what: fn(&GradingReport) -> bool| reports.iter().filter(|report| what(report)).count();
        Self {
            total_runs: reports.len(),
            total_runs_with_submissions: count(|report| report.submission_exists),
            total_valid_submissions: count(|report| report.valid_submission),
            total_medals: count(|report| report.any_medal),
            total_gold_medals: count(|report| report.gold_medal),
            total_silver_medals: count(|report| report.silver_medal),
            total_bronze_medals: count(|report| report.bronze_medal),
            total_above_median: count(|report| report.above_median),
            competition_reports: reports,
            not_graded,
        }
    }
}
