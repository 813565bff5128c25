//! Running one small program while a sandbox is opened.

use std::{collections::BTreeMap, future::Future, io, path::PathBuf, time::Duration};

use podium_types::execution::{Execution, Program};

use crate::{CancellationToken, GpuGrant, Job, Limits, Sandbox, SandboxError, scratch, workspace};

/// A job in an empty workspace, which is removed with this.
pub(crate) struct Trial {
    pub(crate) job: Job,
    _folder: tempfile::TempDir,
}

impl Trial {
    fn new(argv: Vec<String>) -> Result<Self, SandboxError> {
        let folder = scratch::folder()?;
        // Inside it: a kind may give the workspace to another user, and the folder must stay ours to be swept.
        let workspace = folder.path().join("workspace");
        workspace::create(&workspace).map_err(SandboxError::io("creating", &workspace))?;
        let job = Job {
            program: Program::Command { argv },
            workspace,
            input: None,
            input_instead: Vec::new(),
            beside: Vec::new(),
            read_only: Vec::new(),
            mounts: BTreeMap::new(),
            gpus: GpuGrant::default(),
            hidden: Vec::new(),
            python: PathBuf::from("/usr/bin/python3"),
            timeout: Duration::from_secs(20),
            limits: Limits { memory_bytes: 256 << 20, ..Limits::default() },
            env: BTreeMap::new(),
            submission: None,
            collect: Vec::new(),
            submission_check: None,
            service: None,
            more_follow: false,
            stop: CancellationToken::new(),
            cancel: CancellationToken::new(),
        };
        Ok(Self { job, _folder: folder })
    }
}

/// A trial of any command.
pub(crate) fn command(argv: [&str; 4]) -> Result<Trial, SandboxError> {
    Trial::new(argv.map(str::to_owned).into())
}

/// A trial of a job's interpreter, which does nothing.
pub(crate) fn python(job: &Job) -> Result<Trial, SandboxError> {
    let mut trial = command([&job.python.to_string_lossy(), "-I", "-c", ""])?;
    trial.job.read_only.clone_from(&job.read_only);
    trial.job.python.clone_from(&job.python);
    Ok(trial)
}

/// Runs a command in an empty workspace; it can be done from anywhere.
pub(crate) fn run(sandbox: &dyn Sandbox, argv: &[&str]) -> Result<Execution, SandboxError> {
    let trial = Trial::new(argv.iter().map(|word| (*word).to_owned()).collect())?;
    apart(sandbox.execute(&trial.job))
}

/// Runs a future to its end on a thread and runtime of its own, so that it can be done from anywhere.
pub(crate) fn apart<T: Send>(
    work: impl Future<Output = Result<T, SandboxError>> + Send,
) -> Result<T, SandboxError> {
    let failed = |source| SandboxError::System { call: "starting a runtime", source };
    std::thread::scope(|scope| {
        let run = || {
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?.block_on(work)
        };
        let thread = std::thread::Builder::new().name("podium-probe".to_owned()).spawn_scoped(scope, run);
        thread.map_err(failed)?.join().unwrap_or_else(|_| Err(failed(io::Error::other("the probe panicked"))))
    })
}
