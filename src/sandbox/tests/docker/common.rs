//! What all tests share.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use podium_sandbox::{
    DockerSettings, Environment, Interpreter, Job, Sandbox, SandboxKind, Settings, SubmissionRule, open,
    workspace,
};
use podium_types::execution::{Execution, Program};
use tempfile::TempDir;

use crate::engine;

/// Says that this test is skipped, and why: on standard error, and in the file that the test command prints at its end,
/// since a runner hides the output of tests that pass.
pub(crate) fn skip(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("SKIP docker {test}: {why}\n");
    eprint!("{line}");
    if let Some(file) = std::env::var_os("PODIUM_SKIPS") {
        let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
        open.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes())).unwrap();
    }
}

/// Settings with the address of the engine, or a loud word on why there is none.
pub(crate) fn settings() -> Option<Settings> {
    match engine::address() {
        Ok(host) => Some(Settings {
            docker: DockerSettings { host, ..DockerSettings::default() },
            ..Settings::default()
        }),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

/// A docker sandbox.
pub(crate) fn docker() -> Option<Box<dyn Sandbox>> {
    settings().map(|settings| open(SandboxKind::Docker, &settings).unwrap())
}

/// What the attack list is tried on.
pub(crate) fn attacked() -> Option<Box<dyn Sandbox>> {
    docker()
}

/// What has to happen before the processes of a killed harness are dead: another starts.
pub(crate) fn next_start() {
    drop(docker());
}

/// Runs the engine's own command line; `None` where there is none.
pub(crate) fn engine_says(settings: &Settings, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("docker");
    if let Some(host) = &settings.docker.host {
        command.args(["--host", host]);
    }
    let output = command.args(arguments).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

pub(crate) fn environment() -> Environment {
    Environment::of_user(&Interpreter::find(None).unwrap().path).unwrap()
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
    let deadline = Instant::now() + Duration::from_secs(40);
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Numbers of the machine's processes whose command line is `sleep` and this number.
pub(crate) fn processes_with(number: &str) -> Vec<u32> {
    sleepers(number)
}

/// As [`processes_with`].
pub(crate) fn sleepers(number: &str) -> Vec<u32> {
    let wanted = format!("sleep\0{number}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let line = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline"));
            line.is_ok_and(|line| line == wanted.as_bytes())
        })
        .collect()
}
