//! What is checked, by whom, and how often: the part of a job that code inside can ask.

use std::{fmt, path::Path, path::PathBuf, sync::Arc};

/// Says whether the file at a path has the right format, in words for the code that asked. `None`: nobody can say now.
///
/// The file is the harness's own copy, ends in `.csv` and is gone afterwards. Called off the runtime's threads.
pub type Checker = dyn Fn(&Path) -> Option<String> + Send + Sync;

/// A check of submissions that code inside may ask for, by `validate_submission.sh FILE` or
/// `POST http://localhost:5000/validate`. It sees what it is sent and no other file.
#[derive(Clone)]
pub struct SubmissionCheck {
    /// Who says the verdict.
    pub checker: Arc<Checker>,
    /// Host folder for the copies, out of the program's sight.
    pub scratch: PathBuf,
    /// A larger file is refused unread.
    pub max_bytes: u64,
    /// Checks within any minute; more are refused, with the time to wait.
    pub per_minute: u32,
    /// Checks in one execution or session.
    pub per_execution: u32,
}

impl SubmissionCheck {
    /// A check with the default rates: a dozen a minute, a thousand in all.
    pub fn new(checker: Arc<Checker>, scratch: impl Into<PathBuf>, max_bytes: u64) -> Self {
        Self { checker, scratch: scratch.into(), max_bytes, per_minute: 12, per_execution: 1000 }
    }
}

impl fmt::Debug for SubmissionCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmissionCheck")
            .field("scratch", &self.scratch)
            .field("max_bytes", &self.max_bytes)
            .field("per_minute", &self.per_minute)
            .field("per_execution", &self.per_execution)
            .finish_non_exhaustive()
    }
}
