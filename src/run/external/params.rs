//! The parameters of each method, as they stand in a message. What a method does not have is refused, so that a slip of the
//! pen is told and not ignored. `key` is every method's and stands beside them.

use std::collections::BTreeMap;

use podium_types::chat::{Effort, Message, OutputSchema, Tool, ToolChoice};
use podium_types::evaluation::Labels;
use podium_types::execution::Workspace;
use podium_types::log::Line;
use podium_types::number::Number;
use podium_types::session::{SessionAct, SessionKind};
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;
use serde::Deserialize;

use podium_scaffold::Signal;

/// Of `initialize`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Initialize {
    /// The versions that the program speaks.
    pub(super) protocol: Vec<u32>,
}

/// Of `begin_step` and `budget`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Of `chat`: a role, and a request as all providers have it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chat {
    pub(super) role: String,
    pub(super) messages: Vec<Message>,
    #[serde(default)]
    pub(super) tools: Vec<Tool>,
    #[serde(default)]
    pub(super) tool_choice: ToolChoice,
    #[serde(default)]
    pub(super) one_tool_call: bool,
    pub(super) output: Option<OutputSchema>,
    #[serde(default)]
    pub(super) stop: Vec<String>,
    /// The scaffold's where it is not given.
    pub(super) temperature: Option<f64>,
    /// The scaffold's where it is not given.
    pub(super) max_output_tokens: Option<u32>,
    pub(super) effort: Option<Effort>,
    pub(super) top_logprobs: Option<u8>,
    /// A service that fails for good is told instead of stopping the run.
    #[serde(default)]
    pub(super) hears_failures: bool,
}

/// Of `execute`: a Python script or a command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Execute {
    pub(super) code: Option<String>,
    pub(super) file: Option<String>,
    pub(super) argv: Option<Vec<String>>,
    #[serde(default)]
    pub(super) workspace: Workspace,
    /// The limit of one execution where it is not given.
    pub(super) timeout_ms: Option<u64>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) collect: Vec<String>,
}

/// Of `session`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    pub(super) name: String,
    pub(super) kind: SessionKind,
    pub(super) act: SessionAct,
    pub(super) soft_ms: u64,
}

/// Of `collect`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Collect {
    pub(super) path: String,
}

/// Of `validate`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Validate {
    pub(super) sha256: Sha256,
}

/// Of `evaluate`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Evaluate {
    pub(super) labels: Labels,
    pub(super) sha256: Sha256,
}

/// Of `preview`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Preview {
    pub(super) max_chars: usize,
}

/// Of `node`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub(super) id: u32,
    #[serde(default)]
    pub(super) parents: Vec<u32>,
    pub(super) operator: String,
    #[serde(default)]
    pub(super) plan: String,
    #[serde(default)]
    pub(super) code: String,
    pub(super) buggy: Option<String>,
    pub(super) metric: Option<Number>,
    #[serde(default)]
    pub(super) signals: Vec<Signal>,
    #[serde(default)]
    pub(super) flags: Vec<String>,
    #[serde(default)]
    pub(super) summary: String,
    pub(super) submission: Option<Verdict>,
    #[serde(default)]
    pub(super) execution_ms: u64,
    #[serde(default)]
    pub(super) reason: String,
}

/// Of `step`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) number: u32,
    pub(super) lines: Vec<Line>,
}

/// Of `note`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    pub(super) text: String,
}

/// Of `select`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    pub(super) node: Option<u32>,
    pub(super) sha256: Sha256,
}

/// Of `rng`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rng {
    pub(super) purpose: String,
    #[serde(default)]
    pub(super) count: usize,
}

/// Of `cancel`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    pub(super) target: String,
}

/// Of `finish`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Finish {
    pub(super) reason: String,
}
