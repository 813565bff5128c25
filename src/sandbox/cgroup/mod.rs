//! Control groups: the limits of a whole tree of processes, and what it used.
//!
//! Version 2 is used where the harness may create groups with memory and pids controllers, else version 1 where its
//! hierarchies are writable, else none; what is found is part of the strength. A group is made per execution below the
//! harness's own group, so that a limit on the harness still holds, and is removed when the tree is dead ([`Groups`]). Its name
//! tells its owner (see [`label`]), so that the sweep at the next start removes what a crash left and nothing else.

mod foreign;
mod groups;
pub(crate) mod label;
mod sweep;
mod v1;
mod v2;

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, Signal};

use crate::{InForce, Limits, SandboxError, strength::CgroupFacts};

pub(crate) use foreign::Foreign;
pub(crate) use groups::Groups;
pub(crate) use sweep::sweep;

/// Where groups can be made on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hierarchy {
    /// One folder per set of controllers.
    V1(Vec<v1::Mount>),
    /// The one folder.
    V2(v2::Parent),
}

/// The group or groups of one execution. Removed when dropped, with whatever is still in them.
#[derive(Debug)]
pub(crate) struct Group {
    groups: Groups,
    folders: Vec<PathBuf>,
}

/// Reads a group's CPU time.
#[derive(Debug)]
pub(crate) struct CpuClock {
    usage: fn(&[PathBuf]) -> Usage,
    folders: Vec<PathBuf>,
}

impl CpuClock {
    /// CPU time of all that is or was in the group; `None` when the group is gone.
    pub(crate) fn read(&self) -> Option<Duration> {
        (self.usage)(&self.folders).cpu
    }
}

/// What a group counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Processes killed because memory ran out.
    pub(crate) oom_kills: u64,
    /// Forks refused.
    pub(crate) forks_refused: u64,
    /// Peak memory in bytes.
    pub(crate) peak_memory: Option<u64>,
    /// CPU time.
    pub(crate) cpu: Option<Duration>,
}

impl Hierarchy {
    /// Finds where groups can be made, by making one.
    pub(crate) fn detect() -> Option<Self> {
        let candidates = [v2::detect().map(Self::V2), v1::detect().map(Self::V1)];
        // `max_by_key` takes the last of equals; version 2 wins a tie.
        candidates.into_iter().rev().flatten().max_by_key(Self::essential)
    }

    /// How many of the two controllers are there that the full strength needs.
    fn essential(&self) -> usize {
        self.facts().controllers.iter().filter(|name| matches!(name.as_str(), "memory" | "pids")).count()
    }

    /// Memory and processes are both limited.
    pub(crate) fn is_full(&self) -> bool {
        self.essential() == 2
    }

    /// This controller can be used.
    pub(crate) fn has(&self, controller: &str) -> bool {
        self.facts().controllers.iter().any(|name| name == controller)
    }

    pub(crate) fn facts(&self) -> CgroupFacts {
        let (version, mut controllers) = match self {
            Self::V1(mounts) => {
                (1, mounts.iter().flat_map(|mount| mount.controllers.clone()).collect::<Vec<_>>())
            }
            Self::V2(parent) => (2, parent.controllers.clone()),
        };
        controllers.sort_unstable();
        CgroupFacts { version, controllers }
    }

    /// The folders that groups are made in.
    fn parents(&self) -> Vec<&Path> {
        match self {
            Self::V1(mounts) => mounts.iter().map(|mount| mount.folder.as_path()).collect(),
            Self::V2(parent) => vec![&parent.folder],
        }
    }
}

impl Group {
    /// The files by which a process with a single thread joins. In version 1 a thread that moves itself by `tasks`
    /// does not wait for the lock on all forks of the machine, which takes some ten milliseconds.
    pub(crate) fn procs(&self) -> Result<Vec<OwnedFd>, SandboxError> {
        let file = match self.groups.hierarchy() {
            Hierarchy::V1(_) => "tasks",
            Hierarchy::V2(_) => "cgroup.procs",
        };
        let open = |folder: &PathBuf| {
            let path = folder.join(file);
            let file = OpenOptions::new().write(true).open(&path);
            file.map(OwnedFd::from).map_err(SandboxError::io("opening", &path))
        };
        self.folders.iter().map(open).collect()
    }

    /// Sets the limits. What this kernel does not know is left out.
    fn limit(&self, limits: &Limits) -> Result<(), SandboxError> {
        let settings = match self.groups.hierarchy() {
            Hierarchy::V1(mounts) => v1::settings(limits, mounts, &self.folders),
            Hierarchy::V2(_) => v2::settings(limits, &self.folders),
        };
        for (path, value) in settings {
            let written = OpenOptions::new()
                .write(true)
                .open(&path)
                .and_then(|mut file| file.write_all(value.as_bytes()));
            match written {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(SandboxError::io("writing", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What the kernel says it holds the group to.
    fn in_force(&self) -> InForce {
        match self.groups.hierarchy() {
            Hierarchy::V1(_) => v1::in_force(&self.folders),
            Hierarchy::V2(_) => v2::in_force(&self.folders),
        }
    }

    /// What was counted so far.
    pub(crate) fn usage(&self) -> Usage {
        self.reader()(&self.folders)
    }

    /// What reads the CPU time while the group lives; `None` where it is not counted.
    pub(crate) fn cpu_clock(&self) -> Option<CpuClock> {
        self.usage().cpu?;
        Some(CpuClock { usage: self.reader(), folders: self.folders.clone() })
    }

    fn reader(&self) -> fn(&[PathBuf]) -> Usage {
        match self.groups.hierarchy() {
            Hierarchy::V1(_) => v1::usage,
            Hierarchy::V2(_) => v2::usage,
        }
    }

    /// Sends SIGKILL to everything in the group; no fork can outrun it.
    pub(crate) fn kill(&self) {
        for folder in &self.folders {
            kill_all(folder);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.groups.remove(std::mem::take(&mut self.folders));
    }
}

/// Removes an empty group; one that is gone already is fine.
fn try_remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// One round of SIGKILL, by the kernel where it can. Forbidding forks first keeps a fork bomb from outrunning it.
fn kill_all(folder: &Path) {
    if std::fs::write(folder.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    // Absent where the pids controller is not in this hierarchy.
    let _ = std::fs::write(folder.join("pids.max"), "0");
    for line in std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default().lines() {
        if let Some(pid) = line.parse().ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

/// `key value` lines: the value of a key.
fn keyed(folder: &Path, file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(folder.join(file)).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// A file that holds one number.
fn number(folder: &Path, file: &str) -> Option<u64> {
    std::fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
}

/// A group can be made here: tried by making one.
fn can_create(folder: &Path) -> bool {
    let trial = folder.join(label::fresh());
    std::fs::create_dir(&trial).is_ok() && try_remove(&trial).is_ok()
}
