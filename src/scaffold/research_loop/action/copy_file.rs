//! Copy File: a file of the workspace or of the input, copied over another path of the workspace.

use podium_types::files::{FilesAnswer, FilesRequest};

use super::{Action, ActionFuture, Outcome, path, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct CopyFile;

impl Action for CopyFile {
    fn name(&self) -> &'static str {
        "Copy File"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["source", "destination"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let (from, to) = (path(input, "source"), path(input, "destination"));
            let request = FilesRequest::Copy { from: from.clone(), to: to.clone() };
            let number = match bench.files("copy", request).await? {
                Ok(FilesAnswer::Written { bytes, .. }) => bytes,
                Ok(_) => 0,
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
            };
            seen(bench, &Words { say: "copied", path: &from, other: &to, number, ..Words::default() })
        })
    }
}
