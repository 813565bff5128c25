//! Edit Script Segment (AI): some lines of a file rewritten by a model. Their indentation is kept.

use podium_types::files::FileFault;

use super::editing::{rewritten, save, text_of};
use super::{Action, ActionFuture, Outcome, lines, path, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Edit;

#[derive(Debug)]
pub(super) struct EditSegment;

impl Action for EditSegment {
    fn name(&self) -> &'static str {
        "Edit Script Segment (AI)"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["script_name", lines::FROM, lines::TO, "edit_instruction", "save_name"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let (script, save_name) = (path(input, "script_name"), path(input, "save_name"));
            let (from, to) = match lines::range(bench, input)? {
                Ok(range) => range,
                Err(outcome) => return Ok(outcome),
            };
            let old = match text_of(bench, self.name(), &script).await? {
                Ok(Some(old)) => old,
                Ok(None) => {
                    let fault = FileFault::Missing { path: script };
                    return bench.fault(self.name(), &fault).map(Outcome::Observation);
                }
                Err(outcome) => return Ok(outcome),
            };
            let lines: Vec<&str> = old.text.split_inclusive('\n').collect();
            let first = usize::try_from(from - 1).unwrap_or(usize::MAX).min(lines.len());
            let last = usize::try_from(to).unwrap_or(usize::MAX).min(lines.len()).max(first);
            let part = |range: std::ops::Range<usize>| lines.get(range).unwrap_or_default().concat();
            let instruction = text(input, "edit_instruction");
            let segment = part(first..last);
            let edit = Edit {
                description: &bench.context.task().description,
                path: &script,
                code: &segment,
                instruction: &instruction,
                lines: Some((from, to)),
            };
            let new = match rewritten(bench, self.name(), &edit).await? {
                Ok(new) => new,
                Err(outcome) => return Ok(outcome),
            };
            let mut head = part(0..first);
            if !head.is_empty() && !head.ends_with('\n') {
                head.push('\n');
            }
            let whole = format!("{head}{new}{}", part(last..lines.len()));
            save(bench, self.name(), (&script, &save_name), Some(&old), &old.text, whole).await
        })
    }
}
