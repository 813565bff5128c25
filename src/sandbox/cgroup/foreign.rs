//! The counters of a control group that another program made, found by a process that is in it.
//!
//! A container engine removes the group some ten milliseconds after the last process has ended. Whoever watches that
//! process can read the counters once more in that time. Reading needs no privilege.

use std::{fs, path::PathBuf};

use rustix::process::Pid;

use super::{CpuClock, Usage, v1, v2};

/// The folders of one process's group.
#[derive(Debug)]
pub(crate) struct Foreign {
    reader: fn(&[PathBuf]) -> Usage,
    folders: Vec<PathBuf>,
}

impl Foreign {
    /// The group that the process is in now, `None` where it cannot be seen from here.
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let groups = fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_pid())).ok()?;
        let folders: Vec<PathBuf> = mounts
            .lines()
            .filter_map(|line| v1::mount(line, &groups))
            .map(|mount| mount.folder)
            .filter(|folder| folder.is_dir())
            .collect();
        if !folders.is_empty() {
            return Some(Self { reader: v1::usage, folders });
        }
        let (root, point) = mounts.lines().find_map(v2::mount)?;
        let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
        let folder = point.join(PathBuf::from(path).strip_prefix(root).ok()?);
        folder.is_dir().then(|| Self { reader: v2::usage, folders: vec![folder] })
    }

    /// What was counted so far; `None` when the group is gone.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let usage = (self.reader)(&self.folders);
        usage.cpu.or(usage.peak_memory.map(|_| std::time::Duration::ZERO)).map(|_| usage)
    }

    /// What reads the CPU time while the group lives.
    pub(crate) fn cpu_clock(&self) -> CpuClock {
        CpuClock { usage: self.reader, folders: self.folders.clone() }
    }
}
