//! Control groups, version 1: one hierarchy per controller or pair of controllers.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Usage, can_create, keyed, number};
use crate::{InForce, Limits};

/// The controllers that are used where they are.
const WANTED: [&str; 5] = ["memory", "pids", "cpuacct", "cpu", "cpuset"];

/// Processors and memory nodes of a group; both must be said before a process joins.
const PROCESSORS: &str = "cpuset.cpus";
const NODES: &str = "cpuset.mems";

/// A hierarchy in which groups can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The harness's own group in it.
    pub(super) folder: PathBuf,
    /// Which of the wanted controllers it holds.
    pub(super) controllers: Vec<String>,
}

/// The writable hierarchies, `None` when there are none.
pub(super) fn detect() -> Option<Vec<Mount>> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let found: Vec<Mount> = mounts.lines().filter_map(|line| mount(line, &own)).collect();
    let mut usable: Vec<Mount> =
        found.into_iter().filter(|mount| can_create(&mount.folder) && has_processors(mount)).collect();
    // What is read at each end comes first.
    let rank = |mount: &Mount| WANTED.iter().position(|name| mount.controllers.iter().any(|own| own == name));
    usable.sort_by_key(rank);
    (!usable.is_empty()).then_some(usable)
}

/// A group in a set of processors that is empty could hold no process.
fn has_processors(mount: &Mount) -> bool {
    let filled = |file| fs::read_to_string(mount.folder.join(file)).is_ok_and(|text| !text.trim().is_empty());
    mount.controllers.iter().all(|name| name != "cpuset") || (filled(PROCESSORS) && filled(NODES))
}

/// Reads one line of mountinfo, `ID PARENT DEV ROOT POINT OPTIONS... - TYPE SOURCE SUPEROPTIONS`.
pub(super) fn mount(line: &str, own: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let (kind, options) = (right.split(' ').next()?, right.rsplit(' ').next()?);
    if kind != "cgroup" {
        return None;
    }
    let controllers: Vec<String> =
        options.split(',').filter(|name| WANTED.contains(name)).map(str::to_owned).collect();
    let first = controllers.first()?;
    let mut fields = left.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    // `ID:CONTROLLERS:PATH`; the mount shows the hierarchy from `root` down.
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let names = parts.next()?;
        names.split(',').any(|name| name == first).then(|| parts.next())?
    })?;
    let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
    Some(Mount { folder: Path::new(point).join(below), controllers })
}

/// File and value of each limit of a group, in the order they must be written. A new group's period is 100 ms.
pub(super) fn settings(limits: &Limits, mounts: &[Mount], folders: &[PathBuf]) -> Vec<(PathBuf, String)> {
    let mut settings = Vec::new();
    for (mount, folder) in mounts.iter().zip(folders) {
        for controller in &mount.controllers {
            let values = match controller.as_str() {
                "cpuset" => {
                    let nodes = fs::read_to_string(mount.folder.join(NODES)).unwrap_or_default();
                    vec![(PROCESSORS, limits.cpus.list()), (NODES, nodes.trim().to_owned())]
                }
                "memory" => vec![
                    ("memory.limit_in_bytes", limits.memory_bytes.to_string()),
                    ("memory.memsw.limit_in_bytes", limits.memory_bytes.to_string()),
                ],
                "pids" => vec![("pids.max", limits.processes.to_string())],
                "cpu" => vec![("cpu.cfs_quota_us", (limits.cpus.count() * 100_000).to_string())],
                _ => Vec::new(),
            };
            settings.extend(values.into_iter().map(|(file, value)| (folder.join(file), value)));
        }
    }
    settings
}

/// What is held, as the files say now.
pub(super) fn in_force(folders: &[PathBuf]) -> InForce {
    let first = |file: &str| folders.iter().find_map(|folder| number(folder, file));
    let quota = first("cpu.cfs_quota_us").zip(first("cpu.cfs_period_us"));
    InForce {
        memory_bytes: first("memory.limit_in_bytes"),
        processes: first("pids.max"),
        cpu_millis: quota.and_then(|(quota, period)| (quota * 1000).checked_div(period)),
    }
}

pub(super) fn usage(folders: &[PathBuf]) -> Usage {
    let first = |read: &dyn Fn(&Path) -> Option<u64>| folders.iter().find_map(|folder| read(folder));
    Usage {
        oom_kills: first(&|folder| keyed(folder, "memory.oom_control", "oom_kill")).unwrap_or(0),
        forks_refused: first(&|folder| keyed(folder, "pids.events", "max")).unwrap_or(0),
        peak_memory: first(&|folder| number(folder, "memory.max_usage_in_bytes")),
        cpu: first(&|folder| number(folder, "cpuacct.usage")).map(Duration::from_nanos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_below_the_mount() {
        let own = "4:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/x\n";
        let line = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory";
        let want =
            Mount { folder: "/sys/fs/cgroup/memory/jobs/7".into(), controllers: vec!["memory".to_owned()] };
        assert_eq!(mount(line, own), Some(want));
        let line = "35 31 0:32 /jobs /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
        assert_eq!(mount(line, own).unwrap().folder, Path::new("/sys/fs/cgroup/memory/7"));
        let line = "35 31 0:32 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct";
        assert_eq!(mount(line, own).unwrap().controllers, ["cpu", "cpuacct"]);
        assert_eq!(mount("35 31 0:32 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer", own), None);
        assert_eq!(mount("35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", own), None);
    }
}
