//! The names of what an execution leaves on the machine while it runs: control groups, containers, small folders.
//!
//! `podium.BOOT.PIDNS.PID.START.N`: the boot, the PID namespace in which the number is meant, the process and its start
//! time, and a counter. A number alone would be taken by another process sooner or later; a harness in another
//! container counts its own processes and must not be taken for dead.

use std::{
    os::unix::fs::MetadataExt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

const PREFIX: &str = "podium.";

/// A name that no other group has.
pub(crate) fn fresh() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static OWNER: OnceLock<String> = OnceLock::new();
    let owner = OWNER.get_or_init(|| {
        let pid = std::process::id();
        format!("{}{pid}.{}", here(), start_time(pid).unwrap_or(0))
    });
    format!("{owner}.{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The group was made on this boot in this PID namespace by a process that is dead, or on an earlier boot.
pub(crate) fn owner_is_dead(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let mut parts = rest.split('.');
    let (Some(boot), Some(namespace), Some(pid), Some(start)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    if boot != boot_id() {
        return true;
    }
    match (pid.parse::<u32>(), start.parse::<u64>()) {
        (Ok(pid), Ok(start)) => namespace == pid_namespace().to_string() && start_time(pid) != Some(start),
        _ => false,
    }
}

/// The part that all groups of this boot and PID namespace share.
fn here() -> String {
    format!("{PREFIX}{}.{}.", boot_id(), pid_namespace())
}

/// The first part of the kernel's boot id.
pub(crate) fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.split('-').next().unwrap_or_default().trim().to_owned()
}

fn pid_namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino())
}

/// Start time of a process in clock ticks since boot; field 22 of its `stat`, counted after the name, which may hold
/// anything. A zombie is dead.
fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (state != "Z" && state != "X").then(|| fields.nth(18)?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_dead_are_dead() {
        assert!(!owner_is_dead(&fresh()), "we are alive");
        let gone = |pid: u32, start: u64| format!("{}{pid}.{start}.0", here());
        assert!(owner_is_dead(&gone(std::process::id(), 1)), "the number was taken by another process");
        assert!(owner_is_dead(&gone(u32::MAX >> 1, 1)), "no such process");
        assert!(owner_is_dead(&format!("podium.00000000.{}.1.1.0", pid_namespace())), "an earlier boot");
        let other = format!("podium.{}.1.{}.1.0", boot_id(), u32::MAX >> 1);
        assert!(!owner_is_dead(&other), "another namespace's numbers mean nothing here");
        assert!(!owner_is_dead("system.slice"), "not ours");
        assert!(!owner_is_dead("podium.local"), "not ours either");
    }
}
