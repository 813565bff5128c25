//! Final Answer: the end, which a valid submission must precede. An agent that insists is let go.

use super::{Action, ActionFuture, Outcome, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct FinalAnswer;

/// So often an end without a submission is refused.
const REFUSALS: u32 = 3;

impl Action for FinalAnswer {
    fn name(&self) -> &'static str {
        "Final Answer"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["final_answer"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, _: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let path = bench.context.task().submission_path.clone();
            let is_valid = bench.check(&path).await?.is_valid();
            let has_one = is_valid || bench.remembered.selected.borrow().is_some();
            let refused = bench.remembered.refused_ends.get();
            if bench.agent.spec.actions.final_answer_check && !has_one && refused < REFUSALS {
                bench.remembered.refused_ends.set(refused + 1);
                return seen(bench, &Words { say: "no_submission_yet", path: &path, ..Words::default() });
            }
            Ok(Outcome::End)
        })
    }
}
