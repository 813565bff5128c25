//! The submission in the home workspace: taken, checked, and selected where it is valid, whenever it has changed. So what
//! a limit leaves behind is the last valid file that there was.

use podium_types::execution::Collected;
use podium_types::verdict::Verdict;
use serde::Serialize;

use crate::codeact::tools::Hands;
use crate::codeact::tools::hands::Submission;
use crate::context::Task;
use crate::prompts::variables::submission_path;
use crate::strategy::StrategyError;

/// Variables of the template of the format check.
#[derive(Clone, Debug, Serialize)]
pub struct SubmissionVariables<'a> {
    /// What it is told for: `checked` (the agent asked), `sent_back` (it wanted to finish and may not), `finished`.
    pub outcome: &'static str,
    /// `valid`, `sample` (valid, but a copy of the sample submission), `invalid` or `missing`.
    pub submission: &'static str,
    /// What is wrong with it.
    pub problem: &'a str,
    /// Where it must be, without a leading `./`.
    pub submission_path: &'a str,
}

/// Names in [`SubmissionVariables`].
pub const SUBMISSION: &[&str] = &["outcome", "submission", "problem", "submission_path"];

impl<'a> SubmissionVariables<'a> {
    /// Of a verdict.
    pub fn new(outcome: &'static str, verdict: &'a Verdict, task: &'a Task) -> Self {
        let (submission, problem) = word(verdict);
        Self { outcome, submission, problem, submission_path: submission_path(task) }
    }
}

/// A verdict as templates know it, and what is wrong.
pub(crate) fn word(verdict: &Verdict) -> (&'static str, &str) {
    match verdict {
        Verdict::Valid { copies_sample: false, .. } => ("valid", ""),
        Verdict::Valid { copies_sample: true, .. } => ("sample", ""),
        Verdict::Invalid { reason } => ("invalid", reason),
        Verdict::Missing { found } => ("missing", found),
    }
}

/// Looks at the submission as it is now.
pub(crate) async fn check(hands: &Hands<'_>) -> Result<Verdict, StrategyError> {
    let context = hands.context;
    let path = submission_path(context.task());
    let found = match context.collect(hands.key("collect"), path).await? {
        Collected::File { sha256, .. } => {
            let known = hands
                .memory
                .borrow()
                .submission
                .clone()
                .filter(|known| known.sha256.as_ref() == Some(&sha256));
            let verdict = match known {
                Some(known) => known.verdict,
                None => context.validate(hands.key("validate"), &sha256).await?,
            };
            Submission { sha256: Some(sha256), verdict }
        }
        Collected::Missing { found } => Submission { sha256: None, verdict: Verdict::Missing { found } },
    };
    if let Some(sha256) = found.sha256.as_ref().filter(|_| found.verdict.is_valid()) {
        let selected = hands.memory.borrow().selected.as_ref() == Some(sha256);
        if !selected {
            context.select_final(hands.key("select"), None, sha256).await?;
            hands.memory.borrow_mut().selected = Some(sha256.clone());
        }
    }
    let verdict = found.verdict.clone();
    hands.memory.borrow_mut().submission = Some(found);
    Ok(verdict)
}
