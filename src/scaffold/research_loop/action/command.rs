//! Actions that the scaffold file declares: a command with the action's arguments in their places.

use super::{Action, ActionFuture, outputs, text};
use crate::argv::filled;
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::spec::CommandSpec;

impl Action for CommandSpec {
    fn name(&self) -> &str {
        &self.name
    }

    fn arguments(&self) -> Vec<&str> {
        self.arguments.keys().map(String::as_str).collect()
    }

    fn description(&self) -> Option<&str> {
        Some(&self.description)
    }

    fn hint(&self, argument: &str) -> Option<&str> {
        self.arguments.get(argument).map(String::as_str)
    }

    fn observation(&self) -> Option<&str> {
        Some(&self.observation)
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let is_known = |name: &str| self.arguments.contains_key(name);
            let ran = bench.run(filled(&self.argv, is_known, |name| Some(text(input, name)))).await?;
            outputs::told(bench, &self.name, &ran).await
        })
    }
}
