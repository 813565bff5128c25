//! Effects on this machine: executions, submission checks, previews.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use podium_competition::PreviewOptions;
use podium_sandbox::{Job, SandboxError, SubmissionRule};
use podium_scaffold::EffectResult;
use podium_scaffold::effect::{self, PreviewRequest};
use podium_scaffold::tree_search::operators::SOLUTION;
use podium_types::execution::{Collected, Ended, Execution, ExecutionRequest, Program};
use podium_types::key::EffectKey;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

use super::Inner;
use super::leases::{Lease, Share};
use crate::run::config::PreviewMode;
use crate::run::driver::Performed;
use crate::run::folder::is_disk_full;
use crate::run::resources::room;
use crate::run::stop::{Stop, StoppedBy};
use crate::run::{validation, wording};

/// A submission may be this large, or so many times the sample submission where that is more: floats are longer than
/// the sample's zeros, and no honest file is far beyond.
const SUBMISSION_BYTES: u64 = 64 << 20;
const SAMPLE_TIMES: u64 = 16;

/// An execution is not begun with less room than this on the disk of the run folder, and one that failed with less
/// is not believed.
const ROOM_BYTES: u64 = 16 << 20;

/// All that a run says of answers that cannot be used.
const ANSWERS_AT_FAULT: &str = "the format of a submission could not be checked: the answers of the competition cannot \
     be used; prepare its data again";

/// Why an execution has no result.
pub(super) enum Refused {
    /// Too little room on the disk.
    NoRoom(String),
    /// The sandbox could not work.
    Sandbox(SandboxError),
    /// The run stops for another reason.
    Stop(Stop),
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

impl From<Refused> for Performed {
    fn from(refused: Refused) -> Self {
        Self::Parked(match refused {
            Refused::NoRoom(what) => Stop::disk_full(&what),
            Refused::Stop(stop) => stop,
            Refused::Sandbox(error) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                let cause =
                    std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                Stop::new(StoppedBy::Sandbox, format!("{error}{cause}{hint}"))
            }
        })
    }
}

impl Inner {
    pub(super) async fn execute(self: &Arc<Self>, key: &EffectKey, request: &ExecutionRequest) -> Performed {
        let _in_flight = self.clock.in_flight();
        match self.execute_in_sandbox(key, request).await {
            Ok(execution) => done(EffectResult::Execution(Box::new(execution))),
            Err(refused) => refused.into(),
        }
    }

    pub(super) async fn execute_in_sandbox(
        self: &Arc<Self>,
        key: &EffectKey,
        request: &ExecutionRequest,
    ) -> Result<Execution, Refused> {
        // What home has leased serves all: there may be no other lease, and its programs and this one are not at work
        // at the same time as a rule.
        let lease = if self.home.lease().is_some() { None } else { self.leases.lease().await };
        let path = self.workspaces.path(key);
        self.workspaces.cleared().await;
        let room = self.room()?;
        let share = self.home.lease().or(lease.as_ref()).map(Lease::share);
        let job = self.node_job(request, &path, share, room);
        let job = self.placed(job).await?;
        let execution = match &request.agent {
            Some(terms) => {
                // It is stopped by the run's own clock, in which waiting for a service does not count.
                let timeout = Duration::from_millis(request.timeout_ms);
                self.employ(Job { timeout, ..job }, terms).await?
            }
            None => self.equipment.sandbox.execute(&job).await?,
        };
        drop(lease);
        // Nothing else will look at it: what counts was collected.
        self.workspaces.clear_behind(path);
        if !matches!((&execution.ended, &execution.submission), (Ended::Exit(0), Collected::File { .. })) {
            // It may have failed for want of room, which says nothing about the solution.
            self.workspaces.cleared().await;
            self.room()?;
        }
        Ok(execution)
    }

    /// What an execution in a workspace of its own is.
    fn node_job(
        self: &Arc<Self>,
        request: &ExecutionRequest,
        path: &Path,
        share: Option<&Share>,
        room: u64,
    ) -> Job {
        let mut job = self.job(request.program.clone(), path, share, room);
        job.timeout = Duration::from_millis(request.timeout_ms).min(self.run_time_left());
        job.env.clone_from(&request.env);
        job.submission = Some(SubmissionRule {
            path: self.submission.to_string_lossy().into_owned(),
            store: self.folder.content().folder().clone(),
            max_bytes: self.submission_limit(),
        });
        job.collect = request.collect.iter().map(|path| self.prediction_rule(path)).collect();
        job.submission_check = self.submission_check();
        job.more_follow = request.agent.is_none();
        job
    }

    /// A call for a node has begun, so its script will follow: what the first one can do with is made meanwhile. Each
    /// execution has it made for the next.
    pub(super) fn expect_script(self: &Arc<Self>, key: &EffectKey) {
        if !key.as_str().starts_with("node/") || self.is_expected.swap(true, Ordering::Relaxed) {
            return;
        }
        // Without room the script will be refused, and say so.
        let Ok(room) = self.room() else { return };
        let request = effect::python(SOLUTION, String::new(), u64::MAX);
        let share = self.leases.next();
        let job = self.node_job(&request, &self.workspaces.path(key), share.as_ref(), room);
        drop(self.equipment.sandbox.expect(&job));
    }

