//! The jail: bubblewrap namespaces, a system call filter, and control groups where there are any.
//!
//! Bubblewrap is started stopped (`--block-fd`): while it waits, its first process has its namespaces but has run
//! nothing, and the harness takes hold of it, sets the limits that count per user namespace, and opens the network
//! namespace's counters. That first process is number 1 of its PID namespace: when it dies the kernel kills all the
//! others, so its end is the end of everything. It also leads the program's process group, which is how SIGINT reaches
//! the program and its children, while it is itself immune to it.
//!
//! A script may begin as a copy of an interpreter that is up already ([`warm`]), and find its jail made ([`ahead`]).
//!
//! No program of ours is inside, and nothing of the host but what [`root`] lists.

mod ahead;
mod arguments;
mod devices;
mod etc;
pub(crate) mod network;
mod nodes;
mod probe;
pub(crate) mod root;
pub(crate) mod seccomp;
mod start;
mod tree;
mod warm;

use ahead::Ahead;
pub(crate) use arguments::Finished;

use std::{collections::BTreeMap, io, os::fd::OwnedFd, path::PathBuf};

use crate::{
    DialogueFuture, ExecutionFuture, Expected, Facts, InForce, Job, Policy, Sandbox, SandboxError,
    SessionFuture, SessionJob, Settings,
    cgroup::Groups,
    place::{Place, execute},
    program::{self, Launch},
    session,
    tree::Live,
    warm::Servers,
    workspace,
};

/// A jail kind that was probed on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Jail {
    bubblewrap: PathBuf,
    filters: Vec<Vec<u8>>,
    groups: Option<Groups>,
    settings: Settings,
    facts: Facts,
    nodes: nodes::Nodes,
    etc: etc::Etc,
    warm: Servers,
    ahead: Ahead,
}

impl Jail {
    /// Probes the machine.
    pub(crate) fn open(settings: &Settings) -> Result<Self, SandboxError> {
        probe::open(settings)
    }
}

impl Place for Jail {
    type Tree = tree::JailTree;

    fn start(&self, job: &Job, launch: Launch, output: &OwnedFd) -> Result<Live<Self::Tree>, SandboxError> {
        match warm::start(self, job, &launch) {
            Some(live) => Ok(live),
            None => start::start(self, job, launch, output, None),
        }
    }

    fn begin(&self, job: &Job) -> Result<(Live<Self::Tree>, OwnedFd), SandboxError> {
        let argv = program::command_line(job)?;
        if let Some(begun) = ahead::go(self, job) {
            return Ok(begun);
        }
        let (launch, output) = Launch::new(argv)?;
        Ok((self.start(job, launch, &output)?, output))
    }

    fn foresee(&self, job: &Job) {
        if job.more_follow {
            // Whoever comes next finds it, or does not.
            drop(ahead::expect(self, job));
        }
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn found(&self) -> &Facts {
        &self.facts
    }

    fn is_polled(&self) -> bool {
        !self.groups.as_ref().is_some_and(|groups| groups.has("memory"))
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
        self.groups.as_ref().map_or_else(|| Ok(InForce::default()), |groups| groups.in_force(&job.limits))
    }

    fn warm_up(&self, job: &Job) {
        warm::warm_up(self, job);
    }

    fn expect(&self, job: &Job) -> Expected {
        ahead::expect(self, job)
    }

    fn make_workspace(&self, job: &Job) -> io::Result<bool> {
        let is_placed = ahead::place(self, job);
        if !is_placed {
            workspace::create(&job.workspace)?;
        }
        Ok(is_placed)
    }

    fn rest(&self) {
        ahead::rest(self);
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(execute(self, job))
    }

    fn open_dialogue<'a>(&'a self, job: &'a Job) -> DialogueFuture<'a> {
        Box::pin(session::dialogue::open(self, job))
    }

    fn open_session<'a>(&'a self, job: &'a SessionJob) -> SessionFuture<'a> {
        Box::pin(session::open(self, job))
    }
}
