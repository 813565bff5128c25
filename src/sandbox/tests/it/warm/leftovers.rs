//! Nothing of a fork server or its copies outlives the harness, however that ends, and harnesses side by side have
//! their own. Each harness here is a process of its own.

use std::{
    path::PathBuf,
    process::{Child, Command},
};

use podium_sandbox::{Settings, WARM};
use podium_types::execution::Program;

use super::{base, both, job};
use crate::common::{Place, eventually, groups_of, jail_with, processes_with};

/// Set for the process that plays the harness: the name of its script, and of a file in its workspace that ends it.
const SCRIPT: &str = "PODIUM_TEST_SCRIPT";
const TEST: &str = "warm::leftovers::a_server_ends_with_its_harness_and_with_no_other";

/// Tells where the workspace is, and runs a script that leaves a daemon and goes on until it is told to end.
fn play_harness(script: &str) {
    let environment = base().unwrap();
    let place = Place::new();
    let code = "import numpy, os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n\
                while not os.path.exists('end'): time.sleep(0.01)\nprint('ended')";
    let mut job = job(&place, &environment, code);
    let Program::Python { file, .. } = &mut job.program else { return };
    script.clone_into(file);
    let told = std::env::temp_dir().join(script);
    std::fs::write(&told, place.workspace().to_str().unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let jail = jail_with(&Settings { warm: Some(WARM), ..Settings::default() }).unwrap();
    let execution = runtime.block_on(jail.execute(&job)).unwrap();
    assert!(execution.warm && execution.output.text() == "ended\n", "{execution:?}");
}

struct Harness {
    process: Child,
    script: String,
    temporary: tempfile::TempDir,
}

impl Harness {
    fn start(name: &str) -> Self {
        let script = format!("left-{name}-{}.py", std::process::id());
        let temporary = tempfile::tempdir().unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture"])
            .env(SCRIPT, &script)
            .env("TMPDIR", temporary.path())
            .spawn()
            .unwrap();
        Self { process, script, temporary }
    }

    /// Bubblewrap and the server, the process beside the jail, the program and its daemon.
    fn works(&self) -> bool {
        processes_with(&self.script).len() == 5
    }

    fn is_gone(&self) -> bool {
        processes_with(&self.script).is_empty()
    }
}

#[test]
fn a_server_ends_with_its_harness_and_with_no_other() {
    if let Ok(script) = std::env::var(SCRIPT) {
        return play_harness(&script);
    }
    let (Some(_), Some(_)) = (base(), both()) else { return };
    let (mut killed, mut ended) = (Harness::start("killed"), Harness::start("ended"));
    eventually("both work", || killed.works() && ended.works());

    killed.process.kill().unwrap();
    killed.process.wait().unwrap();
    eventually("the killed one's server and copies are dead", || killed.is_gone());
    podium_sandbox::sweep();
    assert_eq!(groups_of(killed.process.id()), Vec::<PathBuf>::new());
    assert!(ended.works(), "the other one is not touched");

    let workspace = std::fs::read_to_string(ended.temporary.path().join(&ended.script)).unwrap();
    std::fs::write(PathBuf::from(workspace).join("end"), "").unwrap();
    assert!(ended.process.wait().unwrap().success());
    eventually("nothing is left of the other one either", || ended.is_gone());
    assert_eq!(groups_of(ended.process.id()), Vec::<PathBuf>::new());
}
