//! One copy of a fork server: the program of one execution, and what is heard of its end.

use std::{
    fmt::Write,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    net::SocketType,
    process::{Pid, Resource, Signal},
};
use tokio::runtime::Handle;

use super::{
    channel::{self, Message},
    server::Server,
};
use crate::{SandboxError, failpoint, spawn::readable};

/// How long a copy may take for one step; a loaded machine is slow.
const SETUP: Duration = Duration::from_secs(30);

/// What a copy waits for.
const GO: &str = "go";

/// What a copy is told.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// Namespaces of the jail: the last user namespace, then PID, mount, and the rest.
    pub(crate) namespaces: &'a [OwnedFd],
    /// Control groups to join, open for writing.
    pub(crate) groups: &'a [OwnedFd],
    /// Standard output and standard error.
    pub(crate) output: BorrowedFd<'a>,
    /// Limits, soft and hard alike.
    pub(crate) rlimits: &'a [(Resource, u64)],
    /// Processors it may run on.
    pub(crate) cpus: &'a [usize],
}

/// A copy in its jail: it waits for its [`go`](Self::go), and then it is the program.
#[derive(Debug)]
pub(crate) struct Copy {
    pid: Pid,
    /// The program's parent, which is beside the jail and in its namespaces.
    parent: OwnedFd,
    end: Arc<Mutex<End>>,
    /// From the program's parent, which reaps it when this is closed. Until then nothing of its jail can be wholly
    /// dead, so it must be closed at once when the end has been taken note of.
    report: Option<OwnedFd>,
    /// Keeps the first process of the jail waiting.
    _holder: OwnedFd,
}

/// What is known of a program's end.
#[derive(Debug, Default)]
struct End {
    /// Its number may be taken by another process from now on.
    over: bool,
    code: Option<i32>,
}

/// Has the server make a copy that enters a jail, and waits until it is there. Nothing of the workspace has been looked
/// at by then.
pub(crate) fn request(server: &Server, request: &Request<'_>, holder: OwnedFd) -> Result<Copy, SandboxError> {
    let (report, theirs) =
        channel::pair(SocketType::SEQPACKET).map_err(SandboxError::system("socketpair"))?;
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{words}");
    };
    line(format_args!("namespaces {}", request.namespaces.len()));
    line(format_args!("groups {}", request.groups.len()));
    line(format_args!("output 1"));
    line(format_args!("report 1"));
    let cpus: Vec<String> = request.cpus.iter().map(ToString::to_string).collect();
    line(format_args!("cpus {}", cpus.join(" ")));
    for (resource, limit) in request.rlimits {
        // Python takes it for a signed number.
        line(format_args!("rlimit {} {}", *resource as u32, (*limit).min(i64::MAX.unsigned_abs())));
    }
    let mut descriptors: Vec<BorrowedFd<'_>> =
        request.namespaces.iter().chain(request.groups).map(AsFd::as_fd).collect();
    descriptors.extend([request.output, theirs.as_fd()]);
    server.send(&text, &descriptors)?;
    drop(theirs);
    failpoint::reach("requested");

    let deadline = Instant::now() + SETUP;
    let (mut process, mut parent, mut is_there) = (None, None, false);
    while process.is_none() || !is_there {
        let mut message = heard(&report, deadline)?;
        let mut words = message.text.split(' ');
        match (words.next(), words.next()) {
            (Some("waiting"), None) => is_there = true,
            (Some("pid"), Some(number)) => {
                process = number.parse().ok().and_then(Pid::from_raw);
                parent = message.descriptors.pop();
            }
            _ => return Err(refusal(&message.text)),
        }
    }
    let (pid, parent) = process.zip(parent).ok_or_else(|| failed("no process"))?;
    Ok(Copy { pid, parent, end: Arc::default(), report: Some(report), _holder: holder })
}

/// The next message of a copy or its parent.
fn heard(report: &OwnedFd, deadline: Instant) -> Result<Message, SandboxError> {
    let message = channel::receive(report, deadline).map_err(SandboxError::system("recvmsg"))?;
    message.ok_or_else(|| failed("the server has ended"))
}

/// What a message says that is not the one waited for.
fn refusal(text: &str) -> SandboxError {
    match text.split(' ').next() {
        Some("declined") => declined(text),
        Some("ended") => declined("it ended within its limits before it began"),
        _ => failed(text),
    }
}

/// An error of a warm start; what follows is a cold one.
pub(super) fn failed(message: &str) -> SandboxError {
    SandboxError::Start { message: format!("warm start: {message}") }
}

/// The server serves, but not this job: nothing that other jobs have to suffer from.
fn declined(message: &str) -> SandboxError {
    SandboxError::Job { message: format!("warm start: {message}") }
}

impl Copy {
    /// Lets it go on, and waits until it is about to run its script: the workspace has to be as the script is to find
    /// it.
    pub(crate) fn go(&self) -> Result<(), SandboxError> {
        let report = self.report.as_ref().ok_or_else(|| failed("followed before it began"))?;
        channel::send(report, GO, &[]).map_err(SandboxError::system("sendmsg"))?;
        failpoint::reach("going");
        let message = heard(report, Instant::now() + SETUP)?;
        if message.text == "ready" { Ok(()) } else { Err(refusal(&message.text)) }
    }

    /// The program's process.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// To wait for the end of the program's parent, which comes a moment after that of the jail.
    pub(crate) fn parent(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }

    /// Sends a signal to the program's group, which it leads.
    pub(crate) fn signal(&self, signal: Signal) {
        let end = lock(&self.end);
        if !end.over {
            // Fails only when there is nobody left.
            let _ = rustix::process::kill_process_group(self.pid, signal);
        }
    }

    /// How the program ended, by its parent's word, a signal as 128 + its number; absent when that was killed.
    pub(crate) fn code(&self) -> Option<i32> {
        lock(&self.end).code
    }

    /// Ends the jail, by its first process, when the program has ended, as a jail ends with its program in a cold
    /// start. Must be called inside a Tokio runtime.
    pub(crate) fn end_with(&mut self, first: OwnedFd) -> Result<(), SandboxError> {
        let runtime = Handle::try_current().map_err(|_| failed("outside of a runtime"))?;
        let report = self.report.take().ok_or_else(|| failed("followed twice"))?;
        let end = Arc::clone(&self.end);
        runtime.spawn(async move {
            let code = last_word(&report).await;
            *lock(&end) = End { over: true, code };
            drop(report);
            // It may be dead already.
            let _ = rustix::process::pidfd_send_signal(&first, Signal::KILL);
        });
        Ok(())
    }
}

/// What a panic left is a whole state all the same.
fn lock(end: &Mutex<End>) -> MutexGuard<'_, End> {
    end.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the exit code.
async fn last_word(report: &OwnedFd) -> Option<i32> {
    let socket = readable(report.as_fd()).ok()?;
    loop {
        let mut guard = socket.readable().await.ok()?;
        match channel::take(report.as_fd()) {
            Ok(Some(message)) => {
                if let Some(code) = message.text.strip_prefix("ended ") {
                    return code.parse().ok();
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => guard.clear_ready(),
            Ok(None) | Err(_) => return None,
        }
    }
}
