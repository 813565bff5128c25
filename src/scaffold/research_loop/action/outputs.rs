//! What an execution came to, as an observation: how it ended, and its output with head and tail kept.

use podium_types::execution::Execution;
use podium_types::verdict::Verdict;

use super::Outcome;
use crate::context::Acted;
use crate::prompts::execution::readable;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;
use crate::strategy::StrategyError;

/// Tells of an execution, then looks whether there is a submission to hand in by now.
pub(super) async fn told(
    bench: &Bench<'_>,
    program: &str,
    ran: &Acted<Execution>,
) -> Result<Outcome, StrategyError> {
    let mut told = match ran {
        Acted::Interrupted => bench.say(&Words { say: "interrupted", path: program, ..Words::default() })?,
        Acted::Done(execution) => {
            let output = readable(&execution.output.text());
            let ended = match &execution.limit {
                Some(limit) => format!("{limit}; {}", execution.ended),
                None => execution.ended.to_string(),
            };
            let words = Words {
                say: "executed",
                path: program,
                text: &output,
                ended: &ended,
                flag: execution.succeeded(),
                ms: execution.wall_ms,
                ..Words::default()
            };
            bench.say(&words)?
        }
    };
    let before = bench.remembered.selected.borrow().clone();
    let path = bench.context.task().submission_path.clone();
    let remark = match bench.check(&path).await? {
        Verdict::Valid { sha256, .. } if before.as_ref() == Some(&sha256) => {
            return Ok(Outcome::Observation(told));
        }
        Verdict::Valid { copies_sample, .. } => bench.say(&Words {
            say: "submission_new",
            path: &path,
            flag: copies_sample,
            ..Words::default()
        })?,
        Verdict::Invalid { reason } => bench.say(&Words {
            say: "submission_invalid",
            path: &path,
            reason: &reason,
            ..Words::default()
        })?,
        Verdict::Missing { .. } => return Ok(Outcome::Observation(told)),
    };
    told.push_str("\n\n");
    told.push_str(&remark);
    Ok(Outcome::Observation(told))
}
