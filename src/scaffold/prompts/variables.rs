//! The variables of the templates that all strategies share; a strategy's own stand in its folder. These structs are
//! the documentation for prompt writers: a template may use the fields of its struct and nothing else. Durations are milliseconds (filter `duration`), memory is bytes
//! (filter `gib`); `none` stands for "not limited" or "not there".

use podium_types::execution::LimitHit;
use serde::Serialize;

use crate::context::{Budget, Direction, Task, Validation};

/// Variables of `common/benchmark.md.tera`: the rules that every agent is told.
#[derive(Clone, Debug, Serialize)]
pub struct BenchmarkVariables<'a> {
    /// Competition id; none where it must not be known, see [`Task::obfuscated`].
    pub competition: Option<&'a str>,
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
    /// Whether a program can have a submission checked while it runs: by `validate_submission.sh FILE`, and where
    /// MLE-bench has it, by `POST http://localhost:5000/validate`.
    pub submission_check: bool,
    /// Size of `/dev/shm`.
    pub shm_bytes: Option<u64>,
    /// What the working directory may grow to.
    pub disk_bytes: Option<u64>,
    /// Read-only folders besides the input.
    pub mounts: &'a [String],
    /// Training labels that the harness keeps: the struct of the same name in `context`; none: it keeps none.
    pub validation: Option<&'a Validation>,
}

impl<'a> BenchmarkVariables<'a> {
    /// The rules in force.
    pub fn new(task: &'a Task, budget: &Budget) -> Self {
        Self {
            competition: (!task.obfuscated).then_some(task.competition.as_str()),
            metric: &task.metric,
            direction: word(task.direction),
            submission_path: submission_path(task),
            time_limit_ms: budget.run_limit_ms,
            step_limit: budget.step_limit,
            execution_limit_ms: budget.execution_limit_ms,
            cpus: task.grants.cpus,
            memory_bytes: task.grants.memory_bytes,
            gpus: &task.grants.gpus,
            network: task.grants.network,
            submission_check: task.submission_check,
            shm_bytes: task.grants.shm_bytes,
            disk_bytes: task.grants.disk_bytes,
            mounts: &task.grants.mounts,
            validation: task.validation.as_ref(),
        }
    }
}

/// The one path of the submission, without a leading `./`.
pub fn submission_path(task: &Task) -> &str {
    task.submission_path.trim_start_matches("./")
}

/// The direction as templates know it.
pub const fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
    }
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
    /// Bytes between the two that the harness had not even kept, of a very long output.
    pub lost_bytes: u64,
    /// How long it took.
    pub wall_ms: u64,
    /// Exit code; none: a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The limit that fired, by `kind`: `wall_clock` and `cpu_time` have `limit_ms`, `memory`, `disk` and
    /// `file_size` have `limit_bytes`, `processes`, `files` and `open_files` have `limit`; none: none did.
    pub limit: Option<LimitHit>,
    /// The format check: `valid`, `sample` (valid, but a copy of the sample submission), `invalid` or `missing`.
    pub submission: &'static str,
    /// What the format check found wrong; empty when it is valid.
    pub submission_problem: String,
    /// What the harness remarks on it besides, once it was judged: why predictions for training rows have no score.
    pub remarks: Vec<String>,
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
    "submission_check",
    "shm_bytes",
    "disk_bytes",
    "mounts",
    "validation",
];
