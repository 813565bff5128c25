//! Nothing is left behind: not by hundreds of executions of all kinds, not by a killed harness, and two harnesses side
//! by side do not touch each other. Each harness here is a process of its own with a temporary folder of its own, so
//! that what it leaves can be told from what others have.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::Duration,
};

use podium_sandbox::{Job, Sandbox, SandboxKind, Settings, open};
use podium_types::execution::{Ended, Execution, LimitHit};
use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinSet};

use crate::common::{Place, eventually, groups_of, jail};

/// Set for the process that plays the harness: what it does.
const PART: &str = "PODIUM_TEST_PART";
/// Executions of all kinds, and how many of them at a time.
const EXECUTIONS: usize = 200;
const AT_A_TIME: usize = 6;

/// A harness: this very test in a process of its own.
struct Harness {
    process: Child,
    temporary: TempDir,
}

impl Harness {
    fn start(test: &str, part: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("leftovers::{test}"), "--nocapture"])
            .env(PART, part)
            .env("TMPDIR", temporary.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        Self { process, temporary }
    }

    fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// Waits until the harness says so by a file.
    fn wait_for(&self, name: &str) {
        eventually(name, || self.temporary().join(name).exists());
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Processes of jails: those that have something below the harness's folder mounted.
    fn jailed(&self) -> Vec<String> {
        let place = self.temporary().to_string_lossy().into_owned();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter(|process| process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
            .filter_map(|process| {
                let mounts = std::fs::read_to_string(process.path().join("mountinfo")).ok()?;
                let mut roots = mounts.lines().filter_map(|line| line.split(' ').nth(3));
                roots
                    .any(|root| root.contains(&place))
                    .then(|| process.file_name().to_string_lossy().into_owned())
            })
            .collect()
    }

    /// What is left of it on the machine, besides what lies in its temporary folder.
    fn left(&self) -> Vec<String> {
        let place = self.temporary().to_string_lossy().into_owned();
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mounts = mounts.lines().filter(|line| line.contains(&place)).map(str::to_owned);
        let groups = groups_of(self.process.id()).into_iter().map(|group| group.display().to_string());
        mounts.chain(groups).chain(self.jailed()).collect()
    }

    /// Folders in its temporary folder that bear a label.
    fn labelled(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.temporary()).unwrap().flatten();
        let mut folders: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| is_labelled(path.file_name())).collect();
        folders.sort();
        folders
    }
}

fn is_labelled(name: Option<&OsStr>) -> bool {
    name.is_some_and(|name| name.to_string_lossy().starts_with("podium."))
}

/// One execution of the mix: code, and what must come of it.
fn mixed(number: usize, place: &Place) -> (Job, fn(&Execution) -> bool) {
    let python = |code: &str| place.python(code);
    let by_time: fn(&Execution) -> bool = |done| matches!(done.limit, Some(LimitHit::WallClock { .. }));
    let fork = "import os, subprocess\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        \
                os.execvp('sleep', ['sleep', '1000'])\nsubprocess.Popen(['sleep', '1000'])\nprint('left')";
    match number % 10 {
        0 => (place.command(&["/bin/true"]), |done| done.succeeded()),
        1 => (python("print('fine')"), |done| done.output.text() == "fine\n"),
        2 => (python("raise ValueError('x')"), |done| done.exception.is_some()),
        3 => (python("while True: pass"), by_time),
        4 => (place.command(&["/bin/sh", "-c", "sleep 1000 & exit 3"]), |done| done.ended == Ended::Exit(3)),
        5 => (python(fork), |done| done.succeeded()),
        6 => (python("held = []\nwhile True: held.append(bytearray(b'x') * (8 << 20))"), |done| {
            matches!(done.limit, Some(LimitHit::Memory { .. }))
        }),
        7 => (python("import os\nos.abort()"), |done| done.ended == Ended::Signal(6)),
        8 => (place.command(&["/bin/sh", "-c", "kill -STOP $$"]), by_time),
        _ => (
            python(
                "import os\nos.makedirs('a/b/c')\nos.chmod('a/b', 0)\nos.symlink('/', 'root')\nos.mkfifo('f')",
            ),
            |done| done.succeeded(),
        ),
    }
}

/// Runs one of the mix; every seventh is dropped at some time, as when a run is stopped.
async fn one_of_the_mix(sandbox: &dyn Sandbox, number: usize) {
    let place = Place::new();
    let (mut job, as_wanted) = mixed(number, &place);
    job.timeout = if number % 10 == 3 || number % 10 == 8 { Duration::from_millis(600) } else { job.timeout };
    job.limits.memory_bytes = 150 << 20;
    if number % 7 == 6 {
        let wait = Duration::from_millis((number as u64 * 13) % 200);
        let _ = tokio::time::timeout(wait, sandbox.execute(&job)).await;
        // The files of a dropped execution may still be in use for a moment.
        eventually("the workspace can be removed", || {
            podium_sandbox::workspace::remove(&place.workspace()).is_ok()
        });
    } else {
        let done = sandbox.execute(&job).await.unwrap();
        assert!(as_wanted(&done), "{number}: {done:?}");
    }
}

