//! Append File: more text at the end of a file, which is made where there is none.

use super::editing::text_of;
use super::{Action, ActionFuture, Outcome, path, seen, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct AppendFile;

impl Action for AppendFile {
    fn name(&self) -> &'static str {
        "Append File"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["file_name", "content"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let (path, content) = (path(input, "file_name"), text(input, "content"));
            let old = match text_of(bench, self.name(), &path).await? {
                Ok(old) => old,
                Err(outcome) => return Ok(outcome),
            };
            let number = content.len() as u64;
            let whole = format!("{}{content}", old.as_ref().map_or("", |old| old.text.as_str()));
            match bench.write(&path, old.as_ref(), whole).await? {
                Ok(()) => seen(bench, &Words { say: "appended", path: &path, number, ..Words::default() }),
                Err(fault) => bench.fault(self.name(), &fault).map(Outcome::Observation),
            }
        })
    }
}
