//! Retrieval from Research Log: what of the log helps with the plan, as the fast model sees it.

use super::{Action, ActionFuture, Outcome, seen, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::{Bench, LOG};
use crate::research_loop::words::{Question, Words};
use podium_types::files::FileFault;

#[derive(Debug)]
pub(super) struct Retrieval;

impl Action for Retrieval {
    fn name(&self) -> &'static str {
        "Retrieval from Research Log"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["current_plan"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let plan = Some(text(input, "current_plan")).filter(|plan| !plan.trim().is_empty());
            let plan = plan.unwrap_or_else(|| bench.plan.to_owned());
            let log = match bench.read(LOG, bench.agent.spec.actions.file_bytes, true).await? {
                Ok(log) => log.text,
                Err(FileFault::Missing { .. }) => {
                    return seen(bench, &Words { say: "no_log", path: LOG, ..Words::default() });
                }
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
            };
            let description = &bench.context.task().description;
            let question =
                Question { ask: "retrieve", description, text: &log, plan: &plan, ..Question::default() };
            let answer = bench.ask(&question).await?;
            seen(bench, &Words { say: "answered", text: &answer, ..Words::default() })
        })
    }
}
