//! Control groups, version 2: one hierarchy, in which controllers are handed down folder by folder.
//!
//! A group that holds processes cannot hand controllers to its children, so the harness's own group rarely serves.
//! The nearest group above it that may be written and hands down memory and pids is taken, as systemd delegates it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Usage, can_create, keyed, number};
use crate::{InForce, Limits};

/// The controllers that are used where they are.
const WANTED: [&str; 4] = ["memory", "pids", "cpu", "cpuset"];

/// Where groups are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parent {
    pub(super) folder: PathBuf,
    pub(super) controllers: Vec<String>,
}

/// The nearest usable group from the harness's own upwards.
pub(super) fn detect() -> Option<Parent> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let (root, point) = mounts.lines().find_map(mount)?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let start = point.join(Path::new(path).strip_prefix(root).unwrap_or(Path::new("")));
    start.ancestors().take_while(|folder| folder.starts_with(&point)).find_map(parent)
}

/// Root and mount point of the version 2 hierarchy.
pub(super) fn mount(line: &str) -> Option<(PathBuf, PathBuf)> {
    let (left, right) = line.split_once(" - ")?;
    let mut fields = left.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    right.starts_with("cgroup2 ").then(|| (PathBuf::from(root), PathBuf::from(point)))
}

/// This folder as a parent, when groups with memory and pids limits can be made in it.
fn parent(folder: &Path) -> Option<Parent> {
    let words = |file: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    let offered = words("cgroup.controllers");
    if !["memory", "pids"].iter().all(|name| offered.iter().any(|word| word == name)) || !can_create(folder) {
        return None;
    }
    let handed_down = words("cgroup.subtree_control");
    for name in WANTED {
        if offered.iter().any(|word| word == name) && !handed_down.iter().any(|word| word == name) {
            // Refused where the group holds processes; then the one above is tried.
            let _ = fs::write(folder.join("cgroup.subtree_control"), format!("+{name}"));
        }
    }
    let controllers: Vec<String> =
        words("cgroup.subtree_control").into_iter().filter(|name| WANTED.contains(&name.as_str())).collect();
    let complete = ["memory", "pids"].iter().all(|name| controllers.iter().any(|word| word == name));
    complete.then(|| Parent { folder: folder.to_owned(), controllers })
}

/// File and value of each limit of a group.
pub(super) fn settings(limits: &Limits, folders: &[PathBuf]) -> Vec<(PathBuf, String)> {
    let values = [
        ("memory.max", limits.memory_bytes.to_string()),
        ("memory.swap.max", "0".to_owned()),
        ("pids.max", limits.processes.to_string()),
        ("cpuset.cpus", limits.cpus.list()),
        ("cpu.max", format!("{} 100000", limits.cpus.count() * 100_000)),
    ];
    let all = folders.iter().flat_map(|folder| values.iter().map(move |value| (folder, value)));
    all.map(|(folder, (file, value))| (folder.join(file), value.clone())).collect()
}

/// What is held, as the files say now.
pub(super) fn in_force(folders: &[PathBuf]) -> InForce {
    let Some(folder) = folders.first() else { return InForce::default() };
    let quota = fs::read_to_string(folder.join("cpu.max")).ok().and_then(|text| {
        let mut words = text.split_whitespace().map_while(|word| word.parse::<u64>().ok());
        (words.next()? * 1000).checked_div(words.next()?)
    });
    InForce {
        memory_bytes: number(folder, "memory.max"),
        processes: number(folder, "pids.max"),
        cpu_millis: quota,
    }
}

pub(super) fn usage(folders: &[PathBuf]) -> Usage {
    let Some(folder) = folders.first() else { return Usage::default() };
    Usage {
        oom_kills: keyed(folder, "memory.events", "oom_kill").unwrap_or(0),
        forks_refused: keyed(folder, "pids.events", "max").unwrap_or(0),
        peak_memory: number(folder, "memory.peak"),
        cpu: keyed(folder, "cpu.stat", "usage_usec").map(Duration::from_micros),
    }
}
