//! An experiment as a Slurm array on a real cluster of one host: a task whose program is killed is put back and goes on,
//! one that is told to end stops, is put back and goes on, and nothing that was answered is asked again.
//!
//! These tests need Slurm (`tests/cluster/with.sh`) and have a nextest profile of their own, `cluster`.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::service::Service;
use crate::support::reference::Left;
use crate::support::{Place, Podium, Run, need, wait};

/// What the cluster says; `None` where it refuses.
fn slurm(program: &str, arguments: &[&str]) -> Option<String> {
    let told = Command::new(program).args(arguments).output().unwrap();
    told.status.success().then(|| String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

/// Hands a script in as somebody in `place` does, and says the number of the job.
fn submit(place: &Place, service: &Service, script: &str) -> String {
    let file = place.write("array.sh", script);
    let program = Path::new(env!("CARGO_BIN_EXE_podium")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let told = Command::new("sbatch")
        .arg("--parsable")
        .arg("--output")
        .arg(place.path().join("slurm-%a.out"))
        .stdin(std::fs::File::open(file).unwrap())
        .stderr(Stdio::inherit())
        .env("PATH", path)
        .env("HOME", place.home())
        .env("OPENAI_BASE_URL", service.url())
        .env("OPENAI_API_KEY", "none")
        .current_dir(place.work())
        .output()
        .unwrap();
    assert!(told.status.success(), "{told:?}");
    String::from_utf8(told.stdout).unwrap().trim().to_owned()
}

/// What the tasks of the array have said so far.
fn said(place: &Place) -> String {
    let read = |task: u32| {
        std::fs::read_to_string(place.path().join(format!("slurm-{task}.out"))).unwrap_or_default()
    };
    format!("{}{}", read(0), read(1))
}

/// A task that was put back waits two minutes for its node to settle; here as long as its last life's credential is
/// remembered as revoked (`cred_expire` in `tests/cluster/with.sh`): begun sooner, it is refused and lost.
struct Hurried {
    task: String,
    looked: Cell<Instant>,
    waits_since: Cell<Option<Instant>>,
}

impl Hurried {
    const SETTLED: Duration = Duration::from_secs(6);

    fn new(task: String) -> Self {
        Self { task, looked: Cell::new(Instant::now()), waits_since: Cell::new(None) }
    }

    fn hurry(&self) {
        // The controller has more to do than to answer this.
        if self.looked.get().elapsed() < Duration::from_millis(200) {
            return;
        }
        self.looked.set(Instant::now());
        let waits = slurm("squeue", &["-h", "-j", &self.task, "-t", "PENDING", "-o", "%T"]);
        let since = (waits.as_deref() == Some("PENDING"))
            .then(|| self.waits_since.get().unwrap_or_else(Instant::now));
        self.waits_since.set(since);
        if since.is_some_and(|since| since.elapsed() > Self::SETTLED) {
            slurm("scontrol", &["update", &format!("JobId={}", self.task), "StartTime=now"]);
        }
    }
}

/// The process that runs the folder.
fn program_of(folder: &Path) -> Pid {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_podium"));
    let runs = |pid: i32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        let folder = folder.to_string_lossy().into_owned();
        program.as_ref() == Some(&own)
            && String::from_utf8_lossy(&words).split('\0').any(|word| word == folder)
    };
    wait::until("the program of the task", || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut ids = processes.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
        ids.find(|pid| runs(*pid)).and_then(Pid::from_raw)
    })
}

fn experiment(place: &Place, command: &str) -> Podium {
    Podium::new(place).args(["experiment", command])
}

fn status(place: &Place) -> Value {
    let asked = experiment(place, "status").args(["ab", "--json", "--runs-dir"]).arg(place.runs());
    asked.output().expect(0).json()
}

#[test]
fn an_array_whose_tasks_are_killed_and_told_to_end_ends_well() {
    const NAME: &str = "an_array_whose_tasks_are_killed_and_told_to_end_ends_well";
    if std::env::var_os("SLURM_CONF").is_none() {
        let why = std::env::var("PODIUM_SLURM_MISSING").unwrap_or("run by tests/cluster/with.sh".to_owned());
        need::skip(NAME, &why);
        return;
    }
    if !need::jail(NAME) {
        return;
    }
    let place = Place::new();
    // Two answers do not come: there is time to kill the one program and to tell the other to end.
    let service = Service::toy(["ok", "stall", "hold"]);
    let matrix = ["--name", "ab", "--scaffolds", "aide,dummy", "--competitions", "toy", "--steps", "2"];
    let matrix = service.behind(experiment(&place, "run").toy().args(matrix)).args(["--memory", "512MiB"]);
    let matrix = matrix.args(["--model", "openai/gpt-4.1-mini", "--cpus", "1", "--only-plan", "--runs-dir"]);
    matrix.arg(place.runs()).output().expect(0);
    let plan = |format: &str| {
        let plan = experiment(&place, "plan").args(["ab", "--format", format, "--runs-dir"]);
        plan.arg(place.runs()).output().expect(0).stdout
    };
    let job = submit(&place, &service, &plan("sbatch"));
    let task = format!("{job}_0");
    let hurried = Hurried::new(task.clone());
    let asked = |times: usize| {
        wait::until("a call is in flight", || {
            hurried.hurry();
            (service.requests().len() == times).then_some(())
        });
    };

    let aide = wait::until("the run of AIDE", || {
        let mut runs = Run::all(&place.runs().join("ab")).into_iter().map(|run| run.path);
        runs.find(|path| path.is_dir() && path.to_string_lossy().contains("aide-toy"))
    });
    asked(2);
    let before = Left::by(&Run { path: aide.clone() });
    rustix::process::kill_process(program_of(&aide), Signal::KILL).unwrap();
    asked(3);
    slurm("scancel", &["--batch", "--signal=TERM", &task]).unwrap();
    wait::until("the program stops", || said(&place).contains("\nstopping ").then_some(()));
    service.release();

    // Between its two lives a task may stand in no queue.
    wait::until("the array has ended", || {
        hurried.hurry();
        let left = slurm("squeue", &["-h", "-j", &job, "-o", "%T"])?;
        let told = status(&place);
        (left.is_empty() && told["states"] == json!({"graded": 2})).then_some(())
    });
    assert_eq!(status(&place)["ended"], 2, "{}", said(&place));
    let now = Left::by(&Run { path: aide });
    assert!(now.begins_with(&before), "what was committed has changed");
    now.accounts_for_every_try();
    let restarts = slurm("scontrol", &["show", "job", &task]).unwrap();
    assert!(restarts.contains("Restarts=2") && restarts.contains("JobState=COMPLETED"), "{restarts}");
    assert!(plan("sbatch").is_empty(), "nothing is left");
}