    /// What every program of the run is granted, wherever it works; `room` is what the disk has.
    pub(super) fn job(
        self: &Arc<Self>,
        program: Program,
        path: &Path,
        share: Option<&Share>,
        room: u64,
    ) -> Job {
        let mut job = Job::new(program, path, &self.equipment.environment);
        job.input = Some(self.equipment.data.public.clone());
        let description = self.folder.description_path();
        if description.exists() {
            job.input_instead.push((wording::FILE.to_owned(), description));
        }
        let holdout = self.folder.holdout();
        if let Some((name, file)) = self.replaced_table() {
            job.input_instead.push((name, file));
            job.beside.push((validation::FOLDER.to_owned(), holdout.shown()));
        }
        job.hidden.clone_from(&self.equipment.hidden);
        job.hidden.push(self.folder.path().to_owned());
        job.limits = self.equipment.execution_limits.clone();
        if let Some(share) = share {
            job.limits.cpus = share.cpus.clone();
            let root = self.equipment.resources.gpu_root().clone();
            job.gpus = podium_sandbox::GpuGrant { root, gpus: share.gpus.clone() };
        }
        job.mounts.clone_from(&self.equipment.mounts);
        // What a program writes must leave room for the journal.
        job.limits.workspace_bytes = job.limits.workspace_bytes.min(room - room / 8);
        job
    }

    /// The job with its workspace made, off the runtime's threads.
    async fn placed(self: &Arc<Self>, job: Job) -> Result<Job, SandboxError> {
        let (inner, path) = (Arc::clone(self), job.workspace.clone());
        let make = move || {
            let make = || inner.equipment.sandbox.make_workspace(&job).map(|_| ());
            inner.workspaces.create(&job.workspace, make).map(|()| job)
        };
        let made = tokio::task::spawn_blocking(make).await;
        made.unwrap_or_else(|panic| Err(std::io::Error::other(panic))).map_err(|source| SandboxError::Io {
            action: "creating the workspace",
            path,
            source,
        })
    }

    /// The room on the disk of the run folder, when it is enough for an execution.
    pub(super) fn room(&self) -> Result<u64, Refused> {
        let free = room(&self.folder.work_path());
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

    pub(super) fn submission_limit(&self) -> u64 {
        let sample = self.equipment.data.sample_submission(&self.equipment.competition);
        let bytes = std::fs::metadata(sample).map_or(0, |facts| facts.len());
        bytes.saturating_mul(SAMPLE_TIMES).max(SUBMISSION_BYTES)
    }

    pub(super) fn run_time_left(&self) -> Duration {
        let used = self.clock.stamp().run_ms;
        self.limits
            .run_ms
            .map_or(Duration::MAX, |limit| Duration::from_millis(limit.saturating_sub(used).max(1)))
    }

    pub(super) async fn validate(self: &Arc<Self>, sha256: Sha256) -> Performed {
        let inner = Arc::clone(self);
        let _in_flight = self.clock.in_flight();
        let checked = tokio::task::spawn_blocking(move || inner.check(&sha256)).await;
        match checked {
            Ok(Ok(verdict)) => done(EffectResult::Verdict(verdict)),
            Ok(Err(stop)) => Performed::Parked(stop),
            Err(panic) => Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
    }

    fn check(&self, sha256: &Sha256) -> Result<Verdict, Stop> {
        self.verdict(&self.fetched(sha256)?)
    }

    /// A collected file under a name that ends in `.csv`.
    pub(super) fn fetched(&self, sha256: &Sha256) -> Result<PathBuf, Stop> {
        // The grader reads files that end in `.csv`; the content store's names do not.
        let submission = self.folder.work_path().join("submissions").join(format!("{sha256}.csv"));
        self.folder.content().link(sha256, &submission).map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            let detail = format!(
                "the submission could not be read for its check: {error}{}",
                cause.unwrap_or_default()
            );
            if error.is_disk_full() {
                Stop::disk_full(&detail)
            } else {
                Stop::new(StoppedBy::Sandbox, detail)
            }
        })?;
        Ok(submission)
    }

    /// The format verdict on a file that ends in `.csv`.
    pub(super) fn verdict(&self, submission: &Path) -> Result<Verdict, Stop> {
        let competition = &self.equipment.competition;
        let sample = self.equipment.data.sample_submission(competition);
        let answers = self.equipment.data.answers(competition);
        podium_competition::validate(competition, submission, &answers, Some(&sample)).map_err(|error| {
            // A stop is journaled and shown while the run can still go on: no word of what stands in the answers.
            tracing::debug!(%error, "the answers are at fault");
            Stop::new(StoppedBy::Sandbox, ANSWERS_AT_FAULT)
        })
    }

    pub(super) async fn preview(self: &Arc<Self>, request: PreviewRequest) -> Performed {
        let public = self.equipment.data.public.clone();
        let instead = self.replaced_table().into_iter().collect();
        let _in_flight = self.clock.in_flight();
        let options = PreviewOptions {
            max_chars: request.max_chars,
            schema_only: self.equipment.preview == PreviewMode::Schema,
        };
        let preview = move || podium_competition::preview::preview_instead(&public, options, &instead);
        match tokio::task::spawn_blocking(preview).await {
            Ok(text) => done(EffectResult::Preview(text)),
            Err(panic) => Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
    }
}

pub(super) fn done(result: EffectResult) -> Performed {
    Performed::Done { result: Box::new(result), waited: Duration::ZERO }
}
