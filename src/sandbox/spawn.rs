//! Starting a child with exactly what it may have, and reaping it.
//!
//! This is the only file with unsafe code. Between fork and exec the child joins its control groups, takes its
//! affinity and limits, and marks every descriptor to be closed except the named ones; nothing there allocates or
//! takes a lock. A [`Started`] child that is dropped is killed and reaped.
#![expect(unsafe_code, reason = "work between fork and exec, and wait4 for the resource usage")]

use std::{
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
    time::Duration,
};

use rustix::{
    fs::{Mode, OFlags},
    io::FdFlags,
    process::{Pid, PidfdFlags, Resource, Rlimit, Signal},
    thread::{CpuSet, LinkNameSpaceType},
};
use tokio::io::{Interest, unix::AsyncFd};

/// What the child does to itself between fork and exec.
#[derive(Debug, Default)]
pub(crate) struct Preparation {
    /// Files of the control groups to join, open for writing.
    pub(crate) cgroups: Vec<OwnedFd>,
    /// Processors it may run on.
    pub(crate) affinity: Option<CpuSet>,
    /// Limits, soft and hard alike.
    pub(crate) rlimits: Vec<(Resource, u64)>,
    /// Descriptors it keeps, under their numbers, besides the standard ones.
    pub(crate) inherit: Vec<OwnedFd>,
    /// Become the leader of a session and group of its own.
    pub(crate) new_session: bool,
    /// A user namespace to enter at the end.
    pub(crate) user_namespace: Option<OwnedFd>,
    /// It sees by itself when the harness has died, and is not killed then.
    pub(crate) sees_our_end: bool,
}

/// A direct child that is not reaped yet, so its number cannot be taken by another process.
#[derive(Debug)]
pub(crate) struct Started {
    pid: Pid,
    pidfd: OwnedFd,
    reaped: bool,
}

/// How a direct child ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    /// Exit code, when it exited.
    pub(crate) code: Option<i32>,
    /// Signal, when one ended it.
    pub(crate) signal: Option<i32>,
    /// CPU time of the child and of all that it waited for.
    pub(crate) cpu: Duration,
}

impl Started {
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    pub(crate) fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Kills the child itself; what it started is the tree's business.
    pub(crate) fn kill(&self) {
        // It may have ended already.
        let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Waits for the child and takes its status.
    pub(crate) fn reap(mut self) -> io::Result<Reaped> {
        self.reaped = true;
        wait(self.pid)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let pid = self.pid;
            // A thread of its own: a child in uninterruptible sleep must hold up nobody.
            let _ = std::thread::Builder::new().name("podium-reap".to_owned()).spawn(move || wait(pid));
        }
    }
}

/// To wait until a descriptor can be read, which for a process means that it has ended.
pub(crate) fn readable(fd: BorrowedFd<'_>) -> io::Result<AsyncFd<BorrowedFd<'_>>> {
    // SAFETY: the borrow keeps the descriptor open and its number the same for as long as the registration lives.
    unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }.map_err(io::Error::from)
}

/// Starts the command. Must be called on a thread that lives as long as the child may: the parent-death signal
/// follows the thread.
pub(super) fn spawn(mut command: Command, preparation: Preparation) -> io::Result<Started> {
    let parent = rustix::process::getpid();
    // SAFETY: `Preparation::apply` only makes system calls on memory that exists before the fork. It neither
    // allocates nor takes locks, as is required in the child of a process with threads.
    unsafe {
        command.pre_exec(move || preparation.apply(parent));
    }
    let child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    Ok(Started { pid, pidfd, reaped: false })
}

impl Preparation {
    /// Runs in the child.
    fn apply(&self, parent: Pid) -> io::Result<()> {
        if !self.sees_our_end {
            die_with(parent)?;
        }
        // Before the session: a new one would be a scheduling group of its own otherwise, and each change of such
        // groups costs a turn on a busy machine.
        for procs in &self.cgroups {
            rustix::io::write(procs, b"0")?;
        }
        if self.new_session {
            rustix::process::setsid()?;
        }
        prefer_for_oom();
        if let Some(affinity) = &self.affinity {
            rustix::thread::sched_setaffinity(None, affinity)?;
        }
        for (resource, limit) in &self.rlimits {
            // Lowering works for everyone; a lower limit that is in force already stays.
            let now = rustix::process::getrlimit(*resource);
            let limit = now.maximum.map_or(*limit, |maximum| maximum.min(*limit));
            rustix::process::setrlimit(*resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        }
        close_on_exec_from(3)?;
        for fd in &self.inherit {
            rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
        }
        if let Some(namespace) = &self.user_namespace {
            rustix::thread::move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::User))?;
            // The kernel forgets it when credentials change.
            die_with(parent)?;
        }
        Ok(())
    }
}

/// Has the kernel kill this process when its parent dies, which may have come before: nobody would be told of that, and
/// nobody would ever end this process.
fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
}

/// Makes the kernel choose this process before the harness when memory runs out. Best effort: it is no limit.
fn prefer_for_oom() {
    if let Ok(file) =
        rustix::fs::open(c"/proc/self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
    {
        let _ = rustix::io::write(&file, b"1000");
    }
}

/// Marks every descriptor from `first` on to be closed at exec.
fn close_on_exec_from(first: libc::c_uint) -> io::Result<()> {
    // SAFETY: a plain system call on numbers; it closes nothing now.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `wait4`, which unlike `waitid` in the standard library also tells the CPU time.
fn wait(pid: Pid) -> io::Result<Reaped> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live locals of the right types.
        let result = unsafe { libc::wait4(pid.as_raw_pid(), &raw mut status, 0, usage.as_mut_ptr()) };
        if result >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: zeroed is a valid rusage, and wait4 has filled it.
    let usage = unsafe { usage.assume_init() };
    Ok(Reaped {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
    })
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}
