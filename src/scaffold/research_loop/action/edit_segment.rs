//! Edit Script Segment (AI): some lines of a file rewritten by a model. Their indentation is kept.

use super::edit_script::{code_of, save_edit};
use super::{Action, ActionFuture, Outcome, number, path, seen, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::{Edit, Words};

pub(super) struct EditSegment;

impl Action for EditSegment {
    fn name(&self) -> &'static str {
        "Edit Script Segment (AI)"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["script_name", "start_line_number", "end_line_number", "edit_instruction", "save_name"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let (script, save) = (path(input, "script_name"), path(input, "save_name"));
            let (Some(from), Some(to)) =
                (number(input, "start_line_number"), number(input, "end_line_number"))
            else {
                return seen(bench, &Words { say: "no_numbers", ..Words::default() });
            };
            let from = from.max(1);
            if to < from {
                return seen(
                    bench,
                    &Words { say: "lines_reversed", number: from, limit: to, ..Words::default() },
                );
            }
            let old = match bench.before(&script).await? {
                Ok(Some(old)) if old.lossy => {
                    return seen(bench, &Words { say: "not_utf8", path: &script, ..Words::default() });
                }
                Ok(Some(old)) => old,
                Ok(None) => {
                    let fault = podium_types::files::FileFault::Missing { path: script };
                    return bench.fault(self.name(), &fault).map(Outcome::Observation);
                }
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
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
            let answer = match bench.edit(&edit).await? {
                Ok(answer) => answer,
                Err(reason) => {
                    return seen(
                        bench,
                        &Words {
                            say: "llm_failed",
                            action: self.name(),
                            reason: &reason,
                            ..Words::default()
                        },
                    );
                }
            };
            let mut head = part(0..first);
            if !head.is_empty() && !head.ends_with('\n') {
                head.push('\n');
            }
            let new = format!("{head}{}{}", code_of(&answer), part(last..lines.len()));
            save_edit(bench, self.name(), (&script, &save), Some(&old), &old.text, new).await
        })
    }
}
