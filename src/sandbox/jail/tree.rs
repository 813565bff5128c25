//! The processes of a jail, and what bubblewrap tells of them.

use std::{
    fs::File,
    io::Read,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use podium_types::execution::Ended;
use rustix::{
    event::{PollFd, PollFlags, Timespec},
    process::{Pid, Signal},
};
use serde::Deserialize;

use super::network::Counters;
use crate::{
    SandboxError,
    callback::{Bound, Callbacks, Offered},
    cgroup::{CpuClock, Group, Usage},
    finish::{Evidence, Network},
    tree::{Fate, Killer, Tree},
    warm::Copy,
};

/// The processes of a jail, by the first of its PID namespace.
pub(crate) struct JailTree {
    first: Pid,
    first_fd: OwnedFd,
    group: Option<Group>,
    status: Status,
    counters: Option<Counters>,
    /// Until they are served.
    bound: Option<Bound>,
    /// Served until they are dropped.
    callbacks: Option<Callbacks>,
    warm: Option<Copy>,
}

impl JailTree {
    pub(super) fn new(
        first: Pid,
        first_fd: OwnedFd,
        group: Option<Group>,
        status: Status,
        counters: Counters,
    ) -> Self {
        let counters = Some(counters);
        Self { first, first_fd, group, status, counters, bound: None, callbacks: None, warm: None }
    }

    /// Keeps the ports of the jail until they are served.
    pub(super) fn bind(&mut self, ports: Bound) {
        self.bound = Some(ports);
    }

    /// Has the ports of the jail served for as long as it lives.
    pub(super) fn serve(&mut self, offered: &Offered) -> Result<(), SandboxError> {
        self.callbacks = self.bound.take().map(|bound| bound.serve(offered)).transpose()?;
        Ok(())
    }

    /// Its program is a copy that has entered it, not what bubblewrap started.
    pub(super) fn become_warm(&mut self, copy: Copy) {
        self.warm = Some(copy);
    }

    /// Lets the copy that has entered it go on to its script.
    pub(super) fn go(&mut self) -> Result<(), SandboxError> {
        let first = self.first_fd()?;
        self.warm.as_mut().map_or(Ok(()), |copy| copy.go().and_then(|()| copy.end_with(first)))
    }

    /// The first process, to watch or to kill.
    pub(super) fn first_fd(&self) -> Result<OwnedFd, SandboxError> {
        self.first_fd.try_clone().map_err(|source| SandboxError::System { call: "dup", source })
    }

    /// The files by which a process joins the control group, where there is one.
    pub(super) fn procs(&self) -> Result<Vec<OwnedFd>, SandboxError> {
        Ok(self.group.as_ref().map(Group::procs).transpose()?.unwrap_or_default())
    }

    /// The first process has not ended.
    pub(super) fn is_alive(&self) -> bool {
        let mut fds = [PollFd::new(&self.first_fd, PollFlags::IN)];
        rustix::event::poll(&mut fds, Some(&Timespec::default())) == Ok(0)
    }

    /// Sends a signal to the program's group, which the first process leads. While that is alive, its number is still
    /// its own.
    fn signal(&self, signal: Signal) {
        if let Some(copy) = &self.warm {
            return copy.signal(signal);
        }
        if self.is_alive() {
            // Fails only when there is nobody left.
            let _ = rustix::process::kill_process_group(self.first, signal);
        }
    }
}

impl Tree for JailTree {
    fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn kill(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.first_fd, Signal::KILL);
    }

    fn killer(&self) -> Killer {
        let first = self.first_fd.try_clone();
        Box::new(move || {
            if let Ok(first) = &first {
                let _ = rustix::process::pidfd_send_signal(first, Signal::KILL);
            }
        })
    }

    fn last(&self) -> Vec<BorrowedFd<'_>> {
        let beside = self.warm.as_ref().map(Copy::parent);
        [self.first_fd.as_fd()].into_iter().chain(beside).collect()
    }

    fn first(&self) -> Pid {
        self.first
    }

    fn beside(&self) -> Option<Pid> {
        self.warm.as_ref().map(Copy::pid)
    }

    fn usage(&self) -> Usage {
        self.group.as_ref().map(Group::usage).unwrap_or_default()
    }

    fn clock(&self) -> Option<CpuClock> {
        self.group.as_ref().and_then(Group::cpu_clock)
    }

    fn evidence(&mut self, fate: &Fate<'_>) -> Result<Evidence, SandboxError> {
        let usage = self.usage();
        let ended = match &self.warm {
            Some(copy) => Some(copy.code().map_or(Ended::Signal(libc::SIGKILL), exited)),
            None => ended(fate, self.status.exit_code(), usage),
        };
        let Some(ended) = ended else {
            return Err(SandboxError::Start { message: fate.output.text().trim().to_owned() });
        };
        // Bubblewrap does not wait for what runs inside, so only a control group knows its CPU time.
        let network = Network {
            refused: self.counters.take().map_or(0, Counters::attempts),
            told: self.callbacks.take().map(|callbacks| callbacks.told()).unwrap_or_default(),
        };
        Ok(Evidence { ended, usage, network, cpu: usage.cpu, warm: self.warm.is_some() })
    }
}

/// How the program ended; `None` when it was never started. Bubblewrap reports a death by signal as 128 + signal, as
/// shells do, so a program that exits with such a code is taken for killed.
fn ended(fate: &Fate<'_>, exit_code: Option<i32>, usage: Usage) -> Option<Ended> {
    match exit_code {
        Some(code) => Some(exited(code)),
        None if fate.killed || usage.oom_kills > 0 => Some(Ended::Signal(libc::SIGKILL)),
        None if fate.output.head.starts_with("bwrap: ") => None,
        None => Some(Ended::Signal(fate.reaped.signal.unwrap_or(libc::SIGKILL))),
    }
}

/// A death by signal is told as 128 + signal, as shells do.
fn exited(code: i32) -> Ended {
    match code {
        129..=192 => Ended::Signal(code - 128),
        code => Ended::Exit(code),
    }
}

/// What bubblewrap tells on its status descriptor, a line of JSON at a time. A line may arrive in pieces.
pub(super) struct Status {
    text: Vec<u8>,
    pipe: File,
    whole: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct StatusLine {
    child_pid: Option<i32>,
    exit_code: Option<i32>,
}

impl Status {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        // Where this fails, reading waits for the end of bubblewrap, which comes.
        let _ = rustix::io::ioctl_fionbio(&pipe, true);
        Self { text: Vec::new(), pipe: pipe.into(), whole: false }
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads what has come.
    pub(super) fn read(&mut self) {
        let mut more = [0_u8; 4096];
        loop {
            match self.pipe.read(&mut more) {
                Ok(0) => {
                    self.whole = true;
                    return;
                }
                Ok(count) => self.text.extend(more.iter().take(count)),
                Err(_) => return,
            }
        }
    }

    /// The other end is closed.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    fn lines(&self) -> impl Iterator<Item = StatusLine> + '_ {
        let whole = self.text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let lines = self.text.get(..whole).unwrap_or_default();
        lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
    }

    /// The number of the first process inside, once it is known.
    pub(super) fn first(&self) -> Option<Pid> {
        self.lines().find_map(|line| line.child_pid).and_then(Pid::from_raw)
    }

    /// The program's exit code; absent when it was never started or bubblewrap was killed. To be called at the end.
    fn exit_code(&mut self) -> Option<i32> {
        self.read();
        self.lines().find_map(|line| line.exit_code)
    }
}
