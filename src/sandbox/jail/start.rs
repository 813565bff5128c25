//! Starting one jail, stopped, and taking hold of it before it runs anything.

use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::{Command, Stdio},
    time::Duration,
};

use rustix::{
    pipe::PipeFlags,
    process::{Pid, PidfdFlags, Resource, Rlimit, Signal},
};
use serde::Deserialize;
use tokio::{io::AsyncReadExt, net::unix::pipe, time::timeout};

use super::{Jail, arguments::Arguments, network::Counters, root};
use crate::{
    Job, SandboxError,
    callback::Callbacks,
    cgroup::Group,
    finish, program,
    spawn::{Preparation, Started, readable},
    supervisor,
    watch::{Live, Tree},
};

/// How long bubblewrap may take to make its namespaces; a loaded machine is slow.
const SETUP: Duration = Duration::from_secs(30);

/// A jail that runs its program.
pub(super) struct Running {
    pub(super) live: Live<JailTree>,
    pub(super) output: OwnedFd,
    pub(super) status: Status,
    pub(super) counters: Counters,
    /// Served until they are dropped; `None` where the probe has shown that they cannot be had.
    pub(super) callbacks: Option<Callbacks>,
}

/// The processes of a jail.
pub(super) struct JailTree {
    first: Pid,
    first_fd: OwnedFd,
    group: Option<Group>,
}

impl JailTree {
    /// The first process of the PID namespace.
    pub(super) fn first(&self) -> Pid {
        self.first
    }

    pub(super) fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// The process is alive, so its number is still its own.
    fn is_alive(&self) -> bool {
        let mut fds = [rustix::event::PollFd::new(&self.first_fd, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut fds, Some(&rustix::event::Timespec::default())) == Ok(0)
    }
}

impl Tree for JailTree {
    fn interrupt(&self) {
        if self.is_alive() {
            // Fails only when there is nobody left to interrupt.
            let _ = rustix::process::kill_process_group(self.first, Signal::INT);
        }
    }

    fn kill(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.first_fd, Signal::KILL);
    }

    fn last(&self) -> Option<&OwnedFd> {
        Some(&self.first_fd)
    }
}

/// What bubblewrap tells on its status descriptor.
pub(super) struct Status {
    text: Vec<u8>,
    pipe: File,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct StatusLine {
    child_pid: Option<i32>,
    exit_code: Option<i32>,
}

impl Status {
    fn lines(&self) -> impl Iterator<Item = StatusLine> + '_ {
        self.text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
    }

    /// The program's exit code; absent when it was never started or bubblewrap was killed. To be called at the end.
    pub(super) fn exit_code(&mut self) -> Option<i32> {
        // The pipe does not block; what can be read now is all there will be.
        let mut more = [0_u8; 4096];
        while let Ok(count @ 1..) = self.pipe.read(&mut more) {
            self.text.extend(more.iter().take(count));
        }
        self.lines().find_map(|line| line.exit_code)
    }
}

/// Starts a job's jail and lets its program run.
pub(super) async fn start(jail: &Jail, job: &Job, argv: &[OsString]) -> Result<Running, SandboxError> {
    let (status_read, status_write) = pipe_pair()?;
    let (block_read, block_write) = pipe_pair()?;
    let (output, output_write) = pipe_pair()?;
    let mut arguments = arguments(jail, job)?;
    arguments.descriptor("--json-status-fd", status_write);
    arguments.descriptor("--block-fd", block_read);
    let (first_arguments, inherit) = arguments.finish()?;

    let group = jail.hierarchy.as_ref().map(|hierarchy| hierarchy.create(&job.limits)).transpose()?;
    let preparation = Preparation {
        cgroups: group.as_ref().map(Group::procs).transpose()?.unwrap_or_default(),
        affinity: Some(finish::affinity(&job.limits)),
        rlimits: finish::rlimits(&job.limits),
        inherit,
        new_session: true,
    };
    let mut command = Command::new(&jail.bubblewrap);
    command.args(first_arguments).arg("--").args(argv).env_clear();
    command.stdin(Stdio::null()).stdout(duplicate(&output_write)?).stderr(output_write);
    let child = supervisor::spawn(command, preparation).await?;

    let mut text = Vec::new();
    let first = match timeout(SETUP, first_process(&child, &status_read, &mut text)).await {
        Ok(Ok(Some(first))) => first,
        Ok(Err(error)) => return Err(error),
        Ok(Ok(None)) => return Err(SandboxError::Start { message: said(output) }),
        Err(_) => {
            return Err(SandboxError::Start { message: "bubblewrap did not answer in time".to_owned() });
        }
    };
    // Its parent waits for the program's end, so the number cannot have been taken by another process.
    let first_fd = rustix::process::pidfd_open(first, PidfdFlags::empty())
        .map_err(SandboxError::system("pidfd_open"))?;
    let live = Live::new(JailTree { first, first_fd, group }, child);
    limit_processes(first, job)?;
    let counters = Counters::open(first);
    let callbacks = if jail.facts.callbacks {
        Some(Callbacks::start(first, job.submission_check.as_ref()).await?)
    } else {
        None
    };
    File::from(block_write)
        .write_all(b"1")
        .map_err(|source| SandboxError::System { call: "write", source })?;
    let status = Status { text, pipe: status_read.into() };
    Ok(Running { live, output, status, counters, callbacks })
}

