//! Understand File: what the fast model finds in a file, block by block.

use super::{Action, ActionFuture, Outcome, path, seen, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::digest::digest;
use crate::research_loop::words::{Question, Words};

#[derive(Debug)]
pub(super) struct UnderstandFile;

impl Action for UnderstandFile {
    fn name(&self) -> &'static str {
        "Understand File"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["file_name", "things_to_look_for"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let (path, want) = (path(input, "file_name"), text(input, "things_to_look_for"));
            let limits = &bench.agent.spec.actions;
            // A character has four bytes at most.
            let bytes =
                (limits.block_chars as u64).saturating_mul(limits.most_blocks as u64).saturating_mul(4);
            let found = match bench.read(&path, bytes, true).await? {
                Ok(found) => found,
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
            };
            if found.text.trim().is_empty() {
                return seen(bench, &Words { say: "empty_file", path: &path, ..Words::default() });
            }
            let question = Question { text: &found.text, want: &want, source: &path, ..Question::default() };
            let asks = ("understand", "understand_all");
            let (answer, whole) = digest(bench, asks, &question, limits.most_blocks).await?;
            let flag = found.is_beginning() || !whole;
            let number = limits.most_blocks as u64;
            seen(
                bench,
                &Words { say: "understood", path: &path, text: &answer, flag, number, ..Words::default() },
            )
        })
    }
}
