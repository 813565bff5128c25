//! The processes of one execution or session, as a whole, from their start to the death of the last.
//!
//! What follows a program to its end ([`follow`](crate::watch::follow) for an execution, a task of its own for a
//! session) sees the kinds of sandbox only through [`Tree`]. Dropped before its end, a [`Live`] tree is killed.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use podium_types::execution::Output;
use rustix::process::Pid;
use tokio::time::timeout;

use crate::{
    SandboxError,
    cgroup::{CpuClock, Usage},
    finish::Evidence,
    reader::Reader,
    spawn::{Reaped, Started, readable},
};

/// How long a killed tree may take to die before that is an error.
pub(crate) const STUCK: Duration = Duration::from_secs(20);

/// Kills a tree from afar.
pub(crate) type Killer = Box<dyn Fn() + Send + Sync>;

/// The processes of an execution, as a whole.
pub(crate) trait Tree: Send + Sync {
    /// Sends SIGINT to the program's group.
    fn interrupt(&self);
    /// Sends SIGCONT to the program's group: what has stopped itself does not see an interrupt.
    fn resume(&self);
    /// Sends SIGKILL to everything.
    fn kill(&self);
    /// Does what [`Self::kill`] does for somebody who does not have the tree, and nothing when it is dead.
    fn killer(&self) -> Killer;
    /// Descriptors that have all become readable when everything but the direct child is dead.
    fn last(&self) -> Vec<BorrowedFd<'_>>;
    /// The process that all others descend from, by its number outside.
    fn first(&self) -> Pid;
    /// One that belongs to the tree without descending from the first.
    fn beside(&self) -> Option<Pid> {
        None
    }
    /// Those between the first and what the program starts, the program's own included, where they cannot be told by
    /// their number inside.
    fn own(&self) -> Vec<Pid> {
        Vec::new()
    }
    /// What the control group counted so far.
    fn usage(&self) -> Usage;
    /// The control group's count of CPU time, where there is one.
    fn clock(&self) -> Option<CpuClock>;
    /// What is known when everything is dead; an error when the program was never started.
    fn evidence(&mut self, fate: &Fate<'_>) -> Result<Evidence, SandboxError>;
}

/// What following a program has shown of its end.
pub(crate) struct Fate<'a> {
    /// How the direct child ended.
    pub(crate) reaped: Reaped,
    /// We sent SIGKILL before the program had ended.
    pub(crate) killed: bool,
    /// What was printed; where the program was never started, why.
    pub(crate) output: &'a Output,
}

/// The process whose end is that of the program.
pub(crate) enum Lead {
    /// A child of the harness.
    Child(Started),
    /// A child of somebody else's, who reaps it.
    Foreign(OwnedFd),
}

impl Lead {
    /// Becomes readable when it has ended.
    pub(crate) fn pidfd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Child(child) => child.pidfd(),
            Self::Foreign(pidfd) => pidfd.as_fd(),
        }
    }

    /// Takes its status. Of another's child nothing is told here: its tree has the evidence.
    fn reap(self) -> io::Result<Reaped> {
        match self {
            Self::Child(child) => child.reap(),
            Self::Foreign(_) => Ok(Reaped { code: None, signal: None, cpu: Duration::ZERO }),
        }
    }
}

impl From<Started> for Lead {
    fn from(child: Started) -> Self {
        Self::Child(child)
    }
}

/// An execution in progress: its processes, and the one that stands for them. Dropped before its end, it kills them
/// all; a child is reaped last, so that no number can have been taken by a stranger before.
pub(crate) struct Live<T: Tree> {
    pub(crate) tree: T,
    child: Option<Lead>,
}

impl<T: Tree> Live<T> {
    pub(crate) fn new(tree: T, child: impl Into<Lead>) -> Self {
        Self { tree, child: Some(child.into()) }
    }

    /// The process that stands for the program; `None` when the tree has been buried.
    pub(crate) fn child(&self) -> Option<&Lead> {
        self.child.as_ref()
    }

    /// Kills what is left, waits until it is dead, reads the last output, and reaps the child. To be called when the
    /// child has ended or was killed.
    pub(crate) async fn bury(
        &mut self,
        reader: &mut Reader,
        drain: Duration,
    ) -> Result<Reaped, SandboxError> {
        self.tree.kill();
        for last in self.tree.last() {
            let gone = readable(last).map_err(poll_failed)?;
            let _ready = timeout(STUCK, gone.readable()).await.map_err(|_| stuck())?.map_err(poll_failed)?;
        }
        reader.drain(drain).await;
        let Some(child) = self.child.take() else { return Err(stuck()) };
        child.reap().map_err(|source| SandboxError::System { call: "wait4", source })
    }
}

impl<T: Tree> Drop for Live<T> {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.tree.kill();
        }
    }
}

/// For `map_err`: waiting for a descriptor failed.
pub(crate) fn poll_failed(source: std::io::Error) -> SandboxError {
    SandboxError::System { call: "epoll", source }
}

/// The error for what SIGKILL did not end.
pub(crate) fn stuck() -> SandboxError {
    SandboxError::Stuck { seconds: STUCK.as_secs() }
}
