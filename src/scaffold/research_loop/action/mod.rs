//! The actions of the agent: each a small file with its name, its arguments and what it does.
//!
//! A new one is such a file and a line in [`Actions::default`], or in a program of the user's own one in its registry; or
//! none at all: a `[[command]]` of the scaffold file is an action, too. An action returns the observation; it deals with the world through the [`Bench`] only. `editing`, `lines` and
//! `outputs` hold what several of them do.

mod append_file;
mod append_summary;
mod command;
mod copy_file;
mod edit_script;
mod edit_segment;
mod editing;
mod execute_script;
mod final_answer;
mod inspect_lines;
mod lines;
mod list_files;
mod outputs;
mod read_file;
mod reflection;
mod request_help;
mod retrieval;
mod understand_file;
mod undo_edit;
mod validate_submission;
mod write_file;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::answer::{Input, Signature};
use super::bench::Bench;
use super::spec::ResearchLoopSpec;
use super::words::Words;
use crate::strategy::StrategyError;

/// What came of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The agent goes on with this observation.
    Observation(String),
    /// The agent is done.
    End,
}

/// The future of an action.
pub type ActionFuture<'a> = Pin<Box<dyn Future<Output = Result<Outcome, StrategyError>> + 'a>>;

/// Something that the agent can do.
pub trait Action: std::fmt::Debug + Send + Sync {
    /// Its name, as the agent writes it.
    fn name(&self) -> &str;

    /// Its arguments, in their order.
    fn arguments(&self) -> Vec<&str>;

    /// What it does, for the model; none: the template tells.
    fn description(&self) -> Option<&str> {
        None
    }

    /// What an argument is, for the model; none: the template tells.
    fn hint(&self, _argument: &str) -> Option<&str> {
        None
    }

    /// What it gives, for the model; none: the template tells.
    fn observation(&self) -> Option<&str> {
        None
    }

    /// Does it.
    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a>;
}

/// Appends an entry to the research log.
pub(crate) use append_summary::append as log;

/// The actions that a research loop knows, those of a user's program included.
#[derive(Clone, Debug)]
pub struct Actions(Vec<Arc<dyn Action>>);

impl Default for Actions {
    /// All actions of this package.
    fn default() -> Self {
        Self(vec![
            Arc::new(list_files::ListFiles),
            Arc::new(read_file::ReadFile),
            Arc::new(write_file::WriteFile),
            Arc::new(append_file::AppendFile),
            Arc::new(copy_file::CopyFile),
            Arc::new(inspect_lines::InspectLines),
            Arc::new(undo_edit::UndoEdit),
            Arc::new(execute_script::ExecuteScript),
            Arc::new(edit_script::EditScript),
            Arc::new(edit_segment::EditSegment),
            Arc::new(understand_file::UnderstandFile),
            Arc::new(retrieval::Retrieval),
            Arc::new(append_summary::AppendSummary),
            Arc::new(reflection::Reflection),
            Arc::new(request_help::RequestHelp),
            Arc::new(validate_submission::ValidateSubmission),
            Arc::new(final_answer::FinalAnswer),
        ])
    }
}

impl PartialEq for Actions {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Actions {
    /// Their names.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.all().map(Action::name).collect()
    }

    /// With one more, or with another in the place of the one of its name.
    pub(crate) fn insert(&mut self, action: Arc<dyn Action>) {
        self.0.retain(|known| known.name() != action.name());
        self.0.push(action);
    }

    fn all(&self) -> impl Iterator<Item = &dyn Action> {
        self.0.iter().map(|action| &**action)
    }
}

/// An action that original runs know and no run has: code in the harness's own process.
const NEVER: (&str, &str) = ("Python REPL", "command");

/// What the parser knows: all actions, whether the scaffold has them or not. One that it has not is told so.
pub(crate) fn signatures(spec: &ResearchLoopSpec) -> Vec<Signature> {
    let signature = |name: &str, arguments: Vec<&str>| Signature {
        name: name.to_owned(),
        arguments: arguments.into_iter().map(str::to_owned).collect(),
    };
    let known = spec.known.all().map(|action| signature(action.name(), action.arguments()));
    let commands = spec
        .command
        .iter()
        .map(|command| signature(&command.name, command.arguments.keys().map(String::as_str).collect()));
    known.chain([signature(NEVER.0, vec![NEVER.1])]).chain(commands).collect()
}

/// The action of a name, where the scaffold has it.
pub(crate) fn find<'a>(spec: &'a ResearchLoopSpec, name: &str) -> Option<&'a dyn Action> {
    if let Some(command) = spec.command.iter().find(|command| command.name == name) {
        return Some(command);
    }
    let is_on = spec.actions.on.iter().any(|on| on == name);
    spec.known.all().find(|action| is_on && action.name() == name)
}

/// Takes the action of a name.
pub(crate) async fn take(bench: &Bench<'_>, name: &str, input: &Input) -> Result<Outcome, StrategyError> {
    let spec = &*bench.agent.spec;
    match find(spec, name) {
        Some(action) => action.act(bench, input).await,
        None => {
            let commands = spec.command.iter().map(|command| command.name.clone());
            let names: Vec<String> = spec.actions.on.iter().cloned().chain(commands).collect();
            seen(bench, &Words { say: "no_action", action: name, names: &names, ..Words::default() })
        }
    }
}

/// An observation in the template's words.
fn seen(bench: &Bench<'_>, words: &Words<'_>) -> Result<Outcome, StrategyError> {
    bench.say(words).map(Outcome::Observation)
}

/// The text of an argument; a number or a list as JSON.
pub fn text(input: &Input, name: &str) -> String {
    match input.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// A path of the workspace.
fn path(input: &Input, name: &str) -> String {
    text(input, name).trim().to_owned()
}

/// A whole number, also one that was written as text.
pub fn number(input: &Input, name: &str) -> Option<u64> {
    match input.get(name)? {
        Value::Number(number) => number.as_u64().or_else(|| number.as_i64().map(|_| 0)).or_else(|| {
            let number =
                number.as_f64().filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number))?;
            format!("{number:.0}").parse().ok()
        }),
        Value::String(text) => {
            let text = text.trim();
            text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(|_| 0))
        }
        _ => None,
    }
}
