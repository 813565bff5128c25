//! The processes below one, and what they use, as `/proc` tells the harness.

use std::{fs, time::Duration};

use rustix::process::Pid;

/// A process and its descendants that are alive. In a jail, where orphans become children of the first process, that is
/// everything.
pub(crate) fn below(root: Pid) -> Vec<Pid> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        for task in fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid())).into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?)));
        }
    }
    found
}

/// Memory that these processes do not share with a file, in bytes.
pub(super) fn private_memory(processes: &[Pid]) -> u64 {
    let pages: u64 = processes.iter().filter_map(|pid| private_pages(*pid)).sum();
    pages * rustix::param::page_size() as u64
}

/// Resident less shared pages.
fn private_pages(pid: Pid) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{}/statm", pid.as_raw_pid())).ok()?;
    let mut fields = statm.split_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
    Some(fields.next()?.saturating_sub(fields.next()?))
}

/// CPU time of these processes and of the children they have waited for. A process whose parent ignores its children's
/// end is counted for as long as it lives.
pub(super) fn cpu_time(processes: &[Pid]) -> Duration {
    let ticks: u64 = processes.iter().filter_map(|pid| ticks(*pid)).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}

/// User and system time, own and of dead children: fields 14 to 17 of `stat`, counted after the name, which may hold
/// anything.
fn ticks(pid: Pid) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    Some(fields.filter_map(|field| field.parse::<u64>().ok()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_with_what_they_use() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sh -c 'while :; do :; done' & wait"])
            .process_group(0)
            .spawn()
            .unwrap();
        let root = Pid::from_child(&child);
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while cpu_time(&below(root)) < Duration::from_millis(50) {
            assert!(std::time::Instant::now() < deadline, "the grandchild is not seen to work");
            std::thread::yield_now();
        }
        let found = below(root);
        assert_eq!(found.len(), 2);
        assert!(private_memory(&found) > 8192);
        rustix::process::kill_process_group(root, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        assert_eq!(private_memory(&below(root)), 0);
    }

    use std::os::unix::process::CommandExt as _;
}
