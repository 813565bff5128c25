//! Running one small program while a sandbox is opened.

use std::{collections::BTreeMap, io, path::PathBuf, time::Duration};

use podium_types::execution::{Execution, Program};

use crate::{CancellationToken, GpuGrant, Job, Limits, Sandbox, SandboxError, scratch};

/// Runs a command in an empty workspace, on a thread and runtime of its own, so that it can be done from anywhere.
pub(crate) fn run(sandbox: &dyn Sandbox, argv: &[&str]) -> Result<Execution, SandboxError> {
    let workspace = scratch::folder()?;
    let job = Job {
        program: Program::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect() },
        workspace: workspace.path().to_owned(),
        input: None,
        read_only: Vec::new(),
        mounts: BTreeMap::new(),
        gpus: GpuGrant::default(),
        hidden: Vec::new(),
        python: PathBuf::from("/usr/bin/python3"),
        timeout: Duration::from_secs(20),
        limits: Limits { memory_bytes: 256 << 20, ..Limits::default() },
        env: BTreeMap::new(),
        submission: None,
        cancel: CancellationToken::new(),
    };
    let failed = |source| SandboxError::System { call: "starting a runtime", source };
    std::thread::scope(|scope| {
        let work = || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            runtime.block_on(sandbox.execute(&job))
        };
        let thread = std::thread::Builder::new().name("podium-probe".to_owned()).spawn_scoped(scope, work);
        thread.map_err(failed)?.join().unwrap_or_else(|_| Err(failed(io::Error::other("the probe panicked"))))
    })
}
