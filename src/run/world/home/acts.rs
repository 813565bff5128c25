//! Executions in the home workspace, and files taken out of it.

use std::sync::Arc;
use std::time::Duration;

use podium_sandbox::SandboxError;
use podium_scaffold::EffectResult;
use podium_types::execution::{Collected, Execution, ExecutionRequest};
use podium_types::key::EffectKey;

use super::super::Inner;
use super::super::leases::Lease;
use super::super::local::{Refused, done};
use crate::run::driver::Performed;
use crate::run::stop::{Stop, StoppedBy};

impl Inner {
    /// Runs a program in the home workspace. Nothing is removed before or after.
    pub(in crate::run::world) async fn execute_at_home(
        self: &Arc<Self>,
        key: &EffectKey,
        request: ExecutionRequest,
        hash: String,
    ) -> Performed {
        let _in_flight = self.clock.in_flight();
        match self.run_at_home(key, request, hash).await {
            Ok(execution) => self.changed(key, EffectResult::Execution(Box::new(execution))).await,
            Err(refused) => refused.into(),
        }
    }

    async fn run_at_home(
        self: &Arc<Self>,
        key: &EffectKey,
        request: ExecutionRequest,
        hash: String,
    ) -> Result<Execution, Refused> {
        self.at_home().await?;
        let room = self.room()?;
        let mut job =
            self.job(request.program, &self.folder.home_path(), self.home.lease().map(Lease::share), room);
        job.timeout = Duration::from_millis(request.timeout_ms).min(self.run_time_left());
        job.env = request.env;
        job.submission_check = self.submission_check();
        self.begin_act(key, hash).await?;
        match self.equipment.sandbox.execute(&job).await {
            Ok(execution) => Ok(execution),
            Err(error) => {
                if never_began(&error) {
                    self.not_begun(key);
                }
                Err(error.into())
            }
        }
    }

    /// Copies a file of the home workspace into the content store. Programs may be running: what counts is the copy.
    pub(in crate::run::world) async fn collect_from_home(self: &Arc<Self>, path: String) -> Performed {
        let _in_flight = self.clock.in_flight();
        if let Err(refused) = self.at_home().await {
            return refused.into();
        }
        let rule = self.prediction_rule(path.trim_start_matches("./"));
        let workspace = self.folder.home_path();
        let collected = tokio::task::spawn_blocking(move || {
            podium_sandbox::collect(&workspace, &rule.path, &rule.store, rule.max_bytes)
        });
        match collected.await {
            Ok(Ok(collected)) => done(EffectResult::Collected(collected)),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::InvalidInput => {
                let found = "no path inside the workspace".to_owned();
                done(EffectResult::Collected(Collected::Missing { found }))
            }
            Ok(Err(source)) => {
                let path = self.folder.home_path();
                Refused::from(SandboxError::Io { action: "collecting from", path, source }).into()
            }
            Err(panic) => Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
    }
}

/// Whether an error of the sandbox says that nothing of the program was run.
pub(super) const fn never_began(error: &SandboxError) -> bool {
    matches!(
        error,
        SandboxError::Job { .. }
            | SandboxError::Exposed { .. }
            | SandboxError::Start { .. }
            | SandboxError::Gpus { .. }
            | SandboxError::NoEngine { .. }
            | SandboxError::EngineRefused { .. }
    )
}
