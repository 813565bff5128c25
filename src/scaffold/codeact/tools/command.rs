//! A tool that a scaffold file declares: a command with arguments, run in the home workspace. No shell reads it, so an
//! argument is one word of the command whatever stands in it.

use std::collections::BTreeMap;

use podium_types::execution::{ExecutionRequest, LimitHit, Program, Workspace};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Called, Hands, Outcome, Tool};
use crate::argv::filled;
use crate::codeact::arguments::Schema;
use crate::codeact::spec::CommandSpec;
use crate::context::Acted;

/// The tool.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    name: String,
    spec: CommandSpec,
}

/// Variables of the template of what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct CommandVariables {
    /// A crash of the harness cut it: effects may be partial.
    pub interrupted: bool,
    /// Exit code or signal, in words.
    pub ended: String,
    /// A limit that fired.
    pub limit: Option<LimitHit>,
    /// What it printed; both ends of a long one.
    pub output: String,
    /// How long it took, in milliseconds.
    pub wall_ms: u64,
}

/// Names in [`CommandVariables`].
pub const COMMAND: &[&str] = &["interrupted", "ended", "limit", "output", "wall_ms"];

impl Command {
    /// From its table.
    pub(crate) fn new(name: &str, spec: &CommandSpec) -> Self {
        Self { name: name.to_owned(), spec: spec.clone() }
    }

    /// The command with its arguments in place.
    fn argv(&self, arguments: &Map<String, Value>) -> Vec<String> {
        let is_known = |name: &str| self.spec.parameters.contains_key(name);
        filled(&self.spec.argv, is_known, |name| {
            let value = arguments.get(name)?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
    }
}

impl Tool for Command {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> Schema {
        self.spec.schema()
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, arguments: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let limit = hands.context.budget().next_execution_ms();
            let request = ExecutionRequest {
                workspace: Workspace::Home,
                program: Program::Command { argv: self.argv(&arguments) },
                timeout_ms: self.spec.timeout.map_or(limit, |own| own.millis().min(limit)),
                env: BTreeMap::new(),
                collect: Vec::new(),
                agent: None,
            };
            let acted = hands.context.execute_at_home(hands.key("execute"), request).await?;
            let (variables, failed) = match acted {
                Acted::Interrupted => {
                    let ended = String::new();
                    (
                        CommandVariables {
                            interrupted: true,
                            ended,
                            limit: None,
                            output: String::new(),
                            wall_ms: 0,
                        },
                        true,
                    )
                }
                Acted::Done(execution) => {
                    let failed = !execution.succeeded();
                    let output = hands.output(&execution.output.text())?;
                    let (ended, wall_ms) = (execution.ended.to_string(), execution.wall_ms);
                    let interrupted = execution.interrupted;
                    (CommandVariables { interrupted, ended, limit: execution.limit, output, wall_ms }, failed)
                }
            };
            let text = hands.render(&hands.agent.spec.prompts.command, &variables)?;
            let came_to = format!("{} {}", variables.ended, variables.output);
            Ok(Outcome { text, came_to, failed, excused: variables.interrupted, finished: None })
        })
    }
}
