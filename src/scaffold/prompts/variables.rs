//! The variables of each kind of template. These structs are the documentation for prompt writers: a template may
//! use the fields of its struct and nothing else. Durations are milliseconds (filter `duration`), memory is bytes
//! (filter `gib`); `none` stands for "not limited" or "not there".

use serde::Serialize;

/// Variables of `common/benchmark.md.tera`: the rules that every agent is told.
#[derive(Clone, Debug, Serialize)]
pub struct BenchmarkVariables<'a> {
    /// Competition id.
    pub competition: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
    /// `lower` or `higher`: which is better.
    pub direction: &'static str,
    /// The one path of the submission, relative and without a leading `./`.
    pub submission_path: &'a str,
    /// Time of the whole run.
    pub time_limit_ms: Option<u64>,
    /// Steps of the whole run.
    pub step_limit: Option<u32>,
    /// Time of one execution.
    pub execution_limit_ms: u64,
    /// Processors of an execution.
    pub cpus: u32,
    /// Memory of an execution.
    pub memory_bytes: Option<u64>,
    /// Names of the GPUs.
    pub gpus: &'a [String],
    /// Whether an execution reaches a network.
    pub network: bool,
}

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
    /// Steps left after this one.
    pub steps_left: Option<u32>,
    /// Run time left.
    pub time_left_ms: Option<u64>,
    /// What the next execution may take.
    pub execution_limit_ms: u64,
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

/// What came of an execution.
#[derive(Clone, Debug, Serialize)]
pub struct RunVariables {
    /// Its output, or the beginning of a long one.
    pub output_head: String,
    /// The end of a long output; empty when nothing was left out.
    pub output_tail: String,
    /// Characters left out between the two.
    pub dropped_chars: usize,
    /// How long it took.
    pub wall_ms: u64,
    /// Exit code; none: a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The limit that fired, with its value; empty: none did.
    pub limit: String,
    /// The format check: `valid`, `sample` (valid, but a copy of the sample submission), `invalid` or `missing`.
    pub submission: &'static str,
    /// What the format check found wrong; empty when it is valid.
    pub submission_problem: String,
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
    /// Its validation metric.
    pub metric: String,
}

/// Names in [`BenchmarkVariables`].
pub const BENCHMARK: &[&str] = &[
    "competition",
    "metric",
    "direction",
    "submission_path",
    "time_limit_ms",
    "step_limit",
    "execution_limit_ms",
    "cpus",
    "memory_bytes",
    "gpus",
    "network",
];

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
pub const DESIGN: &[&str] = &["id", "plan", "summary", "metric_name", "metric"];
