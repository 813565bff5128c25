//! Reflection: the fast model's thoughts on the log and the task.

use super::{Action, ActionFuture, seen, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::{Bench, LOG};
use crate::research_loop::words::{Question, Words};

#[derive(Debug)]
pub(super) struct Reflection;

impl Action for Reflection {
    fn name(&self) -> &'static str {
        "Reflection"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["things_to_reflect_on"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let want = text(input, "things_to_reflect_on");
            // Without a log there is still a task and a plan to think about.
            let log = bench.read(LOG, bench.agent.spec.actions.file_bytes, true).await?;
            let log = log.map(|log| log.text).unwrap_or_default();
            let description = &bench.context.task().description;
            let question = Question {
                ask: "reflect",
                description,
                text: &log,
                want: &want,
                plan: bench.plan,
                ..Question::default()
            };
            let answer = bench.ask(&question).await?;
            seen(bench, &Words { say: "reflected", text: &answer, ..Words::default() })
        })
    }
}
