//! Where a program is started: what the kinds of sandbox have to offer so that executions and sessions run in them.

use std::os::fd::OwnedFd;

use podium_types::execution::Execution;
use rustix::fs::{Gid, Uid};

use crate::{
    Facts, Job, SandboxError, Settings, finish, program,
    program::Launch,
    supervisor,
    tree::{Live, Tree},
    watch::{Plan, follow},
    watchdog::{Watchdog, Watched},
};

/// How the pipes of a session reach its program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pipes {
    /// It inherits their descriptors.
    Inherited,
    /// It opens them by name, in a folder that is mounted for it: somebody else's child inherits nothing of ours. They
    /// are given to this user, where that is another than the harness's own.
    Named(Option<(Uid, Gid)>),
}

/// A kind of sandbox in which a program is started and then followed by the harness.
pub(crate) trait Place: Clone + Send + Sync + 'static {
    /// The processes of one execution in it.
    type Tree: Tree + 'static;

    /// Starts a program. Blocks for some milliseconds. `output` is the reading end of the program's output, where the
    /// reason stands when it cannot be started.
    fn start(&self, job: &Job, launch: Launch, output: &OwnedFd) -> Result<Live<Self::Tree>, SandboxError>;

    /// Starts the program of an execution, and gives the reading end of its output.
    fn begin(&self, job: &Job) -> Result<(Live<Self::Tree>, OwnedFd), SandboxError> {
        let (launch, output) = Launch::new(program::command_line(job)?)?;
        Ok((self.start(job, launch, &output)?, output))
    }

    /// Makes ahead what the next execution can do with, where one is to follow.
    fn foresee(&self, _: &Job) {}

    /// What the sandbox was opened with.
    fn settings(&self) -> &Settings;

    /// What the probe found.
    fn found(&self) -> &Facts;

    /// How sessions' pipes reach their programs.
    fn pipes(&self) -> Pipes {
        Pipes::Inherited
    }

    /// No control group limits memory, so somebody has to look.
    fn is_polled(&self) -> bool;

    /// Looks after what no kernel interface limits here.
    fn watchdog(&self, job: &Job, tree: &Self::Tree) -> Watchdog {
        let watched = Watched {
            first: Some(tree.first()),
            beside: tree.beside(),
            memory: self.is_polled(),
            cpu: tree.clock(),
        };
        Watchdog::new(&job.workspace, &job.limits, watched)
    }
}

/// Runs a job to its end.
pub(crate) async fn execute<P: Place>(place: &P, job: &Job) -> Result<Execution, SandboxError> {
    program::refuse_check(job, place.found())?;
    let (here, copy) = (place.clone(), job.clone());
    let (mut live, output) = supervisor::run(move || {
        finish::make_ready(&copy)?;
        here.begin(&copy)
    })
    .await?;
    place.foresee(job);
    let watchdog = place.watchdog(job, &live.tree);
    let ending = follow(&mut live, output, &Plan::new(job, place.settings()), watchdog).await?;
    let evidence = live.tree.evidence(&ending.fate())?;
    finish::execution(job, ending, evidence).await
}
