//! Effects on this machine: executions, submission checks, previews.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use podium_sandbox::{Job, SandboxError, SubmissionRule, workspace};
use podium_scaffold::EffectResult;
use podium_scaffold::effect::PreviewRequest;
use podium_types::execution::{Collected, Ended, Execution, ExecutionRequest};
use podium_types::verdict::Verdict;

use super::Inner;
use crate::run::driver::Performed;
use crate::run::folder::is_disk_full;
use crate::run::stop::{Stop, StoppedBy};

/// A larger submission is not taken. The largest of the benchmark's sample submissions is well below.
const SUBMISSION_BYTES: u64 = 2 << 30;

/// An execution is not begun with less room than this on the disk of the run folder, and one that failed with less
/// is not believed.
const ROOM_BYTES: u64 = 16 << 20;

/// Why an execution has no result.
enum Refused {
    NoRoom(String),
    Sandbox(SandboxError),
}

impl From<SandboxError> for Refused {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Io { action, path, source } if is_disk_full(&source) => {
                Self::NoRoom(format!("{action} {} failed", path.display()))
            }
            error => Self::Sandbox(error),
        }
    }
}

impl Inner {
    pub(super) async fn execute(self: &Arc<Self>, request: &ExecutionRequest) -> Performed {
        let _in_flight = self.clock.in_flight();
        match self.execute_in_sandbox(request).await {
            Ok(execution) => done(EffectResult::Execution(Box::new(execution))),
            Err(Refused::NoRoom(what)) => Performed::Parked(Stop::disk_full(&what)),
            Err(Refused::Sandbox(error)) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                let cause =
                    std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                Performed::Parked(Stop::new(StoppedBy::Sandbox, format!("{error}{cause}{hint}")))
            }
        }
    }

    async fn execute_in_sandbox(&self, request: &ExecutionRequest) -> Result<Execution, Refused> {
        let path = self.folder.work_path().join(plain_name(&request.workspace));
        let io = |action: &'static str| {
            let path = path.clone();
            move |source| SandboxError::Io { action, path, source }
        };
        let room = self.room()?;
        if request.fresh && path.exists() {
            workspace::remove(&path).map_err(io("emptying the workspace"))?;
        }
        if !path.exists() {
            workspace::create(&path).map_err(io("creating the workspace"))?;
        }
        let mut job = Job::new(request.program.clone(), &path, &self.equipment.environment);
        job.input = Some(self.equipment.data.public.clone());
        job.limits = self.equipment.execution_limits.clone();
        // What a program writes must leave room for the journal.
        job.limits.workspace_bytes = job.limits.workspace_bytes.min(room - room / 8);
        job.timeout = Duration::from_millis(request.timeout_ms).min(self.run_time_left());
        job.env.clone_from(&request.env);
        job.submission = Some(SubmissionRule {
            path: self.submission.to_string_lossy().into_owned(),
            store: self.folder.content().folder().clone(),
            max_bytes: SUBMISSION_BYTES,
        });
        let execution = self.equipment.sandbox.execute(&job).await?;
        if request.fresh {
            // Nothing else will look at it: what counts was collected.
            workspace::remove(&path).map_err(io("removing the workspace"))?;
        }
        if !matches!((&execution.ended, &execution.submission), (Ended::Exit(0), Collected::File { .. })) {
            // It may have failed for want of room, which says nothing about the solution.
            self.room()?;
        }
        Ok(execution)
    }

    /// The room on the disk of the run folder, when it is enough for an execution.
    fn room(&self) -> Result<u64, Refused> {
        // A file system that does not tell is taken at its word: the writes themselves will.
        let free = rustix::fs::statvfs(self.folder.work_path())
            .map_or(u64::MAX, |facts| facts.f_bavail.saturating_mul(facts.f_frsize));
        if free >= ROOM_BYTES {
            return Ok(free);
        }
        Err(Refused::NoRoom(format!(
            "{} MiB are left at {}, an execution needs at least {} MiB",
            free >> 20,
            self.folder.path().display(),
            ROOM_BYTES >> 20
        )))
    }

    fn run_time_left(&self) -> Duration {
        let used = self.clock.stamp().run_ms;
        self.limits
            .run_ms
            .map_or(Duration::MAX, |limit| Duration::from_millis(limit.saturating_sub(used).max(1)))
    }

    pub(super) async fn validate(self: &Arc<Self>, sha256: String) -> Performed {
        let inner = Arc::clone(self);
        let _in_flight = self.clock.in_flight();
        let checked = tokio::task::spawn_blocking(move || inner.check(&sha256)).await;
        match checked {
            Ok(Ok(verdict)) => done(EffectResult::Verdict(verdict)),
            Ok(Err(stop)) => Performed::Parked(stop),
            Err(panic) => Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
    }

    fn check(&self, sha256: &str) -> Result<Verdict, Stop> {
        let submission =
            named_submission(&self.folder.work_path(), &self.folder.content().path_of(sha256), sha256)
                .map_err(|error| {
                    let detail = format!("the submission could not be read for its check: {error}");
                    if is_disk_full(&error) {
                        Stop::disk_full(&detail)
                    } else {
                        Stop::new(StoppedBy::Sandbox, detail)
                    }
                })?;
        let competition = &self.equipment.competition;
        let sample = self.equipment.data.sample_submission(competition);
        let answers = self.equipment.data.answers(competition);
        podium_competition::validate(competition, &submission, &answers, Some(&sample))
            .map_err(|error| Stop::new(StoppedBy::Sandbox, error.to_string()))
    }

    pub(super) async fn preview(self: &Arc<Self>, request: PreviewRequest) -> Performed {
        let public = self.equipment.data.public.clone();
        let _in_flight = self.clock.in_flight();
        match tokio::task::spawn_blocking(move || podium_competition::preview(&public, request.max_chars))
            .await
        {
            Ok(text) => done(EffectResult::Preview(text)),
            Err(panic) => Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
    }
}

fn done(result: EffectResult) -> Performed {
    Performed::Done { result: Box::new(result), waited: Duration::ZERO }
}

/// The grader reads files that end in `.csv`; the content store's names do not.
fn named_submission(work: &Path, content: &Path, sha256: &str) -> std::io::Result<PathBuf> {
    let folder = work.join("submissions");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{sha256}.csv"));
    if !path.exists() && std::fs::hard_link(content, &path).is_err() {
        std::fs::copy(content, &path)?;
    }
    Ok(path)
}

/// Workspace names come from strategies: letters, digits, `-`, `_` and `.` only, and no leading dot.
fn plain_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .collect();
    format!("workspace-{}", plain.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_name_stays_inside() {
        assert_eq!(plain_name("../../etc"), "workspace-_.._etc");
        assert_eq!(plain_name("node-7"), "workspace-node-7");
    }
}
