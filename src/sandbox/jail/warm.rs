//! Starting a job's program as a copy of a warm interpreter.
//!
//! The jail is the same as for a cold start, made inside the user namespace of the fork server, without which a copy
//! could not enter it. Its first process only waits: a jail lives as long as that, and nothing inside can
//! kill or stop the first process. The end of the jail is brought about from outside.

use std::{
    ffi::OsString,
    fs::File,
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec},
    net::SocketType,
    process::{Pid, Resource},
};

use super::{Jail, arguments::Arguments, root, start, tree::JailTree};
use crate::{
    Job, SandboxError,
    cgroup::Groups,
    finish, program,
    program::{Launch, pipe_pair},
    tree::{Live, STUCK, Tree, stuck},
    warm::{self, Key, Request, Server},
};

/// Where the server's program is in its own view of the files.
const FOLDER: &str = "/podium";
/// Says that it runs by giving back what is written to it, and waits for the end of its input. Processes that are left
/// to it vanish when they end, for it ignores their ends. Where `env` cannot do that, scripts start cold.
const HOLDER: [&str; 3] = ["/usr/bin/env", "--ignore-signal=CHLD", "cat"];
/// How long the first process may take to start; a loaded machine is slow.
const SETUP: Duration = Duration::from_secs(30);
/// In the order of [`Request::namespaces`].
const NAMESPACES: [&str; 7] = ["user", "pid", "mnt", "net", "ipc", "uts", "cgroup"];

/// Starts the program warm; `None` when it has to start cold.
pub(super) fn start(jail: &Jail, job: &Job, launch: &Launch) -> Option<Live<JailTree>> {
    let is_script = launch.stdin.is_none() && launch.inherit.is_empty() && is_of(launch, job);
    // Without control groups the tree is told by descent, which a copy is not part of.
    let is_full = jail.groups.as_ref().is_some_and(Groups::is_full);
    if !is_script || !is_full || !warm::fits(job, jail.settings.warm) {
        return None;
    }
    let key = Key {
        argv: launch.argv.clone(),
        environment: program::environment(job, root::WORKSPACE.as_ref()),
        read_only: job.read_only.clone(),
    };
    let server = jail.warm.get(&key, || serve(jail, job, launch.argv.clone()))?;
    match copy(jail, job, launch, &server) {
        Ok(live) => Some(live),
        Err(error) => {
            tracing::debug!(%error, "a warm start failed");
            // What is wrong with one job says nothing of the server: a workspace could put an end to all warm starts.
            if !matches!(error, SandboxError::Job { .. } | SandboxError::Exposed { .. }) {
                jail.warm.failed(&key, &server, &error);
            }
            None
        }
    }
}

fn is_of(launch: &Launch, job: &Job) -> bool {
    let script = program::script(job).map(OsString::from);
    launch.argv.first().is_some_and(|python| *python == job.python.as_os_str())
        && launch.argv.get(1) == script.as_ref()
        && launch.argv.len() == 2
}

/// Starts a fork server: the command line, environment and view of an execution, without an input and a workspace.
fn serve(jail: &Jail, job: &Job, argv: Vec<OsString>) -> Result<Server, SandboxError> {
    let arguments = |control| {
        let mut arguments = Arguments::default();
        for flag in ["--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts"] {
            arguments.flag(flag);
        }
        start::identity(&mut arguments, job);
        arguments.add("--setenv", ["PYTHONPATH", FOLDER]);
        arguments.add("--setenv", ["PWD", root::WORKSPACE]);
        root::server_mounts(&mut arguments, job, &jail.nodes, &jail.etc.folder(jail.facts.callbacks)?)?;
        let text = warm::source(control, FOLDER, root::WORKSPACE, &jail.filters);
        arguments.file(&format!("{FOLDER}/sitecustomize.py"), &text)?;
        arguments.add("--remount-ro", ["/"]);
        arguments.add("--chdir", [root::WORKSPACE]);
        arguments.finish()
    };
    Server::start(&jail.bubblewrap, job, arguments, argv)
}

