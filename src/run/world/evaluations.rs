//! Predictions for training rows, scored with the labels that the run keeps. The answers are out of reach here: what is
//! graded against stands in the run folder.

use std::path::PathBuf;
use std::sync::Arc;

use podium_competition::HoldoutError;
use podium_sandbox::SubmissionRule;
use podium_scaffold::EffectResult;
use podium_types::evaluation::{Evaluation, Labels};
use podium_types::sha256::Sha256;

use super::Inner;
use super::local::done;
use crate::run::driver::Performed;
use crate::run::stop::{Stop, StoppedBy};

/// What a program is told where the fault is not its own.
const LABELS_AT_FAULT: &str = "the harness cannot score with the labels that it kept";

/// Predictions may be so many times as large as the rows that are shown.
const SHOWN_TIMES: u64 = 16;

impl Inner {
    /// The training table's name, and the file that an execution sees in its place.
    pub(super) fn replaced_table(&self) -> Option<(String, PathBuf)> {
        Some((self.training_table.clone()?, self.folder.holdout().training_table()))
    }

    /// How predictions are collected from `path`.
    pub(super) fn prediction_rule(&self, path: &str) -> SubmissionRule {
        let shown = std::fs::read_dir(self.folder.holdout().shown()).into_iter().flatten().flatten();
        let bytes = shown.filter_map(|entry| entry.metadata().ok()).map(|facts| facts.len()).max();
        SubmissionRule {
            path: path.to_owned(),
            store: self.folder.content().folder().clone(),
            max_bytes: bytes.unwrap_or(0).saturating_mul(SHOWN_TIMES).max(self.submission_limit()),
        }
    }

    pub(super) async fn evaluate(self: &Arc<Self>, labels: Labels, sha256: Sha256) -> Performed {
        let inner = Arc::clone(self);
        let _in_flight = self.clock.in_flight();
        match tokio::task::spawn_blocking(move || inner.score(labels, &sha256)).await {
            Ok(Ok(evaluation)) => done(EffectResult::Evaluation(evaluation)),
            Ok(Err(stop)) => Performed::Parked(stop),
            Err(panic) => Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
    }

    fn score(&self, labels: Labels, sha256: &Sha256) -> Result<Evaluation, Stop> {
        let predictions = self.fetched(sha256)?;
        let scratch = self.folder.work_path();
        let holdout = self.folder.holdout();
        match holdout.evaluate(&self.equipment.competition, labels, &predictions, &scratch) {
            Ok(evaluation) => Ok(evaluation),
            // Too few rows for the metric, for one: no reason to lose a run.
            Err(HoldoutError::Labels(error)) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                tracing::warn!(%error, cause, "predictions for training rows have no score");
                Ok(Evaluation::Refused { reason: LABELS_AT_FAULT.to_owned() })
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                let detail = format!("{error}{}", cause.unwrap_or_default());
                Err(if error.is_disk_full() {
                    Stop::disk_full(&detail)
                } else {
                    Stop::new(StoppedBy::Sandbox, detail)
                })
            }
        }
    }
}
