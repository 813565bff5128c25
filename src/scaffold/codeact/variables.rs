//! The variables of CodeAct's templates that belong to no single tool. A template may use the fields of its struct and
//! nothing else. Durations are milliseconds (filter `duration`); `none` stands for "not limited" or "not there".

use serde::Serialize;

use crate::codeact::arguments::ArgumentFault;
use crate::codeact::format::Dropped;
use crate::codeact::history::condense::TurnVariables;

/// Variables of the system message, which stands behind the benchmark's rules.
#[derive(Clone, Debug, Serialize)]
pub struct SystemVariables<'a> {
    /// `native`, `codeact-tags` or `fncall-text`.
    pub format: &'static str,
    /// The tools.
    pub tools: Vec<ToolVariables<'a>>,
    /// Where the submission must be, without a leading `./`.
    pub submission_path: &'a str,
    /// How long a call is waited for that names no time.
    pub soft_timeout_ms: u64,
    /// The longest time that a call may name.
    pub longest_wait_ms: u64,
    /// Calls of one answer that are made.
    pub calls_per_turn: usize,
}

/// Names in [`SystemVariables`].
pub const SYSTEM: &[&str] =
    &["format", "tools", "submission_path", "soft_timeout_ms", "longest_wait_ms", "calls_per_turn"];

/// A tool, in [`SystemVariables`].
#[derive(Clone, Debug, Serialize)]
pub struct ToolVariables<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub description: String,
    /// Its opening tag in the format of tags.
    pub tag: Option<&'static str>,
    /// Its parameters: `name`, `kind` in words, `required`, `description`.
    pub parameters: Vec<ParameterVariables>,
}

/// A parameter, in [`ToolVariables`].
#[derive(Clone, Debug, Serialize)]
pub struct ParameterVariables {
    /// Its name.
    pub name: String,
    /// What it takes, in words.
    pub kind: String,
    /// Whether a call must give it.
    pub required: bool,
    /// What it means.
    pub description: String,
}

/// Variables of a tool's manual.
#[derive(Clone, Debug, Serialize)]
pub struct ManualVariables<'a> {
    /// Where the submission must be, without a leading `./`.
    pub submission_path: &'a str,
    /// How long a call is waited for that names no time.
    pub soft_timeout_ms: u64,
    /// The longest time that a call may name.
    pub longest_wait_ms: u64,
    /// `native`, `codeact-tags` or `fncall-text`.
    pub format: &'static str,
}

/// Names in [`ManualVariables`].
pub const MANUAL: &[&str] = &["submission_path", "soft_timeout_ms", "longest_wait_ms", "format"];

/// Variables of the first message.
#[derive(Clone, Debug, Serialize)]
pub struct TaskVariables<'a> {
    /// The competition's description.
    pub description: &'a str,
    /// The overview of the data.
    pub preview: &'a str,
    /// Packages of the Python environment.
    pub packages: &'a [String],
    /// Where the submission must be, without a leading `./`.
    pub submission_path: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
    /// `lower` or `higher`: which is better.
    pub direction: &'static str,
}

/// Names in [`TaskVariables`].
pub const TASK: &[&str] = &["description", "preview", "packages", "submission_path", "metric", "direction"];

/// Variables of the line on what is left.
#[derive(Clone, Debug, Serialize)]
pub struct StatusVariables<'a> {
    /// Steps left after this one.
    pub steps_left: Option<u32>,
    /// Run time left.
    pub time_left_ms: Option<u64>,
    /// `valid`, `sample`, `invalid` or `missing`; empty: not looked at yet.
    pub submission: &'static str,
    /// What is wrong with it.
    pub problem: &'a str,
    /// Where the submission must be, without a leading `./`.
    pub submission_path: &'a str,
    /// A valid submission from before is kept, though the file that is there now is none.
    pub kept: bool,
}

/// Names in [`StatusVariables`].
pub const STATUS: &[&str] =
    &["steps_left", "time_left_ms", "submission", "problem", "submission_path", "kept"];

/// Variables of the words to an answer that calls nothing.
#[derive(Clone, Debug, Serialize)]
pub struct NudgeVariables {
    /// `native`, `codeact-tags` or `fncall-text`.
    pub format: &'static str,
    /// It was cut at the output limit.
    pub cut: bool,
    /// Answers in a row that called nothing, this one included.
    pub messages: usize,
}

/// Names in [`NudgeVariables`].
pub const NUDGE: &[&str] = &["format", "cut", "messages"];

/// Variables of the words to an agent that goes in circles.
#[derive(Clone, Debug, Serialize)]
pub struct StuckVariables {
    /// `same`, `errors`, `messages` or `alternating`.
    pub pattern: &'static str,
    /// How many times.
    pub count: usize,
    /// Times that it will be told so again before the run ends.
    pub nudges_left: u32,
}

/// Names in [`StuckVariables`].
pub const STUCK: &[&str] = &["pattern", "count", "nudges_left"];

/// Variables of what was not run.
#[derive(Clone, Debug, Serialize)]
pub struct FaultVariables<'a> {
    /// Why a call cannot be made; see [`ArgumentFault`], by `kind`.
    pub fault: Option<&'a ArgumentFault>,
    /// Parts of the answer that were not run: `name` of the tool (none: text) and `text`.
    pub dropped: &'a [Dropped],
    /// Arguments that the tool does not know, and that were left out.
    pub unknown: &'a [String],
    /// Calls beyond so many are not made; 0: this is none of them.
    pub over: usize,
    /// The answer was cut at the output limit.
    pub cut: bool,
    /// A finish that came with other blocks, which were not run, is not taken.
    pub finish_with_blocks: bool,
}

/// Names in [`FaultVariables`].
pub const FAULT: &[&str] = &["fault", "dropped", "unknown", "over", "cut", "finish_with_blocks"];

impl<'a> FaultVariables<'a> {
    /// Nothing.
    pub const NONE: Self =
        Self { fault: None, dropped: &[], unknown: &[], over: 0, cut: false, finish_with_blocks: false };

    /// A call that cannot be made.
    pub const fn of(fault: &'a ArgumentFault) -> Self {
        Self { fault: Some(fault), ..Self::NONE }
    }
}

/// Variables of the request for a summary.
#[derive(Clone, Debug, Serialize)]
pub struct CondenseVariables<'a> {
    /// The summary of what came before; empty: there is none.
    pub summary: &'a str,
    /// The turns to be summarised.
    pub turns: Vec<TurnVariables>,
    /// Where the submission must be, without a leading `./`.
    pub submission_path: &'a str,
    /// Tokens that the summary may have.
    pub max_tokens: u64,
}

/// Names in [`CondenseVariables`].
pub const CONDENSE: &[&str] = &["summary", "turns", "submission_path", "max_tokens"];

/// Variables of what stands where turns are left out.
#[derive(Clone, Debug, Serialize)]
pub struct CondensedVariables<'a> {
    /// Turns left out.
    pub turns: usize,
    /// Their summary; empty: there is none.
    pub summary: &'a str,
}

/// Names in [`CondensedVariables`].
pub const CONDENSED: &[&str] = &["turns", "summary"];
