//! Append Summary to Research Log: a remark of the agent's own, where retrieval and reflection find it.

use super::{Action, ActionFuture, Outcome, seen, text};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::bench::LOG;
use crate::research_loop::words::Words;
use crate::strategy::StrategyError;
use podium_types::files::FileFault;

#[derive(Debug)]
pub(super) struct AppendSummary;

impl Action for AppendSummary {
    fn name(&self) -> &'static str {
        "Append Summary to Research Log"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["content"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            match append(bench, &text(input, "content")).await? {
                Ok(()) => seen(bench, &Words { say: "logged", path: LOG, ..Words::default() }),
                Err(fault) => bench.fault(self.name(), &fault).map(Outcome::Observation),
            }
        })
    }
}

/// Appends to the log, which is a file that the agent's programs may have changed.
pub(crate) async fn append(bench: &Bench<'_>, content: &str) -> Result<Result<(), FileFault>, StrategyError> {
    let old = match bench.before(LOG).await? {
        Ok(old) => old,
        Err(fault) => return Ok(Err(fault)),
    };
    let whole = format!("{}{}\n", old.as_ref().map_or("", |old| old.text.as_str()), content.trim_end());
    let written = bench.write(LOG, old.as_ref(), whole).await?;
    // It is no edit that anybody would undo.
    if written.is_ok() {
        bench.remembered.undo.borrow_mut().pop();
    }
    Ok(written)
}