/// Makes the jail and has a copy enter it.
fn copy(jail: &Jail, job: &Job, launch: &Launch, server: &Server) -> Result<Live<JailTree>, SandboxError> {
    // A pipe could be opened for writing inside, by its name below `/proc/1/fd`, and so ended; a socket cannot.
    let (stdin, holder) = warm::pair(SocketType::STREAM).map_err(SandboxError::system("socketpair"))?;
    rustix::io::write(&holder, b"\n").map_err(SandboxError::system("write"))?;
    let (said, output) = pipe_pair()?;
    let waiting = Launch {
        argv: HOLDER.map(OsString::from).to_vec(),
        stdin: Some(stdin),
        spoken: None,
        output,
        inherit: Vec::new(),
    };
    let mut live = start::start(jail, job, waiting, &said, Some(server.user_namespace()?))?;
    let copy = await_word(&said).and_then(|()| enter(job, launch, server, &live.tree, holder));
    let copy = copy.and_then(|mut copy| {
        copy.end_with(live.tree.first_fd()?)?;
        Ok(copy)
    });
    match copy {
        Ok(copy) => {
            live.tree.become_warm(copy);
            Ok(live)
        }
        Err(error) => {
            // The workspace is for a cold start now, so nothing may be left in it.
            let first = live.tree.first_fd()?;
            drop(live);
            gone(&first)?;
            Err(error)
        }
    }
}

/// Waits for the first process to run, which is when the jail is complete.
fn await_word(said: &OwnedFd) -> Result<(), SandboxError> {
    let wait = Timespec::try_from(SETUP).unwrap_or_default();
    loop {
        match rustix::event::poll(&mut [PollFd::new(said, PollFlags::IN)], Some(&wait)) {
            Ok(0) => {
                return Err(SandboxError::Start { message: "the jail did not answer in time".to_owned() });
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(SandboxError::system("poll")(errno)),
            Ok(_) => break,
        }
    }
    let mut text = [0; 512];
    let count = rustix::io::read(said, &mut text).map_err(SandboxError::system("read"))?;
    match text.get(..count).unwrap_or_default() {
        b"\n" => Ok(()),
        [] => Err(SandboxError::Start { message: "the jail has ended".to_owned() }),
        text => Err(SandboxError::Start { message: String::from_utf8_lossy(text).trim().to_owned() }),
    }
}

/// Has a copy enter the jail.
fn enter(
    job: &Job,
    launch: &Launch,
    server: &Server,
    tree: &JailTree,
    holder: OwnedFd,
) -> Result<warm::Copy, SandboxError> {
    let namespaces = namespaces(tree.first())?;
    let mut rlimits = finish::rlimits(&job.limits);
    rlimits.push((Resource::Nproc, job.limits.processes));
    let request = Request {
        namespaces: &namespaces,
        groups: &tree.procs()?,
        output: launch.output.as_fd(),
        rlimits: &rlimits,
        cpus: &job.limits.cpus.ids(),
    };
    warm::request(server, &request, holder)
}

/// The namespaces of a process.
fn namespaces(process: Pid) -> Result<Vec<OwnedFd>, SandboxError> {
    let open = |name| {
        let path = format!("/proc/{}/ns/{name}", process.as_raw_pid());
        File::open(&path).map(OwnedFd::from).map_err(SandboxError::io("opening", path))
    };
    NAMESPACES.into_iter().map(open).collect()
}

/// Waits until a killed jail is dead.
fn gone(first: &OwnedFd) -> Result<(), SandboxError> {
    let deadline = Instant::now() + STUCK;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(left).unwrap_or_default();
        match rustix::event::poll(&mut [PollFd::new(first, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return Err(stuck()),
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(errno) => return Err(SandboxError::system("poll")(errno)),
        }
    }
}
