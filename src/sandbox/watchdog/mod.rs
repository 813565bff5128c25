//! Limits that no kernel interface holds here, polled: what the workspace holds, the CPU time of the tree, and without
//! a memory control group its memory.
//!
//! A strict quota would need project quotas, which few machines have switched on, or a file system per workspace, which
//! costs more than a jail; so it is polled. The bound is the quota plus one second of writes, by these means:
//!
//! - The workspace is walked once a second, less often where a walk takes long, so that this takes no more than a tenth
//!   of one processor. See [`disk`].
//! - Ten times a second the file system is asked for its free room, which costs nothing. When since the last walk it
//!   fell by what was still allowed, there is another walk at once: however large the workspace, a program that goes
//!   past its quota makes the room fall.
//! - When so much room is gone that files without a name could matter, they are counted too. See [`nameless`].
//! - What can be seen by none of these, for example files in the queue of a socket, still takes room. When more room is
//!   gone than the whole quota and little is left (a sixteenth of what there was), the execution is stopped. A neighbour
//!   may have written it; but on a full disk nothing would go well from here.
//!
//! Memory and CPU time are polled ten times a second.

mod disk;
mod nameless;
pub(crate) mod processes;

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use podium_types::execution::LimitHit;
use rustix::process::Pid;
use tokio::{task::JoinHandle, time::sleep_until};

use crate::{Limits, cgroup::CpuClock};
use disk::Held;

/// Between two cheap looks.
const INTERVAL: Duration = Duration::from_millis(100);
/// Between two walks, at least.
const WALK_INTERVAL: Duration = Duration::from_secs(1);
/// Of the room at the start, one part of so many is the last.
const LAST_PART: u64 = 16;

/// The processes to be watched.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The one that all others descend from.
    pub(crate) first: Option<Pid>,
    /// A process that belongs to them without descending from the first.
    pub(crate) beside: Option<Pid>,
    /// Nothing else holds the tree's memory within its limit.
    pub(crate) memory: bool,
    /// The control group's count of CPU time; without it the processes are asked.
    pub(crate) cpu: Option<CpuClock>,
}

/// Looks at what is used from time to time.
pub(crate) struct Watchdog {
    workspace: PathBuf,
    limits: Limits,
    watched: Watched,
    next: Instant,
    next_walk: Instant,
    /// Room at the start, and when the last walk began.
    start: Option<Room>,
    last: Option<Room>,
    /// What is held at most, by the last walk.
    most: Held,
    walk: Option<JoinHandle<Walked>>,
}

/// Free room of a file system.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    bytes: u64,
    files: u64,
}

/// One walk's result.
#[derive(Debug, Default)]
struct Walked {
    held: Held,
    /// As `held`, with all room that is gone and unexplained where nobody looked for what takes it.
    most: Held,
    room: Option<Room>,
    took: Duration,
}

impl Watchdog {
    pub(crate) fn new(workspace: &Path, limits: &Limits, watched: Watched) -> Self {
        let now = Instant::now();
        Self {
            workspace: workspace.to_owned(),
            limits: limits.clone(),
            watched,
            next: now + INTERVAL,
            next_walk: now + WALK_INTERVAL,
            start: room(workspace),
            last: None,
            most: Held::default(),
            walk: None,
        }
    }

    /// Returns when a limit is passed; may be dropped and called again at any time.
    pub(crate) async fn breach(&mut self) -> LimitHit {
        loop {
            if self.walk.is_none() {
                sleep_until(self.next.into()).await;
                self.next = Instant::now() + INTERVAL;
                if let Some(hit) = self.glance() {
                    return hit;
                }
            }
            if (self.walk.is_some() || self.must_walk())
                && let Some(hit) = self.walk().await
            {
                return hit;
            }
        }
    }

