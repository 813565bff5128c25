//! What a session runs, where, and for how long.

use std::{path::Path, path::PathBuf, time::Duration};

use podium_types::{execution::Program, session::SessionKind};

use crate::{Environment, Job};

/// A session to open.
#[derive(Clone, Debug)]
pub struct SessionJob {
    /// Shell or kernel.
    pub kind: SessionKind,
    /// Workspace, mounts, limits, environment and cancellation, as for an execution. Its time-out is that of the
    /// session as a whole; then SIGINT, a grace, and SIGKILL to everything. Its program is not used.
    pub job: Job,
    /// Hard limit of one call; then SIGINT, and after a grace, if the call has not ended, SIGKILL to everything.
    pub call_limit: Duration,
    /// The shell, a path that is valid inside; `bash` where there is one, else `sh`, when not given.
    pub shell: Option<PathBuf>,
}

impl SessionJob {
    /// A session with the default limits, a day of life, and an hour for each call.
    pub fn new(kind: SessionKind, workspace: impl Into<PathBuf>, environment: &Environment) -> Self {
        let program = Program::Command { argv: Vec::new() };
        let mut job = Job::new(program, workspace, environment);
        job.timeout = Duration::from_hours(24);
        Self { kind, job, call_limit: Duration::from_hours(1), shell: None }
    }

    /// The shell to run. The host's `/usr` is the session's as well.
    pub(super) fn shell(&self) -> PathBuf {
        let usual = ["/bin/bash", "/usr/bin/bash"].map(PathBuf::from);
        let found = || usual.into_iter().find(|path| Path::new(path).exists());
        self.shell.clone().or_else(found).unwrap_or_else(|| PathBuf::from("/bin/sh"))
    }
}
