//! The `podium` program as a user starts it, with a clean environment and a deadline.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::Value;

use super::held::{Held, HeldService};
use super::place::{Place, python, toy_assets};
use super::wait::PATIENCE;

/// A command to be started.
#[derive(Debug)]
pub(crate) struct Podium {
    command: Command,
}

impl Podium {
    /// The program in `place`: nothing of the caller's environment but `PATH`.
    pub(crate) fn new(place: &Place) -> Self {
        Self::of(place, Path::new(env!("CARGO_BIN_EXE_podium")))
    }

    /// As [`Self::new`], of a program that has more in it.
    pub(crate) fn of(place: &Place, program: &Path) -> Self {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", place.home())
            .env("PODIUM_DATA_DIR", place.data())
            .current_dir(place.work())
            .stdin(Stdio::null())
            .process_group(0);
        Self { command }
    }

    /// `podium run` of AIDE with the stand-in model on the toy competition, one JSON document on standard output.
    pub(crate) fn toy_run(place: &Place, steps: u32, seed: u64) -> Self {
        Self::toy_run_in(place, &place.runs(), steps, seed)
    }

    /// As [`Self::toy_run`], with the run's folder below `runs`.
    pub(crate) fn toy_run_in(place: &Place, runs: &Path, steps: u32, seed: u64) -> Self {
        Self::new(place)
            .arg("run")
            .toy()
            .args(["--scaffold", "aide", "--competition", "toy", "--model", "playbook", "--json"])
            .args(["--steps", &steps.to_string(), "--seed", &seed.to_string()])
            .args(["--memory", "512MiB", "--cpus", "1"])
            .arg("--runs-dir")
            .arg(runs)
    }

    /// As [`Self::toy_run_in`], with a service of the test's own behind the model.
    pub(crate) fn toy_run_with(place: &Place, runs: &Path, steps: u32, service: &HeldService) -> Self {
        Self::new(place)
            .arg("run")
            .toy()
            .args(["--competition", "toy", "--model", "openai/held", "--json", "--steps", &steps.to_string()])
            .args(["--memory", "512MiB", "--cpus", "1"])
            .arg("--runs-dir")
            .arg(runs)
            .held(service)
    }

    /// A run that is going on: its first request came, and is not answered as long as what is returned is kept.
    pub(crate) fn toy_run_going_on(place: &Place, service: &HeldService) -> (Running, Held) {
        let running = Self::toy_run_with(place, &place.runs(), 2, service).start();
        (running, service.request())
    }

    /// Where the service behind the model is.
    #[must_use]
    pub(crate) fn held(self, service: &HeldService) -> Self {
        self.env("OPENAI_BASE_URL", service.base()).env("OPENAI_API_KEY", "none")
    }

    /// `podium resume RUN --json`.
    pub(crate) fn resume(place: &Place, run: &Path) -> Self {
        Self::new(place).arg("resume").arg(run).arg("--json")
    }

    /// The toy competition's assets and Python.
    #[must_use]
    pub(crate) fn toy(self) -> Self {
        self.arg("--assets").arg(toy_assets()).arg("--python").arg(python())
    }

    /// One more argument.
    #[must_use]
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// More arguments.
    #[must_use]
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    /// One environment variable.
    #[must_use]
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Dies by SIGKILL at this instant of the journal, for example `before_commit:7`.
    #[must_use]
    pub(crate) fn failpoint(self, instant: &str) -> Self {
        self.env("PODIUM_FAILPOINT", instant)
    }

    /// What comes on standard input.
    #[must_use]
    pub(crate) fn stdin(mut self, file: std::fs::File) -> Self {
        self.command.stdin(file);
        self
    }

    /// Starts it in a process group of its own.
    pub(crate) fn start(mut self) -> Running {
        let shown = format!("{:?}", self.command.get_args().collect::<Vec<_>>());
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let stdout = Gathered::from(child.stdout.take().unwrap());
        let stderr = Gathered::from(child.stderr.take().unwrap());
        let (sender, ended) = mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait()));
        Running { shown, pid, ended, stdout, stderr }
    }

    /// Runs it to its end.
    pub(crate) fn output(self) -> Finished {
        self.start().wait()
    }
}

/// What has come through a pipe so far.
#[derive(Debug)]
struct Gathered {
    bytes: Arc<Mutex<Vec<u8>>>,
    whole: JoinHandle<()>,
}

impl Gathered {
    fn from(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let so_far = Arc::clone(&bytes);
        let whole = std::thread::spawn(move || {
            let mut piece = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut piece) {
                so_far.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        Self { bytes, whole }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// All of it, when the pipe has been closed.
    fn join(self) -> String {
        let Self { bytes, whole } = self;
        whole.join().unwrap();
        let bytes = bytes.lock().unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A command that was started.
#[derive(Debug)]
pub(crate) struct Running {
    shown: String,
    pid: Pid,
    ended: mpsc::Receiver<std::io::Result<ExitStatus>>,
    stdout: Gathered,
    stderr: Gathered,
}

impl Running {
    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// What has come on standard output so far.
    pub(crate) fn said(&self) -> String {
        self.stdout.text()
    }

    /// Whether this has come on standard output.
    pub(crate) fn has_said(&self, text: &str) -> bool {
        self.stdout.text().contains(text)
    }

    /// Whether this has come on standard error.
    pub(crate) fn has_told(&self, text: &str) -> bool {
        self.stderr.text().contains(text)
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.pid, signal);
    }

    /// `kill -9` of the process alone: what it started has to die by itself.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// `kill -9` of its whole process group.
    pub(crate) fn kill_group(&self) {
        let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
    }

    /// Whether it is no more, or only waits to be told of.
    pub(crate) fn has_ended(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap_or_default();
        stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
    }

    /// Lets it run for `delay` and kills it then, unless it ends before.
    pub(crate) fn killed_after(self, delay: Duration) -> Finished {
        match self.ended.recv_timeout(delay) {
            Ok(status) => self.finished(status.unwrap()),
            Err(_) => {
                self.kill();
                self.wait()
            }
        }
    }

    /// Waits for its end.
    pub(crate) fn wait(self) -> Finished {
        let status = match self.ended.recv_timeout(PATIENCE) {
            Ok(status) => status.unwrap(),
            Err(_) => {
                self.kill_group();
                let said = self.stderr.join();
                panic!("podium {} did not end in {PATIENCE:?}; it said:\n{said}", self.shown);
            }
        };
        self.finished(status)
    }

    fn finished(self, status: ExitStatus) -> Finished {
        Finished {
            shown: self.shown,
            code: status.code(),
            signal: status.signal(),
            stdout: self.stdout.join(),
            stderr: self.stderr.join(),
        }
    }
}

/// What a command left.
#[derive(Debug)]
pub(crate) struct Finished {
    shown: String,
    /// Its exit code.
    pub(crate) code: Option<i32>,
    /// The signal it died by.
    pub(crate) signal: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Finished {
    /// Fails with everything it said unless it ended with this exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "podium {}\n{}\n{}", self.shown, self.stdout, self.stderr);
        self
    }

    /// Whether it died by SIGKILL.
    pub(crate) fn was_killed(&self) -> bool {
        self.signal == Some(Signal::KILL.as_raw())
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("podium {}: {error}\n{}\n{}", self.shown, self.stdout, self.stderr),
        }
    }
}
