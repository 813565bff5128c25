//! What runs in a session besides its shell or kernel.
//!
//! Looked up from outside, in the host's `/proc`, while the session's first process is alive, so that no number can
//! have been taken by a stranger. Names are the processes' own and may be anything.

use podium_types::session::BackgroundProcess;
use rustix::process::Pid;

use crate::watchdog::processes::below;

/// More are not listed.
const MOST: usize = 32;

/// The descendants of a session's first process but the shell or kernel itself, which is the program of a jail or among
/// those named.
pub(super) fn list(first: Pid, own: &[Pid]) -> Vec<BackgroundProcess> {
    let others = below(first).into_iter().filter(|pid| *pid != first && !own.contains(pid));
    others.filter_map(describe).take(MOST).collect()
}

/// The process as it is seen inside; `None` for the dead, and for the program of a jail, which is number 2 there.
fn describe(pid: Pid) -> Option<BackgroundProcess> {
    let bytes = std::fs::read(format!("/proc/{}/status", pid.as_raw_pid())).ok()?;
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
