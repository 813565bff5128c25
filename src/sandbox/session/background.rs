//! What runs in a session besides its shell or kernel.
//!
//! Looked up from outside, in the host's `/proc`, while the session's first process is alive, so that no number can
//! have been taken by a stranger. Names are the processes' own and may be anything.

use std::collections::VecDeque;

use podium_types::session::BackgroundProcess;
use rustix::process::Pid;

/// More are not listed.
const MOST: usize = 32;
/// Nor looked at.
const MOST_VISITED: usize = 4096;

/// The descendants of a session's first process but the shell or kernel itself.
pub(super) fn list(first: Pid) -> Vec<BackgroundProcess> {
    let mut found = Vec::new();
    let mut pending = VecDeque::from([first.as_raw_pid().unsigned_abs()]);
    let mut visited = 0;
    while let Some(pid) = pending.pop_front() {
        visited += 1;
        if found.len() == MOST || visited == MOST_VISITED {
            break;
        }
        pending.extend(children(pid));
        if pid != first.as_raw_pid().unsigned_abs()
            && let Some(process) = describe(pid)
        {
            found.push(process);
        }
    }
    found
}

fn children(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(text.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
    }
    found
}

/// The process as it is seen inside; `None` for the dead, and for the program of a jail, which is number 2 there.
fn describe(pid: u32) -> Option<BackgroundProcess> {
    let bytes = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&bytes);
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("State:")?.starts_with(['Z', 'X']) {
        return None;
    }
    let numbers: Vec<u32> =
        field("NSpid:")?.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    match numbers.as_slice() {
        [_, .., 2] | [] => None,
        [.., inside] => Some(BackgroundProcess { pid: *inside, name: field("Name:")?.to_owned() }),
    }
}
