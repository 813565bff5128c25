//! What all tests share: a jail that runs every script warm, or fails.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use podium_sandbox::{
    Environment, ExecutionFuture, Facts, Interpreter, Job, Sandbox, SandboxError, SandboxKind, SessionFuture,
    SessionJob, Settings, Strength, SubmissionRule, environment::default_cache, open, workspace,
};
use podium_types::execution::{Execution, Program};
use tempfile::TempDir;

const BASE: &str = include_str!("../../../../benchmark/environments/base.txt");
/// Makes a script one that may begin warm, and does nothing.
const FIT: &str = "if 0:\n    import numpy\n";

/// Says that this test is skipped, and why: on standard error, and in the file that the test command prints at its end,
/// since a runner hides the output of tests that pass.
pub(crate) fn skip(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("SKIP warm {test}: {why}\n");
    eprint!("{line}");
    if let Some(file) = std::env::var_os("PODIUM_SKIPS") {
        let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
        open.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes())).unwrap();
    }
}

/// What the attack list is tried on, or a loud word on why there is none.
pub(crate) fn attacked() -> Option<Box<dyn Sandbox>> {
    let settings = Settings { warm: Some(Duration::MAX), ..Settings::default() };
    match open(SandboxKind::Jail, &settings) {
        Ok(jail) if jail.facts().strength == Strength::Full => Some(Box::new(Warm(jail))),
        Ok(_) => {
            skip("warm starts are for jails of full strength only");
            None
        }
        Err(error) => {
            skip(&format!("no jail on this machine: {error}"));
            None
        }
    }
}

/// A jail of which every script must begin warm.
struct Warm(Box<dyn Sandbox>);

impl Sandbox for Warm {
    fn facts(&self) -> &Facts {
        self.0.facts()
    }

    fn check(&self, job: &Job) -> Result<(), SandboxError> {
        self.0.check(job)
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(async move {
            let mut job = job.clone();
            let Program::Python { code, .. } = &mut job.program else { return self.0.execute(&job).await };
            code.insert_str(0, FIT);
            let execution = self.0.execute(&job).await?;
            assert!(execution.warm, "began cold: {execution:?}");
            Ok(execution)
        })
    }

    /// A session has an interpreter of its own.
    fn open_session<'a>(&'a self, job: &'a SessionJob) -> SessionFuture<'a> {
        self.0.open_session(job)
    }
}

/// The pinned environment with its packages, where it is built: a copy of a server that has imported them. Else the
/// interpreter of the machine.
pub(crate) fn environment() -> Environment {
    let python = Interpreter::find(None).unwrap();
    let found = default_cache().and_then(|cache| Environment::find(&cache, "base", BASE, &python));
    found.unwrap_or_else(|| Environment::of_user(&python.path).unwrap())
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
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Numbers of the host's processes whose command line holds `text`.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let line = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline"));
            String::from_utf8_lossy(&line.unwrap_or_default()).contains(text)
        })
        .collect()
}