/// All but the descriptors that belong to one start.
pub(super) fn arguments(jail: &Jail, job: &Job) -> Result<Arguments, SandboxError> {
    let mut arguments = Arguments::default();
    for flag in ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"] {
        arguments.flag(flag);
    }
    arguments.flag("--unshare-cgroup-try");
    if jail.facts.nested_namespaces_refused {
        arguments.flag("--disable-userns");
    }
    arguments.flag("--new-session");
    arguments.flag("--die-with-parent");
    arguments.add("--uid", [root::USER]);
    arguments.add("--gid", [root::USER]);
    arguments.add("--hostname", ["podium"]);
    arguments.add("--cap-drop", ["ALL"]);
    arguments.flag("--clearenv");
    for (name, value) in program::environment(job, root::WORKSPACE.as_ref()) {
        arguments.add("--setenv", [OsString::from(name), value]);
    }
    root::mounts(&mut arguments, job, jail.facts.callbacks)?;
    for filter in &jail.filters {
        arguments.content("--add-seccomp-fd", filter)?;
    }
    Ok(arguments)
}

/// Reads the number of the first process inside, `None` when bubblewrap ended without one. The line may arrive in
/// pieces.
async fn first_process(
    child: &Started,
    status: &OwnedFd,
    text: &mut Vec<u8>,
) -> Result<Option<Pid>, SandboxError> {
    let failed = |source| SandboxError::System { call: "read", source };
    let copy = status.try_clone().map_err(failed)?;
    let mut pipe = pipe::Receiver::from_owned_fd(copy).map_err(failed)?;
    let exited = readable(child.pidfd()).map_err(failed)?;
    while !text.ends_with(b"\n") {
        tokio::select! {
            biased;
            count = pipe.read_buf(text) => if count.map_err(failed)? == 0 { break },
            _ = exited.readable() => break,
        }
    }
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line: StatusLine = serde_json::from_slice(line).unwrap_or_default();
    Ok(line.child_pid.and_then(Pid::from_raw))
}

/// Limits the processes of the jail's user namespace, which works for every user but root, and only now: set before
/// the namespace existed it would have counted the user's other processes. The pids control group limits root too.
fn limit_processes(first: Pid, job: &Job) -> Result<(), SandboxError> {
    let limit = Some(job.limits.processes);
    rustix::process::prlimit(Some(first), Resource::Nproc, Rlimit { current: limit, maximum: limit })
        .map(|_| ())
        .map_err(SandboxError::system("prlimit"))
}

/// What bubblewrap said before it ended.
fn said(output: OwnedFd) -> String {
    let mut text = Vec::new();
    if rustix::io::ioctl_fionbio(&output, true).is_err() {
        return "bubblewrap ended".to_owned();
    }
    let _ = File::from(output).take(4096).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    if text.is_empty() { "bubblewrap ended without a word".to_owned() } else { text }
}

fn pipe_pair() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(SandboxError::system("pipe2"))
}

fn duplicate(fd: &OwnedFd) -> Result<OwnedFd, SandboxError> {
    fd.try_clone().map_err(|source| SandboxError::System { call: "dup", source })
}
