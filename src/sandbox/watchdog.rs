//! Limits that no kernel interface holds here, polled: the size of the workspace, and without a memory control group
//! the memory of the tree.
//!
//! Polling is a second line: a program can pass such a limit by what it manages between two looks. A look at a large
//! workspace is made less often, so that looking never takes more than a tenth of one processor.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use podium_types::execution::LimitHit;
use rustix::process::Pid;
use tokio::{task::JoinHandle, time::sleep_until};

use crate::Limits;

const MEMORY_INTERVAL: Duration = Duration::from_millis(100);
const DISK_INTERVAL: Duration = Duration::from_secs(1);

/// Looks at what is used from time to time.
pub(crate) struct Watchdog {
    workspace: PathBuf,
    workspace_bytes: u64,
    memory: Option<(Pid, u64)>,
    next_memory: Instant,
    next_disk: Instant,
    look: Option<JoinHandle<(u64, Duration)>>,
}

impl Watchdog {
    /// `tree` is the root of the processes whose memory is watched, if it has to be.
    pub(crate) fn new(workspace: &Path, limits: &Limits, tree: Option<Pid>) -> Self {
        let now = Instant::now();
        Self {
            workspace: workspace.to_owned(),
            workspace_bytes: limits.workspace_bytes,
            memory: tree.map(|root| (root, limits.memory_bytes)),
            next_memory: now + MEMORY_INTERVAL,
            next_disk: now + DISK_INTERVAL,
            look: None,
        }
    }

    /// Returns when a limit is passed; may be dropped and called again at any time.
    pub(crate) async fn breach(&mut self) -> LimitHit {
        loop {
            if let Some((root, limit_bytes)) = self.memory {
                sleep_until(self.next_memory.min(self.next_disk).into()).await;
                if Instant::now() >= self.next_memory {
                    self.next_memory = Instant::now() + MEMORY_INTERVAL;
                    if private_memory(root) > limit_bytes {
                        return LimitHit::Memory { limit_bytes };
                    }
                }
            } else {
                sleep_until(self.next_disk.into()).await;
            }
            if Instant::now() >= self.next_disk
                && let Some(limit_bytes) = self.look_at_disk().await
            {
                return LimitHit::Disk { limit_bytes };
            }
        }
    }

    /// One look at the workspace, or the rest of one that was left while it was going on.
    async fn look_at_disk(&mut self) -> Option<u64> {
        let limit = self.workspace_bytes;
        let look = self.look.get_or_insert_with(|| {
            let folder = self.workspace.clone();
            tokio::task::spawn_blocking(move || {
                let start = Instant::now();
                (disk_usage(&folder, limit), start.elapsed())
            })
        });
        let (used, took) = look.await.unwrap_or_default();
        self.look = None;
        self.next_disk = Instant::now() + DISK_INTERVAL.max(took * 9);
        (used > limit).then_some(limit)
    }
}

/// Bytes allocated below a folder, each file once; stops counting once `enough` is passed. Symbolic links are not
/// followed. What vanishes while we look does not count.
pub(crate) fn disk_usage(folder: &Path, enough: u64) -> u64 {
    let mut pending = vec![folder.to_owned()];
    let mut linked = BTreeSet::new();
    let mut total = 0_u64;
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.nlink() == 1 || metadata.is_dir() || linked.insert((metadata.dev(), metadata.ino())) {
                total = total.saturating_add(metadata.blocks() * 512);
            }
            if metadata.is_dir() {
                pending.push(entry.path());
            }
        }
        if total > enough {
            break;
        }
    }
    total
}

/// Memory that a process and its descendants do not share with a file, in bytes.
fn private_memory(root: Pid) -> u64 {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut pending = vec![root.as_raw_pid().unsigned_abs()];
    let mut pages = 0;
    while let Some(pid) = pending.pop() {
        pages += private_pages(pid).unwrap_or(0);
        pending.extend(children.remove(&pid).unwrap_or_default());
    }
    pages * rustix::param::page_size() as u64
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Resident less shared pages.
fn private_pages(pid: u32) -> Option<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut fields = statm.split_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
    Some(fields.next()?.saturating_sub(fields.next()?))
}
