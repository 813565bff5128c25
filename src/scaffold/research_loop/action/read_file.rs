//! Read File: all of a file, or its beginning where it is too large to be shown.

use super::{Action, ActionFuture, Outcome, path, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct ReadFile;

impl Action for ReadFile {
    fn name(&self) -> &'static str {
        "Read File"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["file_name"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let path = path(input, "file_name");
            let found = match bench.read(&path, bench.agent.spec.actions.file_bytes, true).await? {
                Ok(found) => found,
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
            };
            let flag = found.is_beginning();
            let words = Words {
                say: "read",
                path: &path,
                text: &found.text,
                number: found.bytes,
                flag,
                ..Words::default()
            };
            seen(bench, &words)
        })
    }
}
