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
mod devices;
pub(crate) mod network;
mod probe;
pub(crate) mod root;
pub(crate) mod seccomp;
mod start;

use std::{collections::BTreeMap, path::PathBuf};

use podium_types::execution::{Ended, Execution};

use crate::{
    ExecutionFuture, Facts, InForce, Job, Policy, Sandbox, SandboxError, Settings,
    cgroup::{Group, Hierarchy, Usage},
    finish::{self, Evidence, Network},
    program,
    watch::{Ending, Plan, follow},
    watchdog::{Watchdog, Watched},
};

/// A jail kind that was probed on this machine.
#[derive(Debug)]
pub(crate) struct Jail {
    bubblewrap: PathBuf,
    filters: Vec<Vec<u8>>,
    hierarchy: Option<Hierarchy>,
    settings: Settings,
    facts: Facts,
}

impl Jail {
    /// Probes the machine.
    pub(crate) fn open(settings: &Settings) -> Result<Self, SandboxError> {
        probe::open(settings)
    }

    async fn run(&self, job: &Job) -> Result<Execution, SandboxError> {
        program::refuse_check(job, &self.facts)?;
        finish::prepare(job).await?;
        let argv = program::command_line(job)?;
        let start::Running { mut live, output, mut status, counters, callbacks } =
            start::start(self, job, &argv).await?;
        let watched = Watched {
            first: Some(live.tree.first()),
            memory: !self.hierarchy.as_ref().is_some_and(|hierarchy| hierarchy.has("memory")),
            cpu: live.tree.group().and_then(Group::cpu_clock),
        };
        let watchdog = Watchdog::new(&job.workspace, &job.limits, watched);
        let ending = follow(&mut live, output, &Plan::new(job, &self.settings), watchdog).await?;
        let usage = live.tree.group().map(Group::usage).unwrap_or_default();
        let Some(ended) = ended(&ending, status.exit_code(), usage) else {
            return Err(SandboxError::Start { message: ending.output.text().trim().to_owned() });
        };
        // Bubblewrap does not wait for what runs inside, so only a control group knows its CPU time.
        let network = Network {
            refused: counters.attempts(),
            told: callbacks.map(|callbacks| callbacks.told()).unwrap_or_default(),
        };
        let evidence = Evidence { ended, usage, network, cpu: usage.cpu };
        finish::execution(job, ending, evidence).await
    }
}

impl Sandbox for Jail {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn check(&self, job: &Job) -> Result<(), SandboxError> {
        root::check(job)
    }

    fn explain(&self, job: &Job) -> Result<Policy, SandboxError> {
        let mut policy = Policy::of(&self.facts, job, BTreeMap::new());
        policy.add_words(&start::arguments(self, job)?.told())?;
        policy.refused_calls = seccomp::refused_calls();
        policy.refused_otherwise = seccomp::refused_otherwise();
        Ok(policy)
    }

    fn in_force(&self, job: &Job) -> Result<InForce, SandboxError> {
        let group = self.hierarchy.as_ref().map(|hierarchy| hierarchy.create(&job.limits)).transpose()?;
        Ok(group.as_ref().map(Group::in_force).unwrap_or_default())
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(self.run(job))
    }
}

/// How the program ended; `None` when it was never started. Bubblewrap reports a death by signal as 128 + signal, as
/// shells do, so a program that exits with such a code is taken for killed.
fn ended(ending: &Ending, exit_code: Option<i32>, usage: Usage) -> Option<Ended> {
    match exit_code {
        Some(code @ 129..=192) => Some(Ended::Signal(code - 128)),
        Some(code) => Some(Ended::Exit(code)),
        None if ending.killed || ending.limit.is_some() || usage.oom_kills > 0 => {
            Some(Ended::Signal(libc::SIGKILL))
        }
        None if ending.output.head.starts_with("bwrap: ") => None,
        None => Some(Ended::Signal(ending.reaped.signal.unwrap_or(libc::SIGKILL))),
    }
}
