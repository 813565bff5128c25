//! The tables of CodeAct in a scaffold file: every number and every template has its home there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::codeact::arguments::{Kind, Parameter, Schema};
use crate::codeact::format::Format;
use crate::codeact::tools::Tools;
use crate::spec::Duration;

/// The tables of a CodeAct agent, beside the head that all scaffolds have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeActSpec {
    /// How the agent is run.
    pub agent: AgentSpec,
    /// How long its shell and kernel are waited for.
    pub session: SessionSpec,
    /// What its editor may do.
    pub editor: EditorSpec,
    /// Tokens that texts may take.
    pub tokens: TokenSpec,
    /// How its history is kept short.
    pub condensation: CondensationSpec,
    /// When it counts as stuck.
    pub stuck: StuckSpec,
    /// The templates, paths below `prompts/`.
    pub prompts: PromptsSpec,
    /// The tools, in the order in which the model reads of them.
    pub tool: Vec<ToolSpec>,
    /// The tools that need no command, whether the scaffold has them or not.
    #[serde(skip)]
    pub(crate) known: Tools,
}

/// How the agent is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSpec {
    /// The role whose model acts.
    pub role: String,
    /// How it says which tool it calls.
    pub format: Format,
    /// Calls of one answer that are made; further ones are sent back. Text formats have one.
    pub calls_per_turn: usize,
    /// Answers in a row that the provider may refuse before the run ends.
    pub refusals: u32,
    /// Times that a finish without a valid submission is sent back; after that it ends the run all the same.
    pub finishes_sent_back: u32,
}

/// How long the shell and the kernel are waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// Where a call names no time of its own; what takes longer goes on, and the agent may wait for more.
    pub soft_timeout: Duration,
    /// The longest time that a call may name.
    pub longest_wait: Duration,
}

/// What the editor may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditorSpec {
    /// Larger files are not edited, and of those only the beginning is shown.
    pub max_bytes: u64,
    /// Changes of one file that can be undone.
    pub undo: usize,
    /// Folders in a folder of which a view shows the entries.
    pub max_folders: usize,
}

/// Tokens, estimated from above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenSpec {
    /// The competition's description.
    pub description: u64,
    /// One observation. A longer one keeps its two ends.
    pub observation: u64,
}

/// How the history is kept short: the first turns and the recent ones stay, those between become a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CondensationSpec {
    /// The role whose model writes summaries; none: what is left out is left out.
    pub role: Option<String>,
    /// Turns from which on the history is condensed.
    pub max_turns: usize,
    /// Tokens from which on it is condensed, earlier where the model's window is full.
    pub max_tokens: u64,
    /// First turns that always stay.
    pub keep_first: usize,
    /// Share of both limits that recent turns may take afterwards.
    pub keep_recent: f64,
    /// Share of the history that must go each time, so that condensing cannot go round in circles.
    pub least_progress: f64,
    /// Tokens of one turn in what a summary is made from.
    pub turn_tokens: u64,
    /// Tokens of all of what a summary is made from.
    pub material_tokens: u64,
    /// Tokens of a summary.
    pub summary_tokens: u64,
    /// Times in a row that the history is condensed for one answer before the run ends.
    pub tries: u32,
}

/// When the agent counts as stuck. A number says how many times in a row; 0 switches the rule off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StuckSpec {
    /// The same call with the same result.
    pub same: usize,
    /// The same call with an error.
    pub errors: usize,
    /// Answers that call nothing.
    pub messages: usize,
    /// Turns that alternate between two calls with the same two results.
    pub alternating: usize,
    /// Times that the agent is told so before the run ends.
    pub nudges: u32,
}

/// The templates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptsSpec {
    /// How the agent works, behind the benchmark's rules.
    pub system: String,
    /// The competition: the first message.
    pub task: String,
    /// What is left, at the end of each turn.
    pub status: String,
    /// An answer that calls nothing.
    pub nudge: String,
    /// An agent that goes in circles.
    pub stuck: String,
    /// What of an answer was not run, and calls that cannot be made.
    pub fault: String,
    /// What was seen of the shell or the kernel.
    pub session: String,
    /// What the editor did.
    pub editor: String,
    /// A program that a tool ran.
    pub command: String,
    /// The format check of the submission, and the end.
    pub submission: String,
    /// A thought that was taken down.
    pub thought: String,
    /// Asks for a summary.
    pub condense: String,
    /// Stands where turns are left out.
    pub condensed: String,
    /// Stands where a part of a text is left out.
    pub remark: String,
}

/// One tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// Template of its description: what it does, then a line `Parameters:`, then one line for each.
    pub prompt: String,
    /// The command that it runs; none: it is one of those that come with the strategy.
    #[serde(default)]
    pub command: Option<CommandSpec>,
}

/// A command with arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// Program and arguments; `{name}` stands for the argument of that name. One that is nothing but the name of what was
    /// not given falls away. No shell reads them.
    pub argv: Vec<String>,
    /// How long it may take; none: as long as an execution.
    pub timeout: Option<Duration>,
    /// Its parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, ParameterSpec>,
}

/// A parameter of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterSpec {
    /// What it takes.
    pub kind: ParameterKind,
    /// Whether a call must give it.
    pub required: bool,
    /// The words that it takes; empty: any.
    #[serde(default)]
    pub choices: Vec<String>,
}

/// What a parameter of a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// Any text.
    Text,
    /// Yes or no.
    Flag,
    /// A whole number.
    Whole,
    /// A number.
    Number,
}

impl CommandSpec {
    /// Its parameters as a schema.
    pub fn schema(&self) -> Schema {
        let parameter = |(name, spec): (&String, &ParameterSpec)| Parameter {
            name: name.clone(),
            kind: match spec.kind {
                _ if !spec.choices.is_empty() => Kind::Choice(spec.choices.clone()),
                ParameterKind::Text => Kind::Text,
                ParameterKind::Flag => Kind::Flag,
                ParameterKind::Whole => Kind::Whole,
                ParameterKind::Number => Kind::Number,
            },
            required: spec.required,
        };
        Schema(self.parameters.iter().map(parameter).collect())
    }
}
