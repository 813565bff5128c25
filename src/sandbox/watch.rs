//! Following one execution to its end.
//!
//! Output is read while the program runs; at the wall-clock limit the program gets SIGINT, so that a script sees
//! `KeyboardInterrupt`, and after a grace everything gets SIGKILL. When [`follow`] returns, every process of the tree
//! is dead. Dropping its future kills the tree.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use podium_types::execution::{LimitHit, Output};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    time::{sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Job, SandboxError, Settings,
    output::Recorder,
    spawn::{Reaped, Started, readable},
    watchdog::Watchdog,
};

/// How long a killed tree may take to die before that is an error.
const STUCK: Duration = Duration::from_secs(20);
/// A larger pipe means fewer turns for a program that prints much; not every user may have it.
const PIPE_BYTES: usize = 1 << 20;

/// The processes of an execution, as a whole.
pub(crate) trait Tree: Send + Sync {
    /// Sends SIGINT to the program's group.
    fn interrupt(&self);
    /// Sends SIGKILL to everything.
    fn kill(&self);
    /// A descriptor that becomes readable when everything but the direct child is dead.
    fn last(&self) -> Option<&OwnedFd>;
}

/// An execution in progress: its processes, and the direct child that stands for them. Dropped before its end, it
/// kills them all; the child is reaped last, so that no number can have been taken by a stranger before.
pub(crate) struct Live<T: Tree> {
    pub(crate) tree: T,
    child: Option<Started>,
}

impl<T: Tree> Live<T> {
    pub(crate) fn new(tree: T, child: Started) -> Self {
        Self { tree, child: Some(child) }
    }
}

impl<T: Tree> Drop for Live<T> {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.tree.kill();
        }
    }
}

/// When to stop, and what to keep.
pub(crate) struct Plan {
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) drain: Duration,
    pub(crate) head: usize,
    pub(crate) tail: usize,
    pub(crate) cancel: CancellationToken,
}

impl Plan {
    pub(crate) fn new(job: &Job, settings: &Settings) -> Self {
        Self {
            timeout: job.timeout,
            grace: settings.grace,
            drain: settings.drain,
            head: job.limits.output_head_bytes,
            tail: job.limits.output_tail_bytes,
            cancel: job.cancel.clone(),
        }
    }
}

/// How the execution ended.
pub(crate) struct Ending {
    pub(crate) reaped: Reaped,
    /// We sent SIGKILL before the program had ended.
    pub(crate) killed: bool,
    /// The limit that fired, of those that are watched from here.
    pub(crate) limit: Option<LimitHit>,
    pub(crate) output: Output,
    pub(crate) wall: Duration,
}

enum Stage {
    Running,
    Interrupted,
    Killed,
}

/// Follows a started program to its end, within the plan.
pub(crate) async fn follow<T: Tree>(
    live: &mut Live<T>,
    output: OwnedFd,
    plan: &Plan,
    mut watchdog: Watchdog,
) -> Result<Ending, SandboxError> {
    let Live { tree, child: Some(child) } = live else {
        return Err(SandboxError::Start { message: "the execution has ended before".to_owned() });
    };
    let start = Instant::now();
    let mut reader = Reader::new(output, plan)?;
    let mut stage = Stage::Running;
    let mut limit = None;
    let mut next = start.checked_add(plan.timeout).unwrap_or(start + Duration::from_hours(24 * 365));
    {
        let exited = readable(child.pidfd()).map_err(poll_failed)?;
        loop {
            tokio::select! {
                () = reader.read(), if reader.is_open() => {}
                _ = exited.readable() => break,
                () = sleep_until(next.into()) => match stage {
                    Stage::Running => {
                        let limit_ms = u64::try_from(plan.timeout.as_millis()).unwrap_or(u64::MAX);
                        limit = Some(LimitHit::WallClock { limit_ms });
                        tree.interrupt();
                        (stage, next) = (Stage::Interrupted, Instant::now() + plan.grace);
                    }
                    Stage::Interrupted => {
                        tree.kill();
                        (stage, next) = (Stage::Killed, Instant::now() + STUCK);
                    }
                    Stage::Killed => return Err(stuck()),
                },
                () = plan.cancel.cancelled(), if !matches!(stage, Stage::Killed) => {
                    tree.kill();
                    (stage, next) = (Stage::Killed, Instant::now() + STUCK);
                }
                hit = watchdog.breach(), if matches!(stage, Stage::Running) => {
                    limit = Some(hit);
                    tree.kill();
                    (stage, next) = (Stage::Killed, Instant::now() + STUCK);
                }
            }
        }
    }
    let wall = start.elapsed();
    tree.kill();
    if let Some(last) = tree.last() {
        let gone = readable(last.as_fd()).map_err(poll_failed)?;
        let _ready = timeout(STUCK, gone.readable()).await.map_err(|_| stuck())?.map_err(poll_failed)?;
    }
    reader.drain(plan.drain).await;
    let Some(child) = live.child.take() else { return Err(stuck()) };
    let reaped = child.reap().map_err(|source| SandboxError::System { call: "wait4", source })?;
    if plan.cancel.is_cancelled() {
        return Err(SandboxError::Cancelled);
    }
    let killed = matches!(stage, Stage::Killed);
    Ok(Ending { reaped, killed, limit, output: reader.recorder.finish(), wall })
}

fn poll_failed(source: io::Error) -> SandboxError {
    SandboxError::System { call: "epoll", source }
}

fn stuck() -> SandboxError {
    SandboxError::Stuck { seconds: STUCK.as_secs() }
}

/// The program's output pipe.
struct Reader {
    pipe: Option<pipe::Receiver>,
    buffer: Vec<u8>,
    recorder: Recorder,
}

impl Reader {
    fn new(output: OwnedFd, plan: &Plan) -> Result<Self, SandboxError> {
        let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES);
        let pipe = pipe::Receiver::from_owned_fd(output).map_err(poll_failed)?;
        let recorder = Recorder::new(plan.head, plan.tail);
        Ok(Self { pipe: Some(pipe), buffer: vec![0; 256 << 10], recorder })
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Reads once; may be dropped while it waits.
    async fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut self.buffer).await {
            Ok(count) if count > 0 => self.recorder.push(self.buffer.get(..count).unwrap_or_default()),
            // The end of the pipe, or a pipe that cannot be read, which is the same to us.
            _ => self.pipe = None,
        }
    }

    /// Reads what is left. Something that escaped may still hold the pipe, so not for ever.
    async fn drain(&mut self, limit: Duration) {
        let all = async {
            while self.is_open() {
                self.read().await;
            }
        };
        let _ = timeout(limit, all).await;
    }
}
