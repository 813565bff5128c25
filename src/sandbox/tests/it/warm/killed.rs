//! A harness that is killed while a jail is made ahead, waits, or begins leaves nothing that the next start does not
//! sweep. Each harness here is a process of its own, and is killed at a named instant.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command},
};

use podium_sandbox::{Settings, WARM, workspace};
use podium_types::execution::Program;

use super::both;
use crate::common::{Place, eventually, groups_of, jail_with, processes_with};

/// Set for the process that plays the harness: the name of its script.
const SCRIPT: &str = "PODIUM_TEST_SCRIPT";
const FAILPOINT: &str = "PODIUM_SANDBOX_FAILPOINT";
const TEST: &str = "warm::killed::a_harness_that_is_killed_at_any_instant_leaves_nothing";

/// In the order in which they come.
const INSTANTS: [&str; 14] = [
    "server",
    "serving",
    "folder",
    "group",
    "spawned",
    "stopped",
    "bound",
    "unblocked",
    "requested",
    "entered",
    "held",
    "placed",
    "going",
    "gone",
];

/// Executes some scripts, each in a jail that was made while the one before ran.
fn play_harness(script: &str) {
    let temporary = std::env::temp_dir();
    // Its processes can be told from others by this path.
    let bubblewrap = temporary.join("bwrap");
    let folders = std::env::var_os("PATH").unwrap();
    let own = std::env::split_paths(&folders).map(|folder| folder.join("bwrap")).find(|path| path.exists());
    std::os::unix::fs::symlink(own.unwrap(), &bubblewrap).unwrap();
    let place = Place::new();
    let code = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\nprint('ended')";
    let mut job = place.python(code);
    let Program::Python { file, .. } = &mut job.program else { return };
    script.clone_into(file);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let settings = Settings { warm: Some(WARM), bubblewrap: Some(bubblewrap), ..Settings::default() };
    let jail = jail_with(&settings).unwrap();
    let mut next = jail.expect(&job);
    for _ in 0..4 {
        assert!(runtime.block_on(next.is_made()));
        workspace::remove(&place.workspace()).unwrap();
        assert!(jail.make_workspace(&job).unwrap());
        next = jail.expect(&job);
        let execution = runtime.block_on(jail.execute(&job)).unwrap();
        assert!(execution.warm && execution.output.text() == "ended\n", "{execution:?}");
    }
    jail.rest();
}

struct Harness {
    process: Child,
    script: String,
    temporary: tempfile::TempDir,
}

impl Harness {
    fn start(name: &str, failpoint: Option<&str>) -> Self {
        let script = format!("killed-{name}-{}.py", std::process::id());
        let temporary = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", TEST, "--nocapture"]).env(SCRIPT, &script).env("TMPDIR", temporary.path());
        if let Some(failpoint) = failpoint {
            command.env(FAILPOINT, failpoint);
        }
        let process = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        Self { process, script, temporary }
    }

    /// Its processes and mounts: bubblewrap's by its path, interpreters by the script, all in a jail by what they see.
    fn left(&self) -> Vec<String> {
        let place = self.temporary.path().to_string_lossy().into_owned();
        let mut left: Vec<String> = [&place, &self.script]
            .into_iter()
            .flat_map(|text| processes_with(text))
            .map(|process| format!("process {process}"))
            .collect();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let mounts = fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
            if mounts.lines().any(|line| line.split(' ').nth(3).is_some_and(|root| root.contains(&place))) {
                left.push(format!("mounts of {}", entry.path().display()));
            }
        }
        left
    }
}

#[test]
fn a_harness_that_is_killed_at_any_instant_leaves_nothing() {
    if let Ok(script) = std::env::var(SCRIPT) {
        return play_harness(&script);
    }
    let Some(_) = both() else { return };
    let mut whole = Harness::start("never", None);
    assert!(whole.process.wait().unwrap().success());
    assert_eq!(whole.left(), Vec::<String>::new());
    assert_eq!(folders(whole.temporary.path()), Vec::<String>::new());
    if !cfg!(feature = "failpoints") {
        crate::common::skip("instants at which to kill need the feature `failpoints`");
        return;
    }
    for instant in INSTANTS {
        for number in ["1", "2"] {
            if instant == "server" && number == "2" {
                continue;
            }
            let failpoint = format!("{instant}:{number}");
            let mut harness = Harness::start(&format!("{instant}-{number}"), Some(&failpoint));
            let ended = harness.process.wait().unwrap();
            assert_eq!(ended.signal(), Some(9), "{failpoint}: {ended}");
            eventually(&format!("nothing is left of {failpoint} that a start does not sweep"), || {
                podium_sandbox::sweep();
                groups_of(harness.process.id()).is_empty() && harness.left().is_empty()
            });
            // The caller's workspaces are where they are; each can be removed.
            for entry in fs::read_dir(harness.temporary.path()).unwrap().flatten() {
                if entry.path().is_dir() {
                    workspace::remove(&entry.path()).unwrap();
                }
            }
        }
    }
}

/// What is in a folder besides the link to bubblewrap.
fn folders(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "bwrap").collect()
}
