//! Named instants at which a test kills the process, as `kill -9` would.
//!
//! `PODIUM_FAILPOINT=after_commit:17` kills at the 17th. The feature `failpoints` is absent from release builds, and
//! without it this is nothing at all.

/// Kills the process here if the environment names this instant.
#[cfg(feature = "failpoints")]
pub fn reach(name: &str, number: u64) {
    let here = format!("{name}:{number}");
    if std::env::var("PODIUM_FAILPOINT").is_ok_and(|named| named == here) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Nothing: the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub const fn reach(_name: &str, _number: u64) {}
