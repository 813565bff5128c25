//! What the test binaries of the sandbox share: surroundings of a job, waiting, and looking for what is left.
//!
//! The binary that includes it says in its own `common` which kind it tries and which Python its jobs have.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use podium_sandbox::{Job, Sandbox, SubmissionRule, workspace};
use podium_types::execution::{Execution, Program};
use tempfile::TempDir;

use super::{KIND, environment};

/// How long anything may take on a busy machine before a test gives up.
const PATIENCE: Duration = Duration::from_secs(40);

/// Says that this test is skipped, and why: on standard error, and in the file that the test command prints at its end,
/// since a runner hides the output of tests that pass.
pub(crate) fn skip(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("SKIP {KIND} {test}: {why}\n");
    eprint!("{line}");
    if let Some(file) = std::env::var_os("PODIUM_SKIPS") {
        let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
        open.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes())).unwrap();
    }
}

/// A workspace, an input folder and a store, removed at the end.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        workspace::create(&folder.path().join("workspace")).unwrap();
        std::fs::create_dir(folder.path().join("input")).unwrap();
        std::fs::write(folder.path().join("input/train.csv"), "id,x\n1,2\n").unwrap();
        Self { folder }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn python(&self, code: &str) -> Job {
        self.job(Program::Python { file: "solution.py".to_owned(), code: code.to_owned() })
    }

    pub(crate) fn command(&self, argv: &[&str]) -> Job {
        self.job(Program::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect() })
    }

    fn job(&self, program: Program) -> Job {
        let mut job = Job::new(program, self.workspace(), &environment());
        job.input = Some(self.folder.path().join("input"));
        job.timeout = Duration::from_mins(1);
        job.submission = Some(SubmissionRule {
            path: "submission/submission.csv".to_owned(),
            store: self.store(),
            max_bytes: 1 << 20,
        });
        job
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        workspace::remove(&self.workspace()).unwrap();
    }
}

/// Runs Python in a fresh workspace and returns the result.
pub(crate) async fn run(sandbox: &dyn Sandbox, code: &str) -> Execution {
    let place = Place::new();
    sandbox.execute(&place.python(code)).await.unwrap()
}

/// Polls until it holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Numbers of the machine's processes with such a command line, its words ended by zeros.
pub(crate) fn processes(mut is_such: impl FnMut(&[u8]) -> bool) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            // One that has ended has none.
            let line = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline"));
            is_such(&line.unwrap_or_default())
        })
        .collect()
}

/// A number for `sleep` that nothing else on this machine has: the test of this process knows by it what is its own, also
/// where the same tests run twice at a time. `kind` tells the tests of one process apart, and is below 900.
pub(crate) fn mark(kind: u64, process: u32) -> String {
    // Seconds: all that Python's `sleep` takes is below nine thousand million.
    (kind * 10_000_000 + u64::from(process)).to_string()
}

/// Numbers of the machine's processes that are `sleep` with this number.
pub(crate) fn sleepers(number: &str) -> Vec<u32> {
    let wanted = format!("sleep\0{number}\0");
    processes(|line| line == wanted.as_bytes())
}
