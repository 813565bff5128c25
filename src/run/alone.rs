//! One script of ours or of a run's, alone in the sandbox: no model, no journal, no strategy. The ladder of a new
//! competition is run so, and the best solution of a run on new rows.
//!
//! It stands in the same sandbox as an agent's code, with the same things hidden: a solution was written by a model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use podium_competition::Folders;
use podium_sandbox::{CpuSet, Job, Sandbox, scratch, workspace};
use podium_types::execution::{Execution, Program};
use tempfile::TempDir;

use crate::run::config::SandboxConfig;
use crate::run::error::RunError;
use crate::run::resources::{self, Resources};
use crate::run::site::{Site, execution_limits};

/// A sandbox that is ready for scripts, one after the other.
pub struct Alone {
    sandbox: Arc<dyn Sandbox>,
    job: Job,
    _resources: Resources,
    temporary: TempDir,
    made: u32,
}

/// A script and what stands around it.
pub struct Script {
    /// Python source.
    pub code: String,
    /// Files of the input, by name, that others stand in for.
    pub instead: Vec<(String, PathBuf)>,
    /// What lies beside the input, by name.
    pub beside: Vec<(String, PathBuf)>,
}

/// What a script left.
pub struct Left {
    /// How it went.
    pub execution: Execution,
    /// Its working folder, there as long as the sandbox is.
    pub folder: PathBuf,
}

impl Alone {
    /// Opens the sandbox and, where need be, builds the environment; `progress` hears of it. Call it inside a runtime.
    ///
    /// # Errors
    /// When the sandbox or the environment cannot work.
    pub fn open(
        site: &Site,
        config: &SandboxConfig,
        data: &Folders,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, RunError> {
        let (sandbox, environment) = site.sandbox_and_environment(config, progress)?;
        let resources = Resources::take(site, config, 1)?;
        let temporary = scratch::folder()?;
        let nothing = Program::Command { argv: Vec::new() };
        let mut job = Job::new(nothing, temporary.path(), &environment);
        job.input = Some(data.public.clone());
        job.hidden = site.hidden(data, temporary.path());
        // The folder of the job itself is the one thing of these that it may see.
        job.hidden.retain(|path| path != temporary.path());
        job.mounts.clone_from(&site.mounts);
        job.limits = execution_limits(config);
        job.limits.cpus = CpuSet::of(resources.cpus().ids().into_iter().take(config.cpus));
        job.limits.workspace_bytes = resources::disk(temporary.path(), job.limits.workspace_bytes);
        Ok(Self { sandbox, job, _resources: resources, temporary, made: 0 })
    }

    /// Runs a script as agents' code is run.
    ///
    /// # Errors
    /// When the sandbox fails; a script that fails is no error.
    pub async fn run(&mut self, script: Script, timeout: Duration) -> Result<Left, RunError> {
        self.made += 1;
        let folder = self.temporary.path().join(format!("run-{}", self.made));
        workspace::create(&folder).map_err(|source| podium_sandbox::SandboxError::Io {
            action: "creating",
            path: folder.clone(),
            source,
        })?;
        let job = Job {
            program: Program::Python { file: "solution.py".to_owned(), code: script.code },
            workspace: folder.clone(),
            input_instead: script.instead,
            beside: script.beside,
            timeout,
            ..self.job.clone()
        };
        let execution = self.sandbox.execute(&job).await?;
        Ok(Left { execution, folder })
    }

    /// A folder for files that stand in for the input's.
    pub fn place(&self) -> &Path {
        self.temporary.path()
    }
}