    /// What costs next to nothing.
    fn glance(&self) -> Option<LimitHit> {
        let tree = || below_all(self.watched.roots());
        if self.watched.memory && processes::private_memory(&tree()) > self.limits.memory_bytes {
            return Some(LimitHit::Memory { limit_bytes: self.limits.memory_bytes });
        }
        let limit = self.limits.cpu_time?;
        let used = match &self.watched.cpu {
            Some(clock) => clock.read().unwrap_or_default(),
            None => processes::cpu_time(&tree()),
        };
        (used >= limit)
            .then(|| LimitHit::CpuTime { limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX) })
    }

    /// It is time, or the room fell by what was still allowed.
    fn must_walk(&self) -> bool {
        if Instant::now() >= self.next_walk {
            return true;
        }
        let (Some(before), Some(now)) = (self.last.or(self.start), room(&self.workspace)) else {
            return false;
        };
        let taken = before.taken(now);
        let enough = self.enough();
        taken.bytes > enough.bytes.saturating_sub(self.most.bytes)
            || taken.files > enough.files.saturating_sub(self.most.files)
    }

    fn enough(&self) -> Held {
        Held { bytes: self.limits.workspace_bytes, files: self.limits.workspace_files }
    }

    /// One walk, or the rest of one that was left while it was going on.
    async fn walk(&mut self) -> Option<LimitHit> {
        let (enough, start) = (self.enough(), self.start);
        let walk = self.walk.get_or_insert_with(|| {
            let (workspace, roots) = (self.workspace.clone(), self.watched.roots());
            tokio::task::spawn_blocking(move || walk(&workspace, roots, enough, start))
        });
        let Walked { held, most, room, took } = walk.await.unwrap_or_default();
        self.walk = None;
        // A walk that is asked for by the room is not repeated at once when the neighbours take it.
        self.next = Instant::now() + INTERVAL.max(took);
        self.next_walk = Instant::now() + WALK_INTERVAL.max(took * 9);
        (self.most, self.last) = (most, room);
        if held.files > enough.files {
            return Some(LimitHit::Files { limit: enough.files });
        }
        let full = || {
            let (start, now) = (start?, room?);
            Some(start.taken(now).bytes > enough.bytes && now.bytes < start.bytes / LAST_PART)
        };
        (held.bytes > enough.bytes || full().unwrap_or(false))
            .then_some(LimitHit::Disk { limit_bytes: enough.bytes })
    }
}

impl Watched {
    fn roots(&self) -> [Option<Pid>; 2] {
        [self.first, self.beside]
    }
}

/// The processes of all these trees.
fn below_all(roots: [Option<Pid>; 2]) -> Vec<Pid> {
    roots.into_iter().flatten().flat_map(processes::below).collect()
}

/// Everything that the workspace's program holds on the disk, as far as it can be seen.
fn walk(workspace: &Path, roots: [Option<Pid>; 2], enough: Held, start: Option<Room>) -> Walked {
    let begun = Instant::now();
    let room = room(workspace);
    let look = || disk::held(workspace, enough).unwrap_or_default();
    let mut held = look();
    if held.exceeds(enough) {
        // A file that is renamed while we look may be seen twice. What is over the limit is so at a second look as well.
        held = look();
    }
    let taken = start.zip(room).map_or(0, |(start, room)| start.taken(room).bytes);
    let mut most = held;
    most.bytes = held.bytes.saturating_add(taken);
    if !held.exceeds(enough)
        && most.bytes > enough.bytes
        && roots != [None, None]
        && let Ok(device) = device(workspace)
    {
        let nameless = nameless::bytes(&below_all(roots), device, enough.bytes);
        held.bytes = held.bytes.saturating_add(nameless);
        most = held;
    }
    Walked { held, most, room, took: begun.elapsed() }
}

fn device(workspace: &Path) -> io::Result<u64> {
    Ok(rustix::fs::stat(workspace)?.st_dev)
}

fn room(workspace: &Path) -> Option<Room> {
    let facts = rustix::fs::statvfs(workspace).ok()?;
    Some(Room { bytes: facts.f_bfree.saturating_mul(facts.f_frsize), files: facts.f_ffree })
}

impl Room {
    /// What was taken since; room that came back counts as nothing.
    fn taken(self, now: Self) -> Held {
        Held { bytes: self.bytes.saturating_sub(now.bytes), files: self.files.saturating_sub(now.files) }
    }
}
