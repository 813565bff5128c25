//! The tables of a research loop in a scaffold file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::action::Actions;

/// The strategy's own tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResearchLoopSpec {
    /// How a step goes.
    pub turn: TurnSpec,
    /// What the agent remembers of the steps that its prompt does not show.
    pub memory: MemorySpec,
    /// What the agent can do.
    pub actions: ActionsSpec,
    /// Actions that run a command.
    #[serde(default)]
    pub command: Vec<CommandSpec>,
    /// The actions that there are, whether the scaffold has them or not.
    #[serde(skip)]
    pub(crate) known: Actions,
}

/// How a step goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnSpec {
    /// Template of the step's prompt.
    pub prompt: String,
    /// Template of everything that the harness says to the agent.
    pub words: String,
    /// Template of what the fast model is asked.
    pub fast_prompt: String,
    /// Template of what the model is asked that rewrites files.
    pub edit_prompt: String,
    /// Role of the model that decides.
    pub role: String,
    /// Role of the model that reads and sums up.
    pub fast_role: String,
    /// Role of the model that rewrites files.
    pub edit_role: String,
    /// Answers asked for until one is in form.
    pub tries: u32,
    /// When none is.
    pub no_answer: NoAnswer,
    /// When the model service fails for good.
    pub llm_failure: LlmFailure,
    /// Steps that the prompt shows.
    pub steps_in_context: usize,
    /// Of these, steps whose observations it shows.
    pub observations_in_context: usize,
    /// Tokens that the description of the task may take.
    pub description_tokens: u64,
}

/// When no answer of a step is in form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAnswer {
    /// The step is over, and the agent is told.
    GoOn,
    /// The run is over.
    End,
}

/// When the model service fails for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmFailure {
    /// The run stops, and can be resumed.
    Stop,
    /// The text of the failure stands in the place of the answer.
    Observe,
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySpec {
    /// What stands for steps that are not shown any more.
    pub kind: MemoryKind,
    /// Tokens that it may take; what is older is condensed.
    pub tokens: u64,
}

/// What stands for steps that are not shown any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// The plan alone.
    None,
    /// The plan, and a summary of each step, which goes to the research log, too.
    Log,
}

/// What the agent can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionsSpec {
    /// Names of the actions, in the order in which the agent is told of them.
    pub on: Vec<String>,
    /// Tokens of an observation; of a longer one the two ends are kept.
    pub observation_tokens: u64,
    /// An observation of more characters is summed up by the fast model; none: it is trimmed.
    pub summarise_above_chars: Option<usize>,
    /// Characters of a block that the fast model reads at a time.
    pub block_chars: usize,
    /// Blocks of one file that it reads.
    pub most_blocks: usize,
    /// Blocks of an observation that it sums up.
    pub most_summary_blocks: usize,
    /// Lines that an inspection shows.
    pub inspect_lines: u64,
    /// Larger files are neither shown whole nor edited.
    pub file_bytes: u64,
    /// Whether a final answer needs a valid submission.
    pub final_answer_check: bool,
}

/// An action that runs a command in the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Program and arguments; `{NAME}` in one stands for the value of an argument of the action. No shell sees them.
    pub argv: Vec<String>,
    /// The action's arguments, each with a hint for the model.
    pub arguments: BTreeMap<String, String>,
    /// What it gives, for the model.
    pub observation: String,
}
