//! Validate Submission: the format check. It says valid or why not, and never how good.

use podium_types::verdict::Verdict;

use super::{Action, ActionFuture, path, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::{Bench, plain};
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct ValidateSubmission;

impl Action for ValidateSubmission {
    fn name(&self) -> &'static str {
        "Validate Submission"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["submission_path"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let path = path(input, "submission_path");
            let right = plain(&bench.context.task().submission_path);
            let (say, reason, flag) = match bench.check(&path).await? {
                Verdict::Valid { copies_sample, .. } => ("valid", String::new(), copies_sample),
                Verdict::Invalid { reason } => ("invalid", reason, false),
                Verdict::Missing { found } => ("missing", found, false),
            };
            // A valid file elsewhere is not handed in.
            let other = if plain(&path) == right { "" } else { right.as_str() };
            seen(bench, &Words { say, path: &path, other, reason: &reason, flag, ..Words::default() })
        })
    }
}
