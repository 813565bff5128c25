//! Running one small program while a sandbox is opened.

use std::{collections::BTreeMap, io, path::PathBuf, time::Duration};

use podium_types::execution::{Execution, Program};

use crate::{CancellationToken, Job, Limits, Sandbox, SandboxError, scratch};

/// A job in an empty workspace, which is removed with this.
pub(crate) struct Trial {
    pub(crate) job: Job,
    _workspace: tempfile::TempDir,
}

impl Trial {
    fn new(argv: Vec<String>) -> Result<Self, SandboxError> {
        let workspace = scratch::folder()?;
        let job = Job {
            program: Program::Command { argv },
            workspace: workspace.path().to_owned(),
            input: None,
            input_instead: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            python: PathBuf::from("/usr/bin/python3"),
            timeout: Duration::from_secs(20),
            limits: Limits { memory_bytes: 256 << 20, ..Limits::default() },
            env: BTreeMap::new(),
            submission: None,
            submission_check: None,
            cancel: CancellationToken::new(),
        };
        Ok(Self { job, _workspace: workspace })
    }
}

/// A trial of a job's interpreter, which does nothing.
pub(crate) fn python(job: &Job) -> Result<Trial, SandboxError> {
    let words = [&job.python.to_string_lossy(), "-I", "-c", ""];
    let mut trial = Trial::new(words.map(str::to_owned).into())?;
    trial.job.read_only.clone_from(&job.read_only);
    trial.job.python.clone_from(&job.python);
    Ok(trial)
}

/// Runs a command in an empty workspace, on a thread and runtime of its own, so that it can be done from anywhere.
pub(crate) fn run(sandbox: &dyn Sandbox, argv: &[&str]) -> Result<Execution, SandboxError> {
    let trial = Trial::new(argv.iter().map(|word| (*word).to_owned()).collect())?;
    let failed = |source| SandboxError::System { call: "starting a runtime", source };
    std::thread::scope(|scope| {
        let work = || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            runtime.block_on(sandbox.execute(&trial.job))
        };
        let thread = std::thread::Builder::new().name("podium-probe".to_owned()).spawn_scoped(scope, work);
        thread.map_err(failed)?.join().unwrap_or_else(|_| Err(failed(io::Error::other("the probe panicked"))))
    })
}
