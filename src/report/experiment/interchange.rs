//! MLE-bench's own files: a `grading_report.json`, and `run_group_experiments.csv` that says which run groups are one
//! experiment. What is read is taken at its word; what is written reads there.
//!
//! Seeds are as that project counts them: run groups sorted by name, in each the reports sorted by competition, and the
//! n-th report of a competition is its seed n. Must not know: folders.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::run::{About, End, Run};

/// A report that does not read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is no JSON of that shape.
    #[error("it is no grading report of MLE-bench")]
    Json(#[from] serde_json::Error),
    /// It holds nothing.
    #[error("it has no competition reports")]
    Empty,
}

/// What `mlebench grade` writes. Fields that other graders leave out may be absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GradingReport {
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
    /// The reports.
    pub competition_reports: Vec<CompetitionReport>,
}

/// The report of one submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "MLE-bench's fields")]
pub struct CompetitionReport {
    /// The competition.
    pub competition_id: String,
    /// The score, rounded to five decimals. Graders in Python write NaN, which is no JSON: it is read as none.
    #[serde(default)]
    pub score: Option<f64>,
    /// Score of the last gold place.
    #[serde(default)]
    pub gold_threshold: Option<f64>,
    /// Score of the last silver place.
    #[serde(default)]
    pub silver_threshold: Option<f64>,
    /// Score of the last bronze place.
    #[serde(default)]
    pub bronze_threshold: Option<f64>,
    /// Median of the board.
    #[serde(default)]
    pub median_threshold: Option<f64>,
    /// Whether any medal is earned.
    #[serde(default)]
    pub any_medal: bool,
    /// Whether it is gold.
    #[serde(default)]
    pub gold_medal: bool,
    /// Whether it is silver.
    #[serde(default)]
    pub silver_medal: bool,
    /// Whether it is bronze.
    #[serde(default)]
    pub bronze_medal: bool,
    /// Whether the score is strictly better than the median.
    #[serde(default)]
    pub above_median: bool,
    /// Whether there is a file.
    pub submission_exists: bool,
    /// Whether the grader accepts it.
    pub valid_submission: bool,
    /// Whether a lower score is better.
    #[serde(default)]
    pub is_lower_better: Option<bool>,
    /// When it was graded.
    #[serde(default)]
    pub created_at: Option<String>,
    /// The file.
    #[serde(default)]
    pub submission_path: Option<String>,
}

impl GradingReport {
    /// Reads a report, a list of them, or the one of a single submission.
    ///
    /// # Errors
    /// When it is none of these, or empty.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let value: serde_json::Value = serde_json::from_str(&without_nan(text))?;
        let is_whole = value.get("competition_reports").is_some();
        let reports = match value {
            serde_json::Value::Object(_) if is_whole => {
                serde_json::from_value::<Self>(value)?.competition_reports
            }
            serde_json::Value::Object(_) => vec![serde_json::from_value(value)?],
            other => serde_json::from_value(other)?,
        };
        if reports.is_empty() { Err(Unreadable::Empty) } else { Ok(Self::of(reports)) }
    }

    /// Sums up, and sorts by competition as that project does.
    pub fn of(mut reports: Vec<CompetitionReport>) -> Self {
        reports.sort_by(|one, other| one.competition_id.cmp(&other.competition_id));
        let count = |is: fn(&CompetitionReport) -> bool| reports.iter().filter(|report| is(report)).count();
        Self {
            total_runs: reports.len(),
            total_runs_with_submissions: count(|report| report.submission_exists),
            total_valid_submissions: count(|report| report.valid_submission),
            total_medals: count(CompetitionReport::has_medal),
            total_gold_medals: count(|report| report.gold_medal),
            total_silver_medals: count(|report| report.silver_medal),
            total_bronze_medals: count(|report| report.bronze_medal),
            total_above_median: count(|report| report.above_median),
            competition_reports: reports,
        }
    }
}

impl CompetitionReport {
    /// Any medal: as that project's aggregation has it, by the three kinds.
    pub const fn has_medal(&self) -> bool {
        self.gold_medal || self.silver_medal || self.bronze_medal
    }

    fn end(&self) -> End {
        let outcome = match (self.submission_exists, self.valid_submission) {
            (_, true) => "graded",
            (true, false) => "invalid_submission",
            (false, false) => "no_submission",
        };
        End {
            outcome: outcome.to_owned(),
            stopped_by: "unknown".to_owned(),
            medal: self.has_medal(),
            gold: self.gold_medal,
            silver: self.silver_medal,
            bronze: self.bronze_medal,
            above_median: self.above_median,
            valid: self.valid_submission,
            made: self.submission_exists,
            score: self.score,
            lower_is_better: self.is_lower_better,
            ..End::default()
        }
    }
}

/// Python writes numbers that JSON has not. Outside of strings they become null.
fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let (mut inside, mut escaped) = (false, false);
    while let Some(character) = rest.chars().next() {
        if !inside
            && let Some(word) = ["NaN", "-Infinity", "Infinity"].iter().find(|word| rest.starts_with(**word))
        {
            out.push_str("null");
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        match character {
            '"' if !escaped => inside = !inside,
            _ => {}
        }
        escaped = inside && character == '\\' && !escaped;
        out.push(character);
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
    out
}

/// The runs of the reports of one experiment, in the order of its run groups. Competitions that `about` does not know
/// have no split.
pub fn runs(
    arm: &str,
    reports: &[(String, GradingReport)],
    about: impl Fn(&str) -> Option<About>,
) -> Vec<Run> {
    let mut sorted: Vec<&(String, GradingReport)> = reports.iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let mut seeds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut runs = Vec::new();
    for (group, report) in sorted {
        for one in &report.competition_reports {
            let seed = seeds.entry(&one.competition_id).or_insert(0);
            *seed += 1;
            runs.push(Run {
                arm: arm.to_owned(),
                run: group.clone(),
                competition: one.competition_id.clone(),
                seed: *seed,
                about: about(&one.competition_id).unwrap_or_default(),
                published: true,
                end: Some(one.end()),
                ..Run::default()
            });
        }
    }
    runs
}

/// First line of that file.
const HEADER: &str = "experiment_id,run_group";

/// The run groups of each experiment, in the file's order. An experiment's name is what stands before the first comma.
pub fn read_run_groups(text: &str) -> Vec<(String, Vec<String>)> {
    let mut experiments: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("experiment_id")) {
        let (name, group) = line.split_once(',').unwrap_or((line, ""));
        let (name, group) = (name.trim().to_owned(), group.trim().to_owned());
        if group.is_empty() {
            continue;
        }
        match experiments.iter_mut().find(|(known, _)| *known == name) {
            Some((_, groups)) => groups.push(group),
            None => experiments.push((name, vec![group])),
        }
    }
    experiments
}

/// The file that says which run groups are one experiment.
pub fn write_run_groups(experiments: &[(String, Vec<String>)]) -> String {
    let mut out = format!("{HEADER}\n");
    for (name, groups) in experiments {
        for group in groups {
            let _ = writeln!(out, "{},{group}", name.replace(',', ";"));
        }
    }
    out
}
