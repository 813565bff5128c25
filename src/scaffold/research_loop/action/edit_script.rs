//! Edit Script (AI): a file rewritten by a model to an instruction. The change is shown as a diff; one that would empty
//! the file is refused.

use super::editing::{rewritten, save, text_of};
use super::{Action, ActionFuture, path, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Edit;

#[derive(Debug)]
pub(super) struct EditScript;

impl Action for EditScript {
    fn name(&self) -> &'static str {
        "Edit Script (AI)"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["script_name", "edit_instruction", "save_name"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let (script, save_name) = (path(input, "script_name"), path(input, "save_name"));
            let old = match text_of(bench, self.name(), &script).await? {
                Ok(old) => old,
                Err(outcome) => return Ok(outcome),
            };
            let code = old.as_ref().map_or("", |old| old.text.as_str());
            let instruction = text(input, "edit_instruction");
            let edit = Edit {
                description: &bench.context.task().description,
                path: &script,
                code,
                instruction: &instruction,
                lines: None,
            };
            match rewritten(bench, self.name(), &edit).await? {
                Ok(new) => save(bench, self.name(), (&script, &save_name), old.as_ref(), code, new).await,
                Err(outcome) => Ok(outcome),
            }
        })
    }
}
