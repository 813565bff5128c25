//! The variables of the templates of a tree search; see [`crate::prompts::variables`] for the units.

use serde::Serialize;

use crate::prompts::variables::RunVariables;

/// Variables of an operator's template (`draft`, `debug`, `improve`, ...).
#[derive(Clone, Debug, Serialize)]
pub struct OperatorVariables<'a> {
    /// The competition's description.
    pub description: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
    /// `lower` or `higher`: which is better.
    pub direction: &'static str,
    /// The one path of the submission, relative and without a leading `./`.
    pub submission_path: &'a str,
    /// Overview of the data; empty: the operator shows none.
    pub preview: &'a str,
    /// Installed packages, `name version`; empty: the operator names none.
    pub packages: &'a [String],
    /// Earlier designs; empty: there are none, or the operator shows none.
    pub memory: &'a str,
    /// The nodes the new one is made from.
    pub parents: &'a [ParentVariables<'a>],
    /// Folds of the suggested cross-validation; 1: no word of it.
    pub k_fold: u32,
    /// Children that the first parent has already, or drafts that there are: a cue for how bold the next may be.
    pub siblings: usize,
    /// Steps left after this one.
    pub steps_left: Option<u32>,
    /// Run time left.
    pub time_left_ms: Option<u64>,
    /// What the next execution may take.
    pub execution_limit_ms: u64,
    /// Whether the operator asks for a design as bold as `siblings` are many.
    pub complexity_cue: bool,
    /// A study of the first parent, made before this prompt; none: the operator makes none.
    pub study: Option<&'a StudyVariables>,
    /// What was wrong with the answer before this try: `none`, `cut` (output limit), `no_code`, `no_plan`,
    /// `broken_code` (brackets or quotes left open), `refused`.
    pub retry: &'static str,
}

/// A parent, in [`OperatorVariables::parents`].
#[derive(Clone, Debug, Serialize)]
pub struct ParentVariables<'a> {
    /// Number of the node.
    pub id: u32,
    /// Its plan.
    pub plan: &'a str,
    /// Its script; empty when no answer held a whole one.
    pub code: &'a str,
    /// The reviewer's summary; may be empty.
    pub summary: &'a str,
    /// Its validation metric.
    pub metric: Option<String>,
    /// What came of its execution; none: it was never executed.
    pub run: Option<&'a RunVariables>,
}

/// A study, in [`OperatorVariables::study`]: a program that measures what the parts of another are worth.
#[derive(Clone, Debug, Serialize)]
pub struct StudyVariables {
    /// What it was meant to find out.
    pub plan: String,
    /// What came of its execution; none: there was no program to run.
    pub run: Option<RunVariables>,
}

/// Variables of the review's template.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewVariables<'a> {
    /// The competition's description.
    pub description: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
    /// `lower` or `higher`: which is better.
    pub direction: &'static str,
    /// The one path of the submission, relative and without a leading `./`.
    pub submission_path: &'a str,
    /// The plan of the solution.
    pub plan: &'a str,
    /// Its script.
    pub code: &'a str,
    /// What came of its execution.
    pub run: &'a RunVariables,
    /// Whether an earlier review of this node could not be read.
    pub retry: bool,
}

/// Variables of one earlier design in a memory.
#[derive(Clone, Debug, Serialize)]
pub struct DesignVariables<'a> {
    /// Number of the node.
    pub id: u32,
    /// Its plan.
    pub plan: &'a str,
    /// The reviewer's summary.
    pub summary: &'a str,
    /// Name of the metric.
    pub metric_name: &'a str,
    /// Its validation metric; none: it has none that counts.
    pub metric: Option<String>,
    /// Why it counts as failed; none: it does not.
    pub failure: Option<&'a str>,
}

/// Names in [`OperatorVariables`], and `run`, which a template sets to a parent's before it includes the partial that
/// tells of a run.
pub const OPERATOR: &[&str] = &[
    "description",
    "metric",
    "direction",
    "submission_path",
    "preview",
    "packages",
    "memory",
    "parents",
    "k_fold",
    "siblings",
    "complexity_cue",
    "study",
    "steps_left",
    "time_left_ms",
    "execution_limit_ms",
    "retry",
    "run",
];

/// Names in [`ReviewVariables`].
pub const REVIEW: &[&str] =
    &["description", "metric", "direction", "submission_path", "plan", "code", "run", "retry"];

/// Names in [`DesignVariables`].
pub const DESIGN: &[&str] = &["id", "plan", "summary", "metric_name", "metric", "failure"];
