//! Tries of a run that a service or the harness failed, as lines of a file beside its folder: the folder may not be
//! there yet, and a run that went well in the end has no trace of them in its report. For people alone: nothing is
//! decided by them.

use std::io::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::experiment::plan::PlannedRun;
use crate::experiment::stored::Experiment;

/// A try that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTry {
    /// When.
    pub at: Timestamp,
    /// Why, in words.
    pub why: String,
}

impl Experiment {
    fn failures(&self, run: &PlannedRun) -> PathBuf {
        self.folder.join(format!("{}.failures.jsonl", run.folder))
    }

    /// Keeps why a try failed, as well as it can be kept.
    pub fn note_failure(&self, run: &PlannedRun, why: &str) {
        let failed = FailedTry { at: Timestamp::now(), why: why.to_owned() };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(self.failures(run));
        if let (Ok(mut file), Ok(mut line)) = (file, serde_json::to_vec(&failed)) {
            line.push(b'\n');
            let _ = file.write_all(&line);
        }
    }

    /// The tries of a run that failed, in their order. A line that does not read back is passed over.
    pub fn failed_tries(&self, run: &PlannedRun) -> Vec<FailedTry> {
        let text = std::fs::read_to_string(self.failures(run)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}
