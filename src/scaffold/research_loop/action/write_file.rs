//! Write File: a file made, or replaced whole. What it was can be had again.

use super::{Action, ActionFuture, Outcome, path, seen, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct WriteFile;

impl Action for WriteFile {
    fn name(&self) -> &'static str {
        "Write File"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["file_name", "content"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let (path, content) = (path(input, "file_name"), text(input, "content"));
            let old = match bench.before(&path).await? {
                Ok(old) => old,
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
            };
            if content.trim().is_empty() && old.as_ref().is_some_and(|old| !old.text.trim().is_empty()) {
                return seen(bench, &Words { say: "would_empty", path: &path, ..Words::default() });
            }
            let number = content.len() as u64;
            match bench.write(&path, old.as_ref(), content).await? {
                Ok(()) => seen(bench, &Words { say: "written", path: &path, number, ..Words::default() }),
                Err(fault) => bench.fault(self.name(), &fault).map(Outcome::Observation),
            }
        })
    }
}
