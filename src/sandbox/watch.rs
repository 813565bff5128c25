//! Following one execution to its end.
//!
//! Output is read while the program runs; at the wall-clock limit the program gets SIGINT, so that a script sees
//! `KeyboardInterrupt`, and after a grace everything gets SIGKILL. When [`follow`] returns, every process of the tree
//! is dead. Dropping its future kills the tree.

use std::{
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use podium_types::execution::{LimitHit, Output};
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use crate::{
    Job, SandboxError, Settings,
    reader::Reader,
    spawn::{Reaped, readable},
    tree::{Fate, Live, STUCK, Tree, poll_failed, stuck},
    watchdog::Watchdog,
};

/// When to stop, and what to keep.
pub(crate) struct Plan {
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) drain: Duration,
    pub(crate) head: usize,
    pub(crate) tail: usize,
    pub(crate) stop: CancellationToken,
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
            stop: job.stop.clone(),
            cancel: job.cancel.clone(),
        }
    }

    /// The limit that a program has reached which began at `start`: its own, or where it was stopped before.
    pub(crate) fn over(&self, start: Instant) -> LimitHit {
        let limit = if self.stop.is_cancelled() { start.elapsed().min(self.timeout) } else { self.timeout };
        LimitHit::WallClock { limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX) }
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
    let start = Instant::now();
    let mut reader = Reader::new(output, plan.head, plan.tail)?;
    let mut stage = Stage::Running;
    let mut limit = None;
    let mut next = start.checked_add(plan.timeout).unwrap_or(start + Duration::from_hours(24 * 365));
    {
        let child = live.child().ok_or_else(stuck)?;
        let tree = &live.tree;
        let exited = readable(child.pidfd()).map_err(poll_failed)?;
        loop {
            tokio::select! {
                () = reader.read(), if reader.is_open() => {}
                _ = exited.readable() => break,
                () = sleep_until(next.into()) => match stage {
                    Stage::Running => {
                        limit = Some(plan.over(start));
                        tree.interrupt();
                        (stage, next) = (Stage::Interrupted, Instant::now() + plan.grace);
                    }
                    Stage::Interrupted => {
                        tree.kill();
                        (stage, next) = (Stage::Killed, Instant::now() + STUCK);
                    }
                    Stage::Killed => return Err(stuck()),
                },
                () = plan.stop.cancelled(), if matches!(stage, Stage::Running) && next > Instant::now() => {
                    next = Instant::now();
                }
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
    let reaped = live.bury(&mut reader, plan.drain).await?;
    if plan.cancel.is_cancelled() {
        return Err(SandboxError::Cancelled);
    }
    let killed = matches!(stage, Stage::Killed);
    Ok(Ending { reaped, killed, limit, output: reader.kept().take(), wall })
}

impl Ending {
    /// What a tree needs to say how its program ended.
    pub(crate) fn fate(&self) -> Fate<'_> {
        Fate { reaped: self.reaped, killed: self.killed || self.limit.is_some(), output: &self.output }
    }
}
