//! Starting a job's program as a copy of a warm interpreter.
//!
//! The jail is the same as for a cold start, made inside the user namespace of the fork server, without which a copy
//! could not enter it. Its first process only waits: a jail lives as long as that, and nothing inside can
//! kill or stop the first process. The end of the jail is brought about from outside. A copy enters the jail and waits
//! there for its go, which comes at once, or much later where the jail was made [ahead](super::ahead).

use std::{
    ffi::OsString,
    fs::File,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
    time::{Duration, Instant},
};

use podium_types::execution::Program;
use rustix::{
    event::{PollFd, PollFlags, Timespec},
    net::SocketType,
    process::{Pid, Resource},
};

use super::{Jail, arguments::Arguments, root, start, tree::JailTree};
use crate::{
    Job, SandboxError,
    callback::Offered,
    cgroup::Groups,
    failpoint, finish, program,
    program::{Launch, pipe_pair},
    supervisor,
    tree::{Live, STUCK, Tree, stuck},
    warm::{self, Key, Profile, Request, Server},
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

/// A jail in which a copy waits for its go. Dropped, it is killed.
pub(super) struct Held {
    live: Live<JailTree>,
    key: Key,
    server: Arc<Server>,
}

/// What the server of a script must have been started with; `None` for a job that has to start cold.
pub(super) fn key(jail: &Jail, job: &Job) -> Option<Key> {
    let Program::Python { file, .. } = &job.program else { return None };
    // Without control groups the tree is told by descent, which a copy is not part of.
    let is_full = jail.groups.as_ref().is_some_and(Groups::is_full);
    let profile = warm::fitting(job, jail.settings.warm).filter(|_| is_full)?;
    Some(Key {
        argv: vec![job.python.clone().into(), OsString::from(file)],
        environment: program::environment(job, root::WORKSPACE.as_ref()),
        read_only: job.read_only.clone(),
        profile,
    })
}

/// Starts the program warm; `None` when it has to start cold. A server is started for it where that takes no longer than
/// a cold start.
pub(super) fn start(jail: &Jail, job: &Job, launch: &Launch) -> Option<Live<JailTree>> {
    let is_plain = launch.stdin.is_none() && launch.inherit.is_empty();
    let key = key(jail, job).filter(|key| is_plain && launch.argv == key.argv)?;
    let server = match key.profile {
        Profile::Heavy => server(jail, job, &key)?,
        Profile::Light => jail.warm.find(&key)?,
    };
    go(jail, job, hold(jail, job, key, server, launch.output.as_fd())?)
}

/// The server for a job of this key, started where there is none; `None` when there is none to be had.
pub(super) fn server(jail: &Jail, job: &Job, key: &Key) -> Option<Arc<Server>> {
    jail.warm.get(key, || serve(jail, job, key))
}

/// Starts the server for a job in the background.
pub(super) fn warm_up(jail: &Jail, job: &Job) {
    let Some(key) = key(jail, job) else { return };
    let (jail, job) = (jail.clone(), job.clone());
    if let Err(error) = supervisor::begin(move || drop(server(&jail, &job, &key))) {
        tracing::debug!(%error, "no server is started");
    }
}

/// Makes a jail with a copy that waits in it and has this output; `None` when that does not work.
pub(super) fn hold(
    jail: &Jail,
    job: &Job,
    key: Key,
    server: Arc<Server>,
    output: BorrowedFd<'_>,
) -> Option<Held> {
    match copy(jail, job, output, &server) {
        Ok(live) => Some(Held { live, key, server }),
        Err(error) => {
            blame(jail, &key, &server, &error);
            None
        }
    }
}

/// Lets the copy go on to its script; `None` when the job has to start cold. Then nothing is left of the jail.
pub(super) fn go(jail: &Jail, job: &Job, held: Held) -> Option<Live<JailTree>> {
    let Held { mut live, key, server } = held;
    let begun = live.tree.serve(&Offered::of(job)).and_then(|()| live.tree.go());
    let Err(error) = begun else { return Some(live) };
    blame(jail, &key, &server, &error);
    if let Err(error) = end(live) {
        tracing::warn!(%error, "a jail did not end");
    }
    None
}

/// What is wrong with one job says nothing of the server: a workspace could put an end to all warm starts.
fn blame(jail: &Jail, key: &Key, server: &Arc<Server>, error: &SandboxError) {
    tracing::debug!(%error, "a warm start failed");
    if !matches!(error, SandboxError::Job { .. } | SandboxError::Exposed { .. }) {
        jail.warm.failed(key, server, error);
    }
}

/// Starts a fork server: the command line, environment and view of an execution, without an input and a workspace.
fn serve(jail: &Jail, job: &Job, key: &Key) -> Result<Server, SandboxError> {
    let arguments = |control| {
        let mut arguments = Arguments::default();
        for flag in ["--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts"] {
            arguments.flag(flag);
        }
        start::identity(&mut arguments, job);
        arguments.add("--setenv", ["PYTHONPATH", FOLDER]);
        arguments.add("--setenv", ["PWD", root::WORKSPACE]);
        root::server_mounts(&mut arguments, job, &jail.nodes, &jail.etc.folder(jail.facts.callbacks)?)?;
        let text = warm::source(control, FOLDER, root::WORKSPACE, key.profile, &jail.filters);
        arguments.file(&format!("{FOLDER}/sitecustomize.py"), &text)?;
        arguments.add("--remount-ro", ["/"]);
        arguments.add("--chdir", [root::WORKSPACE]);
        arguments.finish()
    };
    Server::start(&jail.bubblewrap, job, arguments, key.argv.clone())
}

/// Makes the jail and has a copy enter it.
fn copy(
    jail: &Jail,
    job: &Job,
    output: BorrowedFd<'_>,
    server: &Server,
) -> Result<Live<JailTree>, SandboxError> {
    // A pipe could be opened for writing inside, by its name below `/proc/1/fd`, and so ended; a socket cannot.
    let (stdin, holder) = warm::pair(SocketType::STREAM).map_err(SandboxError::system("socketpair"))?;
    rustix::io::write(&holder, b"\n").map_err(SandboxError::system("write"))?;
    let (said, theirs) = pipe_pair()?;
    let waiting = Launch {
        argv: HOLDER.map(OsString::from).to_vec(),
        stdin: Some(stdin),
        spoken: None,
        output: theirs,
        inherit: Vec::new(),
    };
    let mut live = start::start(jail, job, waiting, &said, Some(server.user_namespace()?))?;
    failpoint::reach("unblocked");
    match await_word(&said).and_then(|()| enter(job, output, server, &live.tree, holder)) {
        Ok(copy) => {
            failpoint::reach("entered");
            live.tree.become_warm(copy);
            Ok(live)
        }
        Err(error) => {
            // The workspace is for a cold start now, so nothing may be left in it.
            end(live)?;
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
    output: BorrowedFd<'_>,
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
        output,
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

impl Held {
    /// Ends the jail, and waits until it is dead.
    pub(super) fn end(self) -> Result<(), SandboxError> {
        end(self.live)
    }
}

/// Kills a jail, and waits until it is dead.
fn end(live: Live<JailTree>) -> Result<(), SandboxError> {
    let first = live.tree.first_fd()?;
    drop(live);
    gone(&first)
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
