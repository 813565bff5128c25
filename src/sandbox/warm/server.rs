//! The process of a fork server: starting it, and asking it for copies.

use std::{
    ffi::OsString,
    fmt::Write,
    io::Read,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use rustix::{net::SocketType, process::Resource};

use super::{Profile, channel, copy::failed};
use crate::{
    Job, SandboxError, failpoint, finish,
    jail::Finished,
    program::{Launch, pipe_pair},
    spawn::{Preparation, Started},
    supervisor,
};

/// Imports take seconds on a cold disk.
const IMPORTS_TAKE: Duration = Duration::from_mins(2);

/// The program, without the lines that say where it is: one text, in this order.
const PROGRAM: [&str; 7] = [
    include_str!("python/start.py"),
    include_str!("python/recorder.py"),
    include_str!("python/hidden.py"),
    include_str!("python/ending.py"),
    include_str!("python/imports.py"),
    include_str!("python/kernel.py"),
    include_str!("python/serve.py"),
];

/// A fork server that is ready. Ended when dropped; the copies it made live on.
#[derive(Debug)]
pub(crate) struct Server {
    control: OwnedFd,
    user_namespace: OwnedFd,
    _process: Started,
    /// Never read: the server prints nothing any more.
    _output: OwnedFd,
}

/// The program's text, for a server whose text is at `folder` and whose copies work in `workspace`.
pub(crate) fn source(
    control: i32,
    folder: &str,
    workspace: &str,
    profile: Profile,
    filters: &[Vec<u8>],
) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{words}");
    };
    line(format_args!("CONTROL = {control}"));
    line(format_args!("FOLDER = {folder:?}"));
    line(format_args!("WORKSPACE = {workspace:?}"));
    line(format_args!("IMPORTS = {:?}", profile.imports()));
    line(format_args!("FILTERS = [bytes(code) for code in {filters:?}]"));
    text + &PROGRAM.join("\n\n")
}

impl Server {
    /// Starts a server and waits until its imports are done. `arguments` makes bubblewrap's arguments for a control
    /// socket of this number.
    pub(crate) fn start(
        bubblewrap: &Path,
        job: &Job,
        arguments: impl FnOnce(i32) -> Result<Finished, SandboxError>,
        argv: Vec<OsString>,
    ) -> Result<Self, SandboxError> {
        let (control, theirs) =
            channel::pair(SocketType::SEQPACKET).map_err(SandboxError::system("socketpair"))?;
        let Finished { line, mut inherit } = arguments(theirs.as_raw_fd())?;
        inherit.push(theirs);
        let (output, output_write) = pipe_pair()?;
        let mut launch =
            Launch { argv, stdin: None, spoken: None, output: output_write, inherit: Vec::new() };
        let [stdin, stdout, stderr] = launch.streams()?;
        let mut command = Command::new(bubblewrap);
        command.args(line).arg("--").args(&launch.argv).env_clear();
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let preparation = Preparation {
            affinity: Some(finish::affinity(&job.limits)),
            rlimits: vec![(Resource::Core, 0)],
            inherit,
            new_session: true,
            // By the end of its socket. Bubblewrap that is killed while it starts leaves a child behind, which waits for
            // a word of it for good; that of a jail is in a control group, to be swept.
            sees_our_end: true,
            ..Preparation::default()
        };
        let process = supervisor::spawn(command, preparation)?;
        drop(launch);
        failpoint::reach("server");

        let message = channel::receive(&control, Instant::now() + IMPORTS_TAKE)
            .map_err(SandboxError::system("recvmsg"))?;
        match message {
            Some(mut message) if message.text == "ready" => {
                let user_namespace = message.descriptors.pop().ok_or_else(|| failed("no namespace"))?;
                Ok(Self { control, user_namespace, _process: process, _output: output })
            }
            Some(message) => Err(failed(&message.text)),
            None => Err(failed(&said(output))),
        }
    }

    /// The user namespace in which jails must be made that its copies are to enter.
    pub(crate) fn user_namespace(&self) -> Result<OwnedFd, SandboxError> {
        self.user_namespace.try_clone().map_err(|source| SandboxError::System { call: "dup", source })
    }

    pub(super) fn send(&self, text: &str, descriptors: &[BorrowedFd<'_>]) -> Result<(), SandboxError> {
        channel::send(&self.control, text, descriptors).map_err(SandboxError::system("sendmsg"))
    }
}

/// What a server printed before it ended.
fn said(output: OwnedFd) -> String {
    let mut text = Vec::new();
    let _ = std::fs::File::from(output).take(4096).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    text.lines().last().map_or_else(|| "the server ended without a word".to_owned(), str::to_owned)
}
