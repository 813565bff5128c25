//! Inspect Script Lines: some lines of a file, with the number of its last one.

use super::{Action, ActionFuture, Outcome, number, path, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

pub(super) struct InspectLines;

impl Action for InspectLines {
    fn name(&self) -> &'static str {
        "Inspect Script Lines"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["script_name", "start_line_number", "end_line_number"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let path = path(input, "script_name");
            let limits = &bench.agent.spec.actions;
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
            if to - from >= limits.inspect_lines {
                let limit = limits.inspect_lines;
                return seen(bench, &Words { say: "too_many_lines", limit, ..Words::default() });
            }
            let found = match bench.read(&path, limits.file_bytes, true).await? {
                Ok(found) => found,
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
            };
            let all = found.text.lines().count() as u64;
            let skipped = usize::try_from(from - 1).unwrap_or(usize::MAX);
            let many = usize::try_from(to - from + 1).unwrap_or(usize::MAX);
            let lines: Vec<&str> = found.text.lines().skip(skipped).take(many).collect();
            let words = Words {
                say: "lines",
                path: &path,
                text: &lines.join("\n"),
                number: all,
                limit: from,
                flag: found.is_beginning(),
                ..Words::default()
            };
            seen(bench, &words)
        })
    }
}
