//! The jail: bubblewrap namespaces, a system call filter, and control groups where there are any.
//!
//! Bubblewrap is started stopped (`--block-fd`): while it waits, its first process has its namespaces but has run
//! nothing, and the harness takes hold of it, sets the limits that count per user namespace, and opens the network
//! namespace's counters. That first process is number 1 of its PID namespace: when it dies the kernel kills all the
//! others, so its end is the end of everything. It also leads the program's process group, which is how SIGINT reaches
//! the program and its children, while it is itself immune to it.
//!
//! No program of ours is inside, and nothing of the host but what [`root`] lists.

mod arguments;
mod network;
mod probe;
mod root;
mod seccomp;
mod start;
mod tree;
mod warm;

use std::path::PathBuf;

use podium_types::execution::Execution;

use crate::{
    ExecutionFuture, Facts, Job, Sandbox, SandboxError, Settings,
    cgroup::Hierarchy,
    finish, program,
    program::Launch,
    tree::Tree,
    warm::Servers,
    watch::{Plan, follow},
    watchdog::Watchdog,
};

/// A jail kind that was probed on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Jail {
    bubblewrap: PathBuf,
    filters: Vec<Vec<u8>>,
    hierarchy: Option<Hierarchy>,
    settings: Settings,
    facts: Facts,
    warm: Servers,
}

impl Jail {
    /// Probes the machine.
    pub(crate) fn open(settings: &Settings) -> Result<Self, SandboxError> {
        probe::open(settings)
    }

    async fn run(&self, job: &Job) -> Result<Execution, SandboxError> {
        let (jail, copy) = (self.clone(), job.clone());
        let (mut live, output) = finish::blocking(move || {
            finish::prepare(&copy)?;
            let (launch, output) = Launch::new(program::command_line(&copy)?)?;
            let live = match warm::start(&jail, &copy, &launch) {
                Some(live) => live,
                None => start::start(&jail, &copy, launch, &output, None)?,
            };
            Ok((live, output))
        })
        .await?;
        let watchdog =
            Watchdog::new(&job.workspace, &job.limits, self.is_polled().then(|| live.tree.first()));
        let ending = follow(&mut live, output, &Plan::new(job, &self.settings), watchdog).await?;
        let evidence = live.tree.evidence(&ending.fate())?;
        finish::execution(job, ending, evidence).await
    }

    /// No control group limits memory.
    fn is_polled(&self) -> bool {
        !self.hierarchy.as_ref().is_some_and(|hierarchy| hierarchy.has("memory"))
    }
}

impl Sandbox for Jail {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn check(&self, job: &Job) -> Result<(), SandboxError> {
        root::check(job)
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(self.run(job))
    }
}
