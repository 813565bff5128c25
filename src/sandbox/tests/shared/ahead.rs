//! A sandbox of which every script begins in a jail that was made ahead, or the test fails. Two test binaries include it.

use std::path::Path;

use podium_sandbox::{
    ExecutionFuture, Expected, Facts, Job, Sandbox, SandboxError, SessionFuture, SessionJob,
};
use podium_types::execution::Program;

/// The sandbox that makes them.
pub(crate) struct Ahead(pub(crate) Box<dyn Sandbox>);

impl Sandbox for Ahead {
    fn facts(&self) -> &Facts {
        self.0.facts()
    }

    fn check(&self, job: &Job) -> Result<(), SandboxError> {
        self.0.check(job)
    }

    fn expect(&self, job: &Job) -> Expected {
        self.0.expect(job)
    }

    fn make_workspace(&self, job: &Job) -> std::io::Result<bool> {
        self.0.make_workspace(job)
    }

    fn rest(&self) {
        self.0.rest();
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(async move {
            if !matches!(job.program, Program::Python { .. }) {
                return self.0.execute(job).await;
            }
            let is_made = self.0.expect(job).is_made().await;
            let is_placed = is_made && exchange(&*self.0, job);
            let execution = self.0.execute(job).await?;
            assert!(is_placed && execution.warm, "began as ever: made {is_made}, {execution:?}");
            Ok(execution)
        })
    }

    /// A session has an interpreter of its own.
    fn open_session<'a>(&'a self, job: &'a SessionJob) -> SessionFuture<'a> {
        self.0.open_session(job)
    }
}

/// Puts what stands in the workspace of a job into one in which a jail waits.
fn exchange(sandbox: &dyn Sandbox, job: &Job) -> bool {
    let given = job.workspace.with_extension("given");
    std::fs::rename(&job.workspace, &given).unwrap();
    if !sandbox.make_workspace(job).unwrap() {
        return false;
    }
    for entry in std::fs::read_dir(&given).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        let is_mounted = |name: &Path| {
            name == Path::new("input") || job.beside.iter().any(|(beside, _)| name == Path::new(beside))
        };
        if !is_mounted(Path::new(&name)) {
            let place = job.workspace.join(&name);
            // Of those that every workspace has.
            let _ = std::fs::remove_dir(&place);
            std::fs::rename(entry.path(), place).unwrap();
        }
    }
    podium_sandbox::workspace::remove(&given).unwrap();
    true
}
