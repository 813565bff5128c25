//! Nothing outlives an execution, and what a killed harness leaves is swept by the next.

use std::{ffi::OsStr, path::PathBuf, process::Command, time::Duration};

use podium_sandbox::{SandboxKind, Settings, open};
use podium_types::execution::{Ended, LimitHit};

use crate::common::{Place, docker, engine_says, eventually, mark, run, settings, skip, sleepers};
use crate::stopping::daemon;

#[tokio::test]
async fn daemons_die_with_the_program() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let mark = mark(61, std::process::id());
    let execution = docker.execute(&place.python(&daemon(&mark, ""))).await.unwrap();
    assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Exit(0), "left\n"));
    assert_eq!(sleepers(&mark), [0_u32; 0]);
    let mut job = place.python(&daemon(&mark, "time.sleep(1000)"));
    job.timeout = Duration::from_secs(2);
    let execution = docker.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 2000 }));
    assert_eq!(sleepers(&mark), [0_u32; 0]);
}

#[tokio::test]
async fn dropping_at_any_time_leaves_no_container() {
    let Some(settings) = settings() else { return };
    if !alone("leftovers::dropping_at_any_time_leaves_no_container") {
        return;
    }
    let docker = open(SandboxKind::Docker, &settings).unwrap();
    let mut places = Vec::new();
    for wait in [1, 30, 60, 120, 240, 400] {
        let place = Place::new();
        let job = place.python("import time\ntime.sleep(60)");
        let cut = tokio::time::timeout(Duration::from_millis(wait), docker.execute(&job)).await;
        assert!(cut.is_err(), "{cut:?}");
        places.push(place);
    }
    // Waits for what was still to be removed.
    drop(docker);
    eventually("the containers are gone", || containers_of(&settings, std::process::id()).is_empty());
}

#[tokio::test]
async fn mixed_executions_leave_nothing() {
    let Some(settings) = settings() else { return };
    if !alone("leftovers::mixed_executions_leave_nothing") {
        return;
    }
    let docker = open(SandboxKind::Docker, &settings).unwrap();
    let scripts = [
        "print(1)",
        "raise ValueError",
        "while True: pass",
        "import os\nos.abort()",
        "held = bytearray(1 << 30)",
    ];
    let all = (0..15).map(|number| {
        let (docker, code) = (&docker, scripts[number % scripts.len()]);
        async move {
            let place = Place::new();
            let mut job = place.python(code);
            job.timeout = Duration::from_secs(2);
            job.limits.memory_bytes = 200 << 20;
            docker.execute(&job).await.unwrap()
        }
    });
    futures_util::future::join_all(all).await;
    assert_eq!(containers_of(&settings, std::process::id()), Vec::<String>::new());
    drop(docker);
    assert_eq!(folders_of(std::process::id()), Vec::<PathBuf>::new());
}

/// Set for the process that plays the harness.
const WORKSPACE: &str = "PODIUM_TEST_HARNESS";
/// The mark of what it runs.
const HARNESS: u64 = 71;

/// The harness that is killed: this very test, in a process of its own.
fn play_harness(workspace: &OsStr) {
    let place = Place::new();
    let mut job = place.command(&["sleep", &mark(HARNESS, std::os::unix::process::parent_id())]);
    let workspace = PathBuf::from(workspace);
    podium_sandbox::workspace::create(&workspace).unwrap();
    job.workspace = workspace;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let docker = docker().unwrap();
    runtime.block_on(docker.execute(&job)).unwrap();
}

#[tokio::test]
async fn the_next_start_sweeps_what_a_killed_harness_left_and_only_that() {
    if let Some(workspace) = std::env::var_os(WORKSPACE) {
        return tokio::task::spawn_blocking(move || play_harness(&workspace)).await.unwrap();
    }
    let Some(settings) = settings() else { return };
    if engine_says(&settings, &["version"]).is_none() {
        skip("the engine has no command line to ask");
        return;
    }
    let place = Place::new();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "leftovers::the_next_start_sweeps_what_a_killed_harness_left_and_only_that"])
            .env(WORKSPACE, place.folder.path().join("other"))
            .spawn()
            .unwrap()
    };
    let mut harness = start();
    let mark = mark(HARNESS, std::process::id());
    eventually("the container runs", || sleepers(&mark).len() == 1);
    assert_eq!(containers_of(&settings, harness.id()).len(), 1);
    assert_eq!(folders_of(harness.id()).len(), 1);

    // Another harness beside it starts, works, and touches nothing of it.
    let beside = open(SandboxKind::Docker, &settings).unwrap();
    assert_eq!(run(&*beside, "print('beside')").await.output.text(), "beside\n");
    drop(beside);
    assert_eq!((containers_of(&settings, harness.id()).len(), sleepers(&mark).len()), (1, 1));

    harness.kill().unwrap();
    harness.wait().unwrap();
    drop(open(SandboxKind::Docker, &settings).unwrap());
    // Another test's start may have begun to remove it, and have left nothing for this one to wait for.
    eventually("the container and the folder are gone", || {
        containers_of(&settings, harness.id()).is_empty() && folders_of(harness.id()).is_empty()
    });
    eventually("its program is dead", || sleepers(&mark).is_empty());
}

/// Whether the test `name` has this process to itself. What is left on a machine is known by the number of its process,
/// so a test that counts it must not share that number with others: where it does, it is run once more in a process of
/// its own, and has passed there when this is false.
pub(crate) fn alone(name: &str) -> bool {
    const ALONE: &str = "PODIUM_TEST_ALONE";
    let runner = std::env::var_os("NEXTEST_EXECUTION_MODE").is_some_and(|mode| mode == "process-per-test");
    if runner || std::env::var_os(ALONE).is_some() {
        return true;
    }
    let test = std::env::current_exe().unwrap();
    let ended = Command::new(test).args(["--exact", name, "--nocapture"]).env(ALONE, "1").status().unwrap();
    assert!(ended.success(), "{name} in a process of its own: {ended}");
    false
}

/// Labels of the containers of a harness.
pub(crate) fn containers_of(settings: &Settings, harness: u32) -> Vec<String> {
    let format = "{{.Label \"podium.execution\"}}";
    let arguments = ["ps", "--all", "--filter", "label=podium.execution", "--format", format];
    let text = engine_says(settings, &arguments).unwrap_or_default();
    text.lines().filter(|label| label.contains(&format!(".{harness}."))).map(str::to_owned).collect()
}

/// Temporary folders that bear the number of a harness.
fn folders_of(harness: u32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    entries
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("podium.") && name.contains(&format!(".{harness}."))
        })
        .map(|entry| entry.path())
        .collect()
}

#[test]
fn a_harness_that_is_killed_while_it_opens_leaves_nothing_for_good() {
    if std::env::var_os(WORKSPACE).is_some() {
        loop {
            drop(docker());
        }
    }
    let Some(settings) = settings() else { return };
    for in_container in [false, true] {
        let mut harness = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "leftovers::a_harness_that_is_killed_while_it_opens_leaves_nothing_for_good"])
            .env(WORKSPACE, "/")
            .spawn()
            .unwrap();
        let id = harness.id();
        eventually("it has begun", || {
            !folders_of(id).is_empty() && (!in_container || !containers_of(&settings, id).is_empty())
        });
        harness.kill().unwrap();
        harness.wait().unwrap();
        // The engine may still be making what was asked for.
        eventually("all is swept", || {
            drop(open(SandboxKind::Docker, &settings).unwrap());
            folders_of(id).is_empty() && containers_of(&settings, id).is_empty()
        });
    }
}
