//! Named instants at which a test kills the process, as `kill -9` would.
//!
//! `PODIUM_SANDBOX_FAILPOINT=unblocked:3` kills at the third instant of that name. The feature `failpoints` is absent
//! from release builds, and without it this is nothing at all.

/// Kills the process here if the environment names this instant.
#[cfg(feature = "failpoints")]
pub(crate) fn reach(name: &str) {
    use std::sync::atomic::{AtomicU64, Ordering};

    static REACHED: AtomicU64 = AtomicU64::new(0);
    let Ok(asked) = std::env::var("PODIUM_SANDBOX_FAILPOINT") else { return };
    let Some((named, number)) = asked.split_once(':') else { return };
    if named != name {
        return;
    }
    let reached = REACHED.fetch_add(1, Ordering::SeqCst) + 1;
    if number.parse() == Ok(reached) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Nothing: the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub(crate) const fn reach(_name: &str) {}
