//! A container as the place of a session: the same processes, followed like a child's, by the machine's own view of them.
//!
//! The session's pipes have names in a folder that is mounted for it ([`Pipes::Named`]), so its output, its calls and
//! the ends of calls pass the engine by, in order. The stream attached to the container carries only the shell's word on
//! how the session's program ended. A task of its own waits for that word, reads the counters, and kills the container,
//! so that for the harness the end of the program is the end of the container's first process.
//!
//! All this needs an engine on this very machine; where its processes cannot be seen, there are no sessions.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bollard::container::AttachContainerResults;
use podium_types::execution::Ended;
use rustix::process::{Pid, Signal};
use tokio::{io::AsyncWriteExt, runtime::Handle, time::sleep_until};

use super::{
    Docker,
    follow::Running,
    frames::Frames,
    sweep::Held,
    witness::{Meters, Witness},
};
use crate::{
    Facts, Job, SandboxError, Settings,
    callback::{Callbacks, Offered},
    cgroup::{CpuClock, Usage},
    finish::{Evidence, Network},
    place::{Pipes, Place},
    program::Launch,
    spawn::readable,
    tree::{Fate, Killer, Lead, Live, Tree},
    watchdog::processes::below,
};

/// How often the counters are read, should the last reading come too late.
const LOOK: Duration = Duration::from_millis(500);

/// How a program ended that a shell reports on: a death by signal is told as 128 + signal.
pub(super) fn ended(code: i32) -> Ended {
    match code {
        code @ 129..=192 => Ended::Signal(code - 128),
        code => Ended::Exit(code),
    }
}

/// The processes of a container.
pub(crate) struct DockerTree {
    pid: Pid,
    first: OwnedFd,
    seen: Arc<Mutex<Seen>>,
    /// Served until they are dropped.
    callbacks: Option<Callbacks>,
    /// Removed when this is dropped.
    _held: Held,
}

/// What is known of a container so far.
struct Seen {
    meters: Option<Meters>,
    /// The program's exit code, as the shell around it says.
    code: Option<i32>,
}

/// What the task holds that waits for the end.
struct Keeper {
    attached: AttachContainerResults,
    first: OwnedFd,
    seen: Arc<Mutex<Seen>>,
    /// The program's ends of the pipes. It opens its own; until then these keep what was written.
    _theirs: Vec<OwnedFd>,
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    // Nothing that holds the lock can panic half-way.
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    fn look(&mut self) -> Usage {
        let Some(meters) = &mut self.meters else { return Usage::default() };
        meters.look();
        meters.seen()
    }
}

impl Keeper {
    async fn keep(mut self) -> Result<(), SandboxError> {
        let first = readable(self.first.as_fd()).map_err(crate::tree::poll_failed)?;
        let mut frames = Frames::new(&mut self.attached.output, 0, 0);
        let mut next = Instant::now() + LOOK;
        loop {
            tokio::select! {
                () = frames.read(), if frames.are_open() => {}
                _ = first.readable() => {
                    lock(&self.seen).look();
                    return Ok(());
                }
                () = sleep_until(next.into()) => {
                    lock(&self.seen).look();
                    next = Instant::now() + LOOK;
                }
            }
            if let Some(code) = frames.code() {
                let mut seen = lock(&self.seen);
                if seen.code.is_none() {
                    seen.look();
                    seen.code = Some(code);
                    let _ = rustix::process::pidfd_send_signal(&self.first, Signal::KILL);
                }
            }
        }
    }
}

impl Docker {
    /// Makes a container, takes hold of it, and lets its program run.
    async fn begin(&self, job: &Job, launch: Launch) -> Result<Live<DockerTree>, SandboxError> {
        let Launch { argv, stdin, spoken, output, inherit } = launch;
        let held = self.create(job, &argv).await?;
        let Running { mut attached, witness, .. } = self.take_hold(&held).await?;
        let Some(Witness { pid, first, meters }) = witness else {
            let message = "the container's processes are not this machine's, so it can have no session";
            return Err(SandboxError::Start { message: message.to_owned() });
        };
        // On this thread, which may start children.
        let offered = Offered::of(job);
        let callbacks = self.facts.callbacks.then(|| Callbacks::start(pid, &offered)).transpose()?;
        let copy = |first: &OwnedFd| {
            first.try_clone().map_err(|source| SandboxError::System { call: "dup", source })
        };
        let (lead, watched) = (copy(&first)?, copy(&first)?);
        let seen = Arc::new(Mutex::new(Seen { meters: Some(meters), code: None }));
        let tree = DockerTree { pid, first, seen: Arc::clone(&seen), callbacks, _held: held };
        let live = Live::new(tree, Lead::Foreign(lead));
        let go = attached.input.write_all(b"\n").await;
        go.map_err(|source| SandboxError::System { call: "letting the program go", source })?;
        let theirs = inherit.into_iter().chain(stdin).chain(spoken).chain([output]).collect();
        // It ends with the container.
        tokio::spawn(Keeper { attached, first: watched, seen, _theirs: theirs }.keep());
        Ok(live)
    }
}

impl Place for Docker {
    type Tree = DockerTree;

    fn start(&self, job: &Job, launch: Launch, _: &OwnedFd) -> Result<Live<Self::Tree>, SandboxError> {
        self.owner.give(&job.workspace)?;
        let runtime = Handle::try_current().map_err(|error| SandboxError::System {
            call: "finding a runtime",
            source: std::io::Error::other(error),
        })?;
        runtime.block_on(self.begin(job, launch))
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn found(&self) -> &Facts {
        &self.facts
    }

    fn pipes(&self) -> Pipes {
        Pipes::Named(self.owner.other())
    }

    /// The engine's control group limits memory.
    fn is_polled(&self) -> bool {
        false
    }
}

impl DockerTree {
    fn signal(&self, signal: Signal) {
        // The first process hands what it can catch on to the program's group. One that is dead needs none.
        let _ = rustix::process::pidfd_send_signal(&self.first, signal);
    }
}

impl Tree for DockerTree {
    fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn killer(&self) -> Killer {
        let first = self.first.try_clone();
        Box::new(move || {
            if let Ok(first) = &first {
                let _ = rustix::process::pidfd_send_signal(first, Signal::KILL);
            }
        })
    }

    fn last(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.first.as_fd()]
    }

    fn first(&self) -> Pid {
        self.pid
    }

    /// The shell that waits for the program, and the program: the first process's eldest child, and the eldest of that.
    fn own(&self) -> Vec<Pid> {
        // After itself its children come first, in the order in which they became that.
        let eldest = |parent: Pid| below(parent).get(1).copied();
        let gate = eldest(self.pid);
        gate.into_iter().chain(gate.and_then(eldest)).collect()
    }

    fn usage(&self) -> Usage {
        lock(&self.seen).look()
    }

    fn clock(&self) -> Option<CpuClock> {
        lock(&self.seen).meters.as_ref().and_then(Meters::clock)
    }

    fn evidence(&mut self, fate: &Fate<'_>) -> Result<Evidence, SandboxError> {
        let mut seen = lock(&self.seen);
        seen.look();
        // What it said before it was killed does not count: it may have said so to look well.
        let code = seen.code.filter(|_| !fate.killed);
        let (usage, refused) = seen.meters.take().map(Meters::finish).unwrap_or_default();
        let told = self.callbacks.take().map(|callbacks| callbacks.told()).unwrap_or_default();
        let network = Network { refused, told };
        let ended = code.map_or(Ended::Signal(libc::SIGKILL), ended);
        Ok(Evidence { ended, usage, network, cpu: usage.cpu, warm: false })
    }
}
