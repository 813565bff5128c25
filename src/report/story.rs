//! A run as plain data: what a page, or any other viewer, tells of it.
//!
//! All texts are as they came, an agent's included: whoever shows them makes them harmless. Times are milliseconds of
//! run time, costs are dollars, and `None` is unknown, never zero.

use podium_types::direction::Direction;
use podium_types::log::Line;
use podium_types::number::Number;
use podium_types::verdict::Verdict;
use serde::Serialize;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Story {
    /// What ran on what, for a headline.
    pub title: String,
    /// The run's folder, or another name of it.
    pub run: String,
    /// What the run is made of.
    pub unit: Unit,
    /// Name of the metric.
    pub metric: String,
    /// Which way it improves.
    pub direction: Direction,
    /// Names and values, in the order in which they are shown.
    pub facts: Vec<Fact>,
    /// How it ended; `None`: it has not.
    pub ending: Option<Ending>,
    /// The grading of what was handed in, after the end.
    pub grade: Option<Grade>,
    /// Run time so far.
    pub run_ms: u64,
    /// Dollars spent; `None`: unknown.
    pub cost: Option<f64>,
    /// The node or step that was handed in, or would be.
    pub selected: Option<u32>,
    /// What whoever looks at it must know first.
    pub warnings: Vec<String>,
    /// What else was remarked.
    pub notes: Vec<String>,
    /// Why prompts and answers are left out, and where they are; `None`: they are there.
    pub left_out: Option<String>,
    /// Nodes or steps in the order in which they finished.
    #[serde(skip)]
    pub items: Vec<Item>,
}

/// What a run is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nodes of a search tree.
    Node,
    /// Steps of a loop.
    Step,
}

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

impl Fact {
    /// A fact.
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into() }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// `graded`, `no_submission`, ...
    pub outcome: String,
    /// `finished`, `steps`, ...
    pub stopped_by: String,
    /// The stop in a sentence.
    pub detail: String,
}

/// The grading of a submission.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grade {
    /// The test score.
    pub score: Option<Number>,
    /// `gold`, `silver`, `bronze`.
    pub medal: Option<String>,
    /// Medal thresholds and the median, where the board has them: name and score, the best first.
    pub lines: Vec<(String, Number)>,
    /// Whom the medals are measured against.
    pub board: String,
    /// Percentage of the board that is beaten.
    pub percentile: Option<f64>,
    /// Why the submission is invalid.
    pub reason: Option<String>,
    /// By how much validation was better than the test score: positive means too optimistic.
    pub gap: Option<Number>,
}

/// A node or a step, as far as a tree and a plot need it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    /// Its number.
    pub id: u32,
    /// What it was made from.
    pub parents: Vec<u32>,
    /// How it was made; of a step, what was done in it.
    pub operator: String,
    /// Its validation metric.
    pub metric: Option<Number>,
    /// Whether it counts as good: it may be built upon and handed in.
    pub good: bool,
    /// Whether its submission is valid.
    pub valid: bool,
    /// When it finished.
    pub at_ms: u64,
    /// Dollars that the run had spent by then.
    pub spent: Option<f64>,
    /// All the rest.
    #[serde(skip)]
    pub detail: Detail,
}

/// All the rest of a node or a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Detail {
    /// The plan in words.
    pub plan: String,
    /// The script.
    pub code: String,
    /// Why the search policy asked for it.
    pub reason: String,
    /// Why it counts as buggy.
    pub buggy: Option<String>,
    /// The reviewer's summary.
    pub review: String,
    /// Every reading of the validation metric.
    pub signals: Vec<Signal>,
    /// The signal that counts.
    pub metric_source: Option<String>,
    /// Remarks on it.
    pub flags: Vec<String>,
    /// Format verdict of its submission.
    pub submission: Option<Verdict>,
    /// Its executions in order.
    pub executions: Vec<Execution>,
    /// Its model calls in order.
    pub calls: Vec<Call>,
    /// Of a step: what was said, done and seen, in order, with what the harness did. Nodes have none.
    pub log: Vec<Line>,
    /// When its first step was granted.
    pub begun_ms: Option<u64>,
    /// Sum over its model calls, waiting aside.
    pub model_ms: u64,
    /// Time that its calls waited for a model service.
    pub waited_ms: u64,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Generated tokens.
    pub output_tokens: u64,
    /// Dollars.
    pub cost: Option<f64>,
    /// Its folder below the run's.
    pub folder: String,
}

/// A reading of the validation metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signal {
    /// `printed`, `review`, `holdout`, ...
    pub source: String,
    /// What it says.
    pub value: Number,
    /// Its spread, where it has one.
    pub spread: Option<Number>,
}

/// One execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Execution {
    /// Its effect key.
    pub key: String,
    /// The command, where it was no script.
    pub command: Option<String>,
    /// How it ended, limits named with their values.
    pub ended: String,
    /// Whether it ended by itself and well.
    pub well: bool,
    /// Wall-clock time.
    pub wall_ms: u64,
    /// CPU time.
    pub cpu_ms: Option<u64>,
    /// Peak memory in bytes.
    pub peak_bytes: Option<u64>,
    /// What the sandbox stopped.
    pub blocked: Vec<String>,
    /// Its output, or both ends of it.
    pub output: String,
    /// Bytes in the middle of the output that are not here.
    pub cut_bytes: u64,
}

/// One model call.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Call {
    /// Its effect key.
    pub key: String,
    /// Its role.
    pub role: String,
    /// The model.
    pub model: String,
    /// From the call to its answer, waits included.
    pub took_ms: u64,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Generated tokens.
    pub output_tokens: u64,
    /// Dollars.
    pub cost: Option<f64>,
    /// The request's messages, speaker and text; empty when they are left out.
    pub messages: Vec<(String, String)>,
    /// What the model thought, where it shows it.
    pub reasoning: Option<String>,
    /// The answer, or why there is none; `None` when it is left out.
    pub answer: Option<String>,
}

impl Call {
    /// Bytes of its texts.
    pub fn size(&self) -> usize {
        let texts = self.messages.iter().map(|(_, text)| text.len()).sum::<usize>();
        texts + self.reasoning.as_ref().map_or(0, String::len) + self.answer.as_ref().map_or(0, String::len)
    }
}

impl Story {
    /// Leaves prompts and answers out when they have more than `bytes` together, and says where they are.
    pub fn leave_out_above(&mut self, bytes: usize) {
        let calls = || self.items.iter().flat_map(|item| &item.detail.calls);
        let size: usize = calls().map(Call::size).sum();
        if size <= bytes {
            return;
        }
        for call in self.items.iter_mut().flat_map(|item| &mut item.detail.calls) {
            (call.messages, call.reasoning, call.answer) = (Vec::new(), None, None);
        }
        self.left_out = Some(format!(
            "Prompts and answers have {} MB and are left out of this page; the run's journal holds them under their keys.",
            size.div_ceil(1_000_000)
        ));
    }
}
