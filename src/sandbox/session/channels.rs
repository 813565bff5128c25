//! The pipes between the harness and a session.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    os::fd::{AsRawFd, OwnedFd},
};

use podium_types::session::SessionKind;
use rustix::fs::{Mode, OFlags};
use tokio::{io::AsyncWriteExt, net::unix::pipe};

use super::{
    SessionJob, kernel,
    language::Language,
    names::{self, CALLS, CONTROL, INPUT, Names, OUTPUT, PROGRAM},
    shell::Shell,
};
use crate::{
    SandboxError,
    place::Pipes,
    program::{Launch, pipe_pair},
    tree::poll_failed,
};

/// Inherited descriptors stand from here on, clear of those that commands and the shell's own lines use.
const FIRST_NUMBER: i32 = 100;

/// The harness's ends.
pub(super) struct Ends {
    /// What is printed.
    pub(super) output: OwnedFd,
    /// What is told of the ends of calls.
    pub(super) control: OwnedFd,
    /// Calls.
    pub(super) calls: OwnedFd,
    /// The reading end of commands' standard input, which is theirs as well.
    pub(super) input: Option<OwnedFd>,
}

/// A session's channels and what was made of them.
pub(super) struct Opened {
    pub(super) launch: Launch,
    pub(super) ends: Ends,
    pub(super) language: Language,
    /// What the program has to open by name, until it has said that it is there.
    pub(super) names: Option<Names>,
}

/// Makes the pipes, and the command line that is told of their other ends.
pub(super) fn open(job: &SessionJob, pipes: Pipes) -> Result<Opened, SandboxError> {
    match pipes {
        Pipes::Inherited => inherited(job),
        Pipes::Named(owner) => named(job, Names::create(owner)?),
    }
}

fn inherited(job: &SessionJob) -> Result<Opened, SandboxError> {
    let (calls_read, calls) = pipe_pair()?;
    let (control, control_write) = pipe_pair()?;
    let control_write = raised(control_write)?;
    let (mut launch, output) = Launch::new(Vec::new())?;
    match job.kind {
        SessionKind::Shell => {
            let (input, input_write) = pipe_pair()?;
            drop(input_write);
            let theirs = raised(duplicate(&input)?)?;
            let printed = raised(duplicate(&launch.output)?)?;
            let numbers = [&theirs, &printed, &control_write].map(AsRawFd::as_raw_fd);
            let shell = Shell::inheriting(job.shell(), numbers);
            launch.argv = shell.argv();
            launch.stdin = Some(calls_read);
            launch.inherit = vec![theirs, printed, control_write];
            let ends = Ends { output, control, calls, input: Some(input) };
            Ok(Opened { launch, ends, language: Language::Shell(shell), names: None })
        }
        SessionKind::Kernel => {
            let (program, program_write) = pipe_pair()?;
            // It fits into the pipe, so nobody has to read meanwhile.
            let mut left = kernel::PROGRAM.as_bytes();
            while !left.is_empty() {
                let count = rustix::io::write(&program_write, left).map_err(SandboxError::system("write"))?;
                left = left.get(count..).unwrap_or_default();
            }
            let (program, cells) = (raised(program)?, raised(calls_read)?);
            let numbers = [&program, &cells, &control_write].map(|end| end.as_raw_fd().to_string());
            launch.argv = kernel::argv(&job.job.python, numbers);
            launch.inherit = vec![program, cells, control_write];
            let ends = Ends { output, control, calls, input: None };
            Ok(Opened { launch, ends, language: Language::Kernel, names: None })
        }
    }
}

/// The same with pipes that have names. The program's ends are open here as well, in the launch: what is written before
/// it has opened its own is not lost, and what it opens never waits.
fn named(job: &SessionJob, names: Names) -> Result<Opened, SandboxError> {
    let (calls_read, calls) = names.pipe(CALLS)?;
    let (control, control_write) = names.pipe(CONTROL)?;
    let (output, output_write) = names.pipe(OUTPUT)?;
    let inherit = vec![calls_read, control_write];
    let (argv, from, input, language) = match job.kind {
        SessionKind::Shell => {
            let (input, _) = names.pipe(INPUT)?;
            let shell = Shell::opening(job.shell(), &[INPUT, OUTPUT, CONTROL].map(names::inside));
            (shell.argv(), names::inside(CALLS), Some(input), Language::Shell(shell))
        }
        SessionKind::Kernel => {
            names.file(PROGRAM, kernel::PROGRAM)?;
            let argv = kernel::argv(&job.job.python, [PROGRAM, CALLS, CONTROL].map(names::inside));
            (argv, "/dev/null".to_owned(), None, Language::Kernel)
        }
    };
    let redirect = format!("exec \"$@\" <{from} >{} 2>&1", names::inside(OUTPUT));
    let words = ["/bin/sh", "-c", &redirect, "sh"].map(OsString::from).into_iter();
    let launch = Launch {
        argv: words.chain(argv).collect(),
        stdin: None,
        spoken: None,
        output: output_write,
        inherit,
    };
    let ends = Ends { output, control, calls, input };
    Ok(Opened { launch, ends, language, names: Some(names) })
}

