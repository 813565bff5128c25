//! When the harness is killed, its jails die; what cannot die is swept at the next start, and only that.

use std::{ffi::OsStr, path::PathBuf, process::Command};

use crate::common::{Place, eventually, groups_of, jail, mark, sleepers};

/// Set for the process that plays the harness.
const WORKSPACE: &str = "PODIUM_TEST_HARNESS";
/// The mark of what it runs.
const HARNESS: u64 = 72;

/// The harness that is killed: this very test, in a process of its own.
fn play_harness(workspace: &OsStr) {
    let place = Place::new();
    let mark = mark(HARNESS, std::os::unix::process::parent_id());
    let mut job = place.python(&format!(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\nos.execvp('sleep', ['sleep', '{mark}'])",
    ));
    let workspace = PathBuf::from(workspace);
    podium_sandbox::workspace::create(&workspace).unwrap();
    job.workspace = workspace;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let jail = jail().unwrap();
    runtime.block_on(jail.execute(&job)).unwrap();
}

#[test]
fn killing_the_harness_kills_its_jails() {
    if let Some(workspace) = std::env::var_os(WORKSPACE) {
        return play_harness(&workspace);
    }
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let mut harness = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "harness::killing_the_harness_kills_its_jails"])
        .env(WORKSPACE, place.workspace())
        .spawn()
        .unwrap();
    let mark = mark(HARNESS, std::process::id());
    eventually("the jail runs", || sleepers(&mark).len() == 2);
    let groups = groups_of(harness.id());
    assert_eq!(groups.is_empty(), jail.facts().cgroup.is_none());
    // What it finds may be another test's.
    podium_sandbox::sweep();
    let now = groups_of(harness.id());
    assert!(groups.iter().all(|group| now.contains(group)), "the other harness is alive");
    harness.kill().unwrap();
    harness.wait().unwrap();
    eventually("the jail is dead", || sleepers(&mark).is_empty());
    // Another test may have opened a sandbox in the meantime, which sweeps as well.
    podium_sandbox::sweep();
    assert_eq!(groups_of(harness.id()), Vec::<PathBuf>::new());
}
