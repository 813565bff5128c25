//! Named instants at which a test kills the process, as `kill -9` would.
//!
//! `PODIUM_FAILPOINT=after_commit:17` kills at the first instant of that name whose number is 17 or more: not every
//! number has an intent, and a kill that a test asked for must come. The feature `failpoints` is absent from release
//! builds, and without it this is nothing at all.

/// Kills the process here if the environment names this instant.
#[cfg(feature = "failpoints")]
pub fn reach(name: &str, number: u64) {
    let Ok(asked) = std::env::var("PODIUM_FAILPOINT") else { return };
    let Some((named, from)) = asked.split_once(':') else { return };
    if named == name && from.parse::<u64>().is_ok_and(|from| number >= from) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Nothing: the feature `failpoints` is off.
#[cfg(not(feature = "failpoints"))]
pub const fn reach(_name: &str, _number: u64) {}
