//! Inspect Script Lines: some lines of a file, with the number of its last one.

use super::{Action, ActionFuture, Outcome, lines, path, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct InspectLines;

impl Action for InspectLines {
    fn name(&self) -> &'static str {
        "Inspect Script Lines"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["script_name", lines::FROM, lines::TO]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let path = path(input, "script_name");
            let limits = &bench.agent.spec.actions;
            let (from, to) = match lines::range(bench, input)? {
                Ok(range) => range,
                Err(outcome) => return Ok(outcome),
            };
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