/// The harness that runs the mix to its end.
fn run_the_mix() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let settings = Settings { grace: Duration::from_millis(200), ..Settings::default() };
        let sandbox: std::sync::Arc<dyn Sandbox> = open(SandboxKind::Jail, &settings).unwrap().into();
        let room = std::sync::Arc::new(Semaphore::new(AT_A_TIME));
        let mut all = JoinSet::new();
        for number in 0..EXECUTIONS {
            let (sandbox, room) = (sandbox.clone(), room.clone());
            all.spawn(async move {
                let _permit = room.acquire_owned().await.unwrap();
                one_of_the_mix(&*sandbox, number).await;
            });
        }
        while let Some(done) = all.join_next().await {
            done.unwrap();
        }
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        eventually("no descriptor is left", || descriptors() < 40);
    });
}

#[test]
fn two_hundred_mixed_executions_leave_nothing() {
    if std::env::var_os(PART).is_some() {
        return run_the_mix();
    }
    if jail().is_none() {
        return;
    }
    let mut harness = Harness::start("two_hundred_mixed_executions_leave_nothing", "mix");
    let ended = harness.process.wait().unwrap();
    assert!(ended.success(), "{ended}");
    eventually("the last control groups are gone", || harness.left().is_empty());
    let files: Vec<_> =
        std::fs::read_dir(harness.temporary()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(files.is_empty(), "{files:?}");
}

/// The harness that is killed: some executions that do not end, and a folder of the kind a probe makes.
fn run_without_end() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sandbox = open(SandboxKind::Jail, &Settings::default()).unwrap();
        let _scratch = podium_sandbox::scratch::folder().unwrap();
        let places = [Place::new(), Place::new(), Place::new()];
        // It says so when all of its processes are there.
        let code = "import os, time\nif os.fork() == 0: time.sleep(1000)\nif os.fork() == 0:\n    os.setsid()\n    \
                    time.sleep(1000)\nopen('submission/on', 'w').close()\ntime.sleep(1000)";
        let jobs: Vec<Job> = places.iter().map(|place| place.python(code)).collect();
        let said = std::env::temp_dir().join("running");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let on = |place: &Place| place.workspace().join("submission/on").exists();
                eventually("all run", || places.iter().all(on));
                std::fs::write(said, "").unwrap();
            });
            let [one, two, three] = [0, 1, 2].map(|number| sandbox.execute(jobs.get(number).unwrap()));
            let ended = tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(async { tokio::join!(one, two, three) })
            });
            panic!("ended by themselves: {ended:?}");
        });
    });
}

#[test]
fn a_killed_harness_is_swept_and_the_one_beside_it_is_not() {
    if std::env::var_os(PART).is_some() {
        return run_without_end();
    }
    let Some(jail) = jail() else { return };
    let test = "a_killed_harness_is_swept_and_the_one_beside_it_is_not";
    let (mut killed, mut beside) = (Harness::start(test, "killed"), Harness::start(test, "beside"));
    killed.wait_for("running");
    beside.wait_for("running");
    let alive = beside.jailed();
    assert!(alive.len() >= 6 && killed.jailed().len() >= 6);
    let folders = beside.labelled();
    assert!(!folders.is_empty() && !killed.labelled().is_empty());

    killed.kill();
    eventually("its processes are dead", || killed.jailed().is_empty());
    // A third harness starts in the temporary folder of the dead one, and sweeps it as any start does.
    let sweep = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "opening::the_facts_are_printable_and_can_be_stored"])
        .env("TMPDIR", killed.temporary())
        .output()
        .unwrap();
    assert!(sweep.status.success());
    eventually("its groups are gone", || killed.left().is_empty());
    assert_eq!(killed.labelled(), Vec::<PathBuf>::new());

    assert_eq!(beside.jailed(), alive, "the neighbour's jails live");
    assert_eq!(groups_of(beside.process.id()).is_empty(), jail.facts().cgroup.is_none());
    assert_eq!(beside.labelled(), folders);
    beside.kill();
    eventually("the neighbour is dead as well", || {
        podium_sandbox::sweep();
        beside.left().is_empty()
    });
    for harness in [killed, beside] {
        for entry in std::fs::read_dir(harness.temporary()).unwrap().flatten() {
            if entry.path().is_dir() {
                podium_sandbox::workspace::remove(&entry.path()).unwrap();
            }
        }
    }
}
