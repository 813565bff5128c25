//! Starting one jail, stopped, and taking hold of it before it runs anything.
//!
//! All of it blocks, for some milliseconds, and is done on one thread from end to end: each change of thread costs a
//! turn of a busy machine. Executions and sessions start here alike.

use std::{
    ffi::OsString,
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::Command,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec},
    process::{Pid, PidfdFlags, Resource, Rlimit},
};

use super::{
    Jail,
    arguments::{Arguments, Finished},
    network::Counters,
    root,
    tree::{JailTree, Status},
};
use crate::{
    Job, SandboxError,
    callback::{Bound, Offered},
    cgroup::Group,
    failpoint, finish, program,
    program::{Launch, pipe_pair},
    spawn::{Preparation, Started},
    supervisor,
    tree::Live,
};

/// How long bubblewrap may take to make its namespaces; a loaded machine is slow.
const SETUP: Duration = Duration::from_secs(30);

/// Starts a jail and lets its program run. `output` is the reading end, where bubblewrap says why it cannot. Where a
/// `user_namespace` is given the jail's namespaces are made inside it, its program only holds it for one that is to come
/// from outside, and its ports are bound and not served yet.
pub(super) fn start(
    jail: &Jail,
    job: &Job,
    mut launch: Launch,
    output: &OwnedFd,
    user_namespace: Option<OwnedFd>,
) -> Result<Live<JailTree>, SandboxError> {
    let (status, status_write) = pipe_pair()?;
    let (block_read, block_write) = pipe_pair()?;
    let mut arguments = arguments(jail, job)?;
    let is_held = user_namespace.is_some();
    if is_held {
        // What waits for a warm program is the first process itself, which nothing inside can kill or stop.
        arguments.flag("--as-pid-1");
    }
    arguments.descriptor("--json-status-fd", status_write);
    arguments.descriptor("--block-fd", block_read);
    let Finished { line, mut inherit } = arguments.finish()?;
    inherit.append(&mut launch.inherit);

    let group = jail.groups.as_ref().map(|groups| groups.create(&job.limits)).transpose()?;
    failpoint::reach("group");
    let preparation = Preparation {
        cgroups: group.as_ref().map(Group::procs).transpose()?.unwrap_or_default(),
        affinity: Some(finish::affinity(&job.limits)),
        rlimits: finish::rlimits(&job.limits),
        inherit,
        new_session: true,
        user_namespace,
        sees_our_end: false,
    };
    let [stdin, stdout, stderr] = launch.streams()?;
    let mut command = Command::new(&jail.bubblewrap);
    command.args(line).arg("--").args(&launch.argv).env_clear();
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    let child = supervisor::spawn(command, preparation)?;
    // Only the jail holds its end of the output from here on.
    drop(launch);
    failpoint::reach("spawned");

    let mut status = Status::new(status);
    let Some(first) = first_process(&child, &mut status)? else {
        return Err(SandboxError::Start { message: said(output) });
    };
    // Its parent waits for the program's end, so the number cannot have been taken by another process.
    let first_fd = rustix::process::pidfd_open(first, PidfdFlags::empty())
        .map_err(SandboxError::system("pidfd_open"))?;
    let tree = JailTree::new(first, first_fd, group, status, Counters::open(first));
    let mut live = Live::new(tree, child);
    failpoint::reach("stopped");
    limit_processes(first, job)?;
    if jail.facts.callbacks {
        let offered = Offered::of(job);
        let bound = Bound::new(first, &offered).map_err(|error| instead(error, &live.tree, output))?;
        live.tree.bind(bound);
        if !is_held {
            live.tree.serve(&offered)?;
        }
    }
    failpoint::reach("bound");
    File::from(block_write)
        .write_all(b"1")
        .map_err(|source| SandboxError::System { call: "write", source })?;
    Ok(live)
}

/// All but the descriptors that belong to one start.
pub(super) fn arguments(jail: &Jail, job: &Job) -> Result<Arguments, SandboxError> {
    let mut arguments = Arguments::default();
    for flag in ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"] {
        arguments.flag(flag);
    }
    arguments.flag("--unshare-cgroup-try");
    arguments.flag("--die-with-parent");
    if jail.facts.nested_namespaces_refused {
        arguments.flag("--disable-userns");
    }
    identity(&mut arguments, job);
    root::mounts(&mut arguments, job, &jail.nodes, &jail.etc.folder(jail.facts.callbacks)?)?;
    for filter in &jail.filters {
        arguments.content("--add-seccomp-fd", filter)?;
    }
    Ok(arguments)
}

/// Who a program is: user, host, environment, no capabilities.
pub(super) fn identity(arguments: &mut Arguments, job: &Job) {
    arguments.flag("--new-session");
    arguments.add("--uid", [root::USER]);
    arguments.add("--gid", [root::USER]);
    arguments.add("--hostname", ["podium"]);
    arguments.add("--cap-drop", ["ALL"]);
    arguments.flag("--clearenv");
    for (name, value) in program::environment(job, root::WORKSPACE.as_ref()) {
        arguments.add("--setenv", [OsString::from(name), value]);
    }
}

/// Waits for the number of the first process inside, `None` when bubblewrap ended without one.
fn first_process(child: &Started, status: &mut Status) -> Result<Option<Pid>, SandboxError> {
    let deadline = Instant::now() + SETUP;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(left).unwrap_or_default();
        let mut fds = [
            PollFd::from_borrowed_fd(status.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(child.pidfd(), PollFlags::IN),
        ];
        match rustix::event::poll(&mut fds, Some(&wait)) {
            Ok(0) => {
                return Err(SandboxError::Start { message: "bubblewrap did not answer in time".to_owned() });
            }
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(SandboxError::system("poll")(errno)),
            Ok(_) => {}
        }
        let [_, ended] = fds;
        let ended = !ended.revents().is_empty();
        status.read();
        match status.first() {
            Some(first) => return Ok(Some(first)),
            None if ended || status.is_whole() => return Ok(None),
            None => {}
        }
    }
}

/// Limits the processes of the jail's user namespace, which works for every user but root, and only now: set before
/// the namespace existed it would have counted the user's other processes. The pids control group limits root too.
fn limit_processes(first: Pid, job: &Job) -> Result<(), SandboxError> {
    let limit = Some(job.limits.processes);
    rustix::process::prlimit(Some(first), Resource::Nproc, Rlimit { current: limit, maximum: limit })
        .map(|_| ())
        .map_err(SandboxError::system("prlimit"))
}

/// A jail that ended meanwhile has said why, which is the cause of what failed then.
fn instead(error: SandboxError, tree: &JailTree, output: &OwnedFd) -> SandboxError {
    if tree.is_alive() { error } else { SandboxError::Start { message: said(output) } }
}

/// What bubblewrap said before it ended.
fn said(output: &OwnedFd) -> String {
    let mut text = Vec::new();
    let copy = output.try_clone();
    let Ok(copy) =
        copy.and_then(|copy| rustix::io::ioctl_fionbio(&copy, true).map(|()| copy).map_err(Into::into))
    else {
        return "bubblewrap ended".to_owned();
    };
    let _ = File::from(copy).take(4096).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    if text.is_empty() { "bubblewrap ended without a word".to_owned() } else { text }
}
