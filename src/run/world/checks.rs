//! The format check that programs may ask for while they run: the verdict of the effect `validate`, in words.
//!
//! Whoever asks gets the verdict on the bytes that were sent and nothing else: no score, no word of the answers, and of a
//! fault of ours only that there is one.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use podium_sandbox::SubmissionCheck;
use podium_types::verdict::Verdict;

use super::Inner;

impl Inner {
    /// The check of one execution, where there is one.
    pub(super) fn submission_check(self: &Arc<Self>) -> Option<SubmissionCheck> {
        if !self.equipment.submission_check {
            return None;
        }
        // A folder, for what a sitting that was killed leaves is swept by folders. Without it each check says that it
        // cannot be done.
        let scratch = self.folder.work_path().join("checks");
        if let Err(error) = std::fs::create_dir_all(&scratch) {
            tracing::warn!(%error, folder = %scratch.display(), "no folder for checks of submissions");
        }
        let inner = Arc::clone(self);
        let checker = move |file: &Path| {
            let _turn = inner.check.lock().unwrap_or_else(PoisonError::into_inner);
            inner.verdict(file).ok().map(|verdict| in_words(&verdict))
        };
        Some(SubmissionCheck::new(Arc::new(checker), scratch, self.submission_limit()))
    }
}

/// The verdict as MLE-bench's server says it: what is wrong in the words of the format check.
fn in_words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Valid { copies_sample: false, .. } => "Submission is valid.".to_owned(),
        Verdict::Valid { copies_sample: true, .. } => {
            "Submission is valid, but its predictions are those of the sample submission.".to_owned()
        }
        Verdict::Invalid { reason } => format!("Submission invalid! {reason}"),
        Verdict::Missing { found } => format!("Submission invalid! It is {found}."),
    }
}
