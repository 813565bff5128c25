//! Actions that the scaffold file declares: a command with the action's arguments in their places.

use super::{Action, ActionFuture, outputs, text};
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

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let ran = bench.run(self.argv.iter().map(|word| self.filled(word, input)).collect()).await?;
            outputs::told(bench, &self.name, &ran).await
        })
    }
}

impl CommandSpec {
    /// A word with values in the places of names, in one pass: a value that holds a name stays as it is.
    fn filled(&self, word: &str, input: &Input) -> String {
        let mut filled = String::new();
        let mut rest = word;
        while let Some((before, behind)) = rest.split_once('{') {
            filled.push_str(before);
            match behind.split_once('}').filter(|(name, _)| self.arguments.contains_key(*name)) {
                Some((name, behind)) => {
                    filled.push_str(&text(input, name).replace('\0', ""));
                    rest = behind;
                }
                None => {
                    filled.push('{');
                    rest = behind;
                }
            }
        }
        filled.push_str(rest);
        filled
    }
}