fn duplicate(fd: &OwnedFd) -> Result<OwnedFd, SandboxError> {
    fd.try_clone().map_err(|source| SandboxError::System { call: "dup", source })
}

fn raised(fd: OwnedFd) -> Result<OwnedFd, SandboxError> {
    if fd.as_raw_fd() >= FIRST_NUMBER {
        return Ok(fd);
    }
    rustix::io::fcntl_dupfd_cloexec(&fd, FIRST_NUMBER).map_err(SandboxError::system("fcntl"))
}

/// A pipe that is written when there is room. One that nobody reads any more swallows everything.
pub(super) struct Feed {
    pipe: Option<pipe::Sender>,
    pending: VecDeque<u8>,
}

impl Feed {
    pub(super) fn new(pipe: OwnedFd) -> Result<Self, SandboxError> {
        let pipe = pipe::Sender::from_owned_fd(pipe).map_err(poll_failed)?;
        Ok(Self { pipe: Some(pipe), pending: VecDeque::new() })
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.pipe.is_some() {
            self.pending.extend(bytes);
        }
    }

    pub(super) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Writes once; may be dropped while it waits.
    pub(super) async fn flush(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let (bytes, _) = self.pending.as_slices();
        match pipe.write(bytes).await {
            Ok(count) => drop(self.pending.drain(..count)),
            Err(_) => {
                self.pipe = None;
                self.pending.clear();
            }
        }
    }
}

/// Reads what is in a pipe at this moment and no more: a command can open its input for writing as well, and one that
/// writes without pause would hold up whoever reads to the end.
fn discard(pipe: &OwnedFd) {
    let mut buffer = [0_u8; 8 << 10];
    let mut left = rustix::io::ioctl_fionread(pipe).unwrap_or(0);
    while left > 0 {
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        match rustix::io::read(pipe, buffer.get_mut(..room).unwrap_or_default()) {
            Ok(count @ 1..) => left = left.saturating_sub(count as u64),
            _ => return,
        }
    }
}

/// The standard input of commands. It can end for one of them and be there again for the next, because the writing end
/// is opened through the reading end, which the harness holds as well.
pub(super) struct Input {
    read: OwnedFd,
    feed: Option<Feed>,
    end: bool,
}

impl Input {
    pub(super) fn new(read: OwnedFd) -> Result<Self, SandboxError> {
        let mut input = Self { read, feed: None, end: false };
        input.renew()?;
        Ok(input)
    }

    /// Drops what was not read, and opens the input again if it had ended.
    pub(super) fn renew(&mut self) -> Result<(), SandboxError> {
        self.end = false;
        // A description of its own: the other one is the commands', and must keep blocking.
        let left = self.open(OFlags::RDONLY).map_err(SandboxError::io("opening", "/proc/self/fd"))?;
        let writer = self.open(OFlags::WRONLY).map_err(SandboxError::io("opening", "/proc/self/fd"))?;
        discard(&left);
        self.feed = Some(Feed::new(writer)?);
        Ok(())
    }

    fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let path = format!("/proc/self/fd/{}", self.read.as_raw_fd());
        Ok(rustix::fs::open(path, flags | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// Queues text; with `end` the input ends after it.
    pub(super) fn push(&mut self, text: &[u8], end: bool) {
        if let Some(feed) = &mut self.feed
            && !self.end
        {
            feed.push(text);
            self.end = end;
        }
        self.settle();
    }

    pub(super) fn is_pending(&self) -> bool {
        self.feed.as_ref().is_some_and(Feed::is_pending)
    }

    /// Writes once; may be dropped while it waits.
    pub(super) async fn flush(&mut self) {
        if let Some(feed) = &mut self.feed {
            feed.flush().await;
        }
        self.settle();
    }

    /// Ends the input when everything was written.
    fn settle(&mut self) {
        if self.end && !self.is_pending() {
            self.feed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_is_written_without_pause_is_renewed_all_the_same() {
        let (read, write) = pipe_pair().unwrap();
        rustix::io::ioctl_fionbio(&write, true).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _inside = runtime.enter();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        let _ = rustix::io::write(&write, &[0; 8 << 10]);
                    }
                });
            }
            let mut input = Input::new(read).unwrap();
            for _ in 0..100 {
                input.renew().unwrap();
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
