//! Undo Edit Script: a file as it was before it was last written by an action. Each write of a path can be undone once,
//! the last first.

use podium_types::files::{FilesRequest, WriteWhen};

use super::{Action, ActionFuture, Outcome, path, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::{Bench, plain};
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct UndoEdit;

impl Action for UndoEdit {
    fn name(&self) -> &'static str {
        "Undo Edit Script"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["script_name"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let path = path(input, "script_name");
            let last = {
                let undo = bench.remembered.undo.borrow();
                undo.iter().rposition(|(name, _)| *name == plain(&path))
            };
            let Some(place) = last else {
                return seen(bench, &Words { say: "nothing_to_undo", path: &path, ..Words::default() });
            };
            let before = bench.remembered.undo.borrow().get(place).and_then(|(_, before)| before.clone());
            let request = match &before {
                Some(content) => FilesRequest::Write {
                    path: path.clone(),
                    content: content.clone(),
                    when: WriteWhen::Always,
                },
                None => FilesRequest::Remove { path: path.clone() },
            };
            if let Err(fault) = bench.files("undo", request).await? {
                return bench.fault(self.name(), &fault).map(Outcome::Observation);
            }
            bench.remembered.undo.borrow_mut().remove(place);
            let text = before.as_deref().unwrap_or_default();
            seen(
                bench,
                &Words { say: "undone", path: &path, text, flag: before.is_some(), ..Words::default() },
            )
        })
    }
}
