//! The sandbox from outside: real jails, real Python, real attacks.
//!
//! Where bubblewrap is missing or refused the tests of the jail say SKIP and why.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::panic,
    reason = "a failing test may panic, and a skipped one must say so"
)]

mod attacks;
mod boundary;
mod callbacks;
mod environment;
mod fuzz;
mod grants;
mod harness;
mod leftovers;
mod limits;
mod opening;
mod processes;
mod results;
mod session;
#[path = "session/process.rs"]
mod session_process;
mod submission;
mod warm;

/// What all tests share.
mod common {
    use std::{
        path::{Path, PathBuf},
        time::{Duration, Instant},
    };

    use podium_sandbox::{
        Environment, Interpreter, Job, Sandbox, SandboxError, SandboxKind, Settings, SubmissionRule, open,
        workspace,
    };
    use podium_types::execution::{Execution, Program};
    use tempfile::TempDir;

    /// Says that this test is skipped, and why: on standard error, and in the file that the test command prints at
    /// its end, since a runner hides the output of tests that pass.
    pub(crate) fn skip(why: &str) {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let line = format!("SKIP {test}: {why}\n");
        eprint!("{line}");
        if let Some(file) = std::env::var_os("PODIUM_SKIPS") {
            let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
            open.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes())).unwrap();
        }
    }

    /// A jail, or a loud word on why there is none.
    pub(crate) fn jail() -> Option<Box<dyn Sandbox>> {
        jail_with(&Settings::default())
    }

    /// What the attack list is tried on.
    pub(crate) fn attacked() -> Option<Box<dyn Sandbox>> {
        jail()
    }

    /// What has to happen before the processes of a killed harness are dead: nothing.
    pub(crate) fn next_start() {}

    pub(crate) fn jail_with(settings: &Settings) -> Option<Box<dyn Sandbox>> {
        match open(SandboxKind::Jail, settings) {
            Ok(jail) => Some(jail),
            Err(error @ (SandboxError::NoBubblewrap | SandboxError::UserNamespaces { .. })) => {
                skip(&format!("no jail on this machine: {error}"));
                None
            }
            Err(error) => panic!("{error:?}"),
        }
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
            let program = Program::Python { file: "solution.py".to_owned(), code: code.to_owned() };
            self.job(program)
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

    /// Runs Python in a fresh workspace of a jail and returns the result.
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
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse() else { continue };
            let line =
                std::fs::read(Path::new("/proc").join(entry.file_name()).join("cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&line).contains(text) {
                found.push(pid);
            }
        }
        found
    }

    /// Control groups that bear the number of a harness.
    pub(crate) fn groups_of(harness: u32) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut pending = vec![PathBuf::from("/sys/fs/cgroup")];
        while let Some(folder) = pending.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("podium.") && name.contains(&format!(".{harness}.")) {
                    found.push(entry.path());
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    pending.push(entry.path());
                }
            }
        }
        found
    }
}
