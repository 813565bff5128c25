//! A run of an experiment as plain data: what it is compared as, what its competition is like, what it came to, and
//! what its agent could see.
//!
//! A planned run without an end is a run all the same: counts add up to the plan. A published run is somebody else's, of
//! which no more than its grading report is known. Must not know: run folders, journals, how anything is printed.

use std::collections::BTreeMap;

use super::course::Course;

/// One planned run, or a published one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What it is compared as: the values of its axes.
    pub arm: String,
    /// Name of its folder, or of the report that it was read from.
    pub run: String,
    /// The competition.
    pub competition: String,
    /// Its seed; of a published run its place among those of the competition, from 1.
    pub seed: u64,
    /// What is known of the competition.
    pub about: About,
    /// Whether the competition ended after the last day that the model has read of; none where one of both is unknown.
    pub after_cutoff: Option<bool>,
    /// It was read from MLE-bench's files.
    pub published: bool,
    /// What it came to; none: it has no report.
    pub end: Option<End>,
    /// What would have been handed in over time, where its submissions were graded after its end.
    pub course: Option<Course>,
}

/// What is known of a competition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The splits it belongs to.
    pub splits: Vec<String>,
    /// Whether its board holds baselines rather than people.
    pub baselines: bool,
    /// tabular, image, ...
    pub category: String,
    /// When it ended: a date, or a year.
    pub ended: Option<String>,
    /// What is known to be wrong with it.
    pub known_issues: Vec<String>,
}

/// The splits that are MLE-bench's levels of complexity.
const COMPLEXITIES: [&str; 3] = ["low", "medium", "high"];

impl About {
    /// MLE-bench's level of complexity.
    pub fn complexity(&self) -> Option<&str> {
        self.splits.iter().map(String::as_str).find(|split| COMPLEXITIES.contains(split))
    }

    /// The year in which it ended.
    pub fn year(&self) -> Option<&str> {
        self.ended.as_deref().and_then(|date| date.get(..4))
    }
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of a grading report")]
pub struct End {
    /// `graded`, ...
    pub outcome: String,
    /// `finished`, ...
    pub stopped_by: String,
    /// Whether a service or the harness stopped it.
    pub outside: bool,
    /// Whether the strategy's own program failed.
    pub program_failed: bool,
    /// Any medal.
    pub medal: bool,
    /// A gold one.
    pub gold: bool,
    /// A silver one.
    pub silver: bool,
    /// A bronze one.
    pub bronze: bool,
    /// Strictly better than the median.
    pub above_median: bool,
    /// The grader accepted it.
    pub valid: bool,
    /// There was a submission.
    pub made: bool,
    /// The test score as a board shows it, rounded to five decimals.
    pub score: Option<f64>,
    /// Whether a lower score is better; none where nothing was graded.
    pub lower_is_better: Option<bool>,
    /// Percentage of the board that it beats, half of those that are level with it included.
    pub percentile: Option<f64>,
    /// Lines of the board.
    pub teams: Option<usize>,
    /// (score − sample submission) / (gold − sample submission), as it is.
    pub human_relative: Option<f64>,
    /// Validation metric of what was handed in, turned so that more is better.
    pub validated: Option<f64>,
    /// By how much that metric was better than the test score, in the metric's unit.
    pub gap: Option<f64>,
    /// The test score in full precision, beside that gap.
    pub test: Option<f64>,
    /// Dollars; none: unknown.
    pub cost: Option<f64>,
    /// Model calls with an answer.
    pub calls: u32,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens generated.
    pub output_tokens: u64,
    /// Run time in hours.
    pub hours: f64,
    /// Hours spent waiting for a model service.
    pub waiting_hours: f64,
    /// Hours of model calls, waiting aside; of calls side by side the sum.
    pub model_hours: f64,
    /// Hours of executions; of those side by side the sum.
    pub execution_hours: f64,
    /// Hours for which acts on shells and kernels were waited for.
    pub session_hours: f64,
    /// Nodes tried; 0 for a loop.
    pub nodes: u32,
    /// A stand-in model answered.
    pub stand_in: bool,
    /// What its agent could see, and what it tried.
    pub sight: Sight,
}

/// What an agent could see, and what its code tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// The sandbox in a few words.
    pub sandbox: String,
    /// `original`, `obfuscated` or another description.
    pub description: String,
    /// The models by role, as they were asked for.
    pub models: BTreeMap<String, String>,
    /// Scores of held-out training labels and folds that were told.
    pub training_scores: u64,
    /// Format verdicts that were given.
    pub verdicts: u64,
    /// A score from the answers was told: never.
    pub scores: bool,
    /// The answers were within reach of its code: it ran without a boundary.
    pub answers: bool,
    /// The network was not blocked.
    pub network: bool,
    /// How often it had been graded and shown to its user before it went on.
    pub graded_before: u32,
    /// What the sandbox stopped, by kind.
    pub blocked: BTreeMap<String, u64>,
    /// Hosts that it asked for and did not reach.
    pub hosts: BTreeMap<String, u64>,
    /// Executions whose code names the place of the answers.
    pub probes: u64,
}
