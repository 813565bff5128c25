//! Parallel workers from outside: exact steps, slow executions that hold nobody up, resources shared, and promise 1 when
//! several effects are in flight at the kill.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use podium_types::rng::Rng;
use rustix::process::Signal;

use crate::support::held::HeldService;
use crate::support::reference::{Left, in_parallel};
use crate::support::{Place, Podium, Run, need, wait};

/// Kills, each in a run of its own, shared among the search scaffolds.
const KILLS: usize = 16;
/// Steps of each of these runs.
const STEPS: u32 = 9;

/// The scaffolds that search a tree.
fn searches(place: &Place) -> Vec<String> {
    let listed = Podium::new(place).args(["scaffolds", "list", "--json"]).output().expect(0).json();
    let all = listed.as_array().unwrap().iter().filter(|scaffold| scaffold["strategy"] == "tree_search");
    all.map(|scaffold| scaffold["id"].as_str().unwrap().to_owned()).collect()
}

fn run(place: &Place, runs: &Path, scaffold: &str, workers: usize, steps: u32, seed: u64) -> Podium {
    let workers = format!("search.workers={workers}");
    Podium::new(place)
        .arg("run")
        .toy()
        .args(["--scaffold", scaffold, "--competition", "toy", "--model", "playbook", "--json"])
        .args(["--steps", &steps.to_string(), "--seed", &seed.to_string(), "--set", &workers])
        .args(["--memory", "256MiB", "--cpus", "1"])
        .arg("--runs-dir")
        .arg(runs)
}

#[test]
fn steps_are_exact_whatever_the_number_of_workers() {
    if !need::jail("steps_are_exact_whatever_the_number_of_workers") {
        return;
    }
    let place = Place::new();
    in_parallel(&[1, 2, 4, 7], |workers| {
        let runs = place.runs().join(workers.to_string());
        for (steps, asked) in [(3, None), (8, Some("8"))] {
            let report = match asked {
                None => run(&place, &runs, "aide", *workers, steps, 1).output().expect(0).json(),
                Some(more) => {
                    let resume = Podium::resume(&place, &Run::only(&runs).path).args(["--steps", more]);
                    resume.output().expect(0).json()
                }
            };
            assert_eq!((&report["stopped_by"], &report["nodes"]["total"]), (&"steps".into(), &steps.into()));
        }
        let run = Run::only(&runs);
        assert!(run.intents().values().all(|tries| *tries == 1), "{workers} workers: a call was sent again");
        assert!(run.open_intents().is_empty());
        Podium::new(&place).arg("replay").arg(&run.path).output().expect(0);
    });
}

/// Nodes with a record in the journal.
fn recorded(run: &Run) -> Vec<String> {
    let keys = run.rows().into_iter().filter_map(|row| row.key);
    keys.filter(|key| key.ends_with("/record/0")).collect()
}

#[test]
fn an_execution_that_does_not_end_holds_nobody_up() {
    if !need::jail("an_execution_that_does_not_end_holds_nobody_up") {
        return;
    }
    let place = Place::new();
    let service = HeldService::start();
    // More workers than this machine may have processors: two of them hang.
    let start = Podium::toy_run_with(&place, &place.runs(), 8, &service).args(["--set", "search.workers=3"]);
    let running = start.start();
    let script = |code: &str| format!("I try it.\n\n```python\n{code}\n```\n");
    let document =
        r#"{"is_bug": true, "summary": "Nothing was written.", "metric": null, "lower_is_better": null}"#;
    for _ in 0..2 {
        service.request().answer(&script("while True:\n    pass"));
    }
    // The third worker goes on alone.
    let run = wait::until("the run's folder", || {
        Run::all(&place.runs()).into_iter().find(|run| run.path.join("journal.db").exists())
    });
    let mut answered = 0;
    while recorded(&run).len() < 3 {
        let held = service.request();
        let reviews = held.body.get("response_format").is_some() || held.body.to_string().contains("is_bug");
        held.answer(&if reviews { document.to_owned() } else { script("print(1)") });
        answered += 1;
        assert!(answered < 40, "the third worker does not come to an end");
    }
    running.signal(Signal::INT);
    // The call that the third worker waits for may answer; a second interrupt does not wait for it.
    wait::until("the end", || {
        running.signal(Signal::INT);
        running.has_ended().then_some(())
    });
    running.wait().expect(5);
    Podium::new(&place).arg("replay").arg(&run.path).output().expect(0);
}

/// A tree that stands for a machine with two GPUs.
fn two_gpus(place: &Place) -> PathBuf {
    let root = place.path().join("two-gpus");
    std::fs::create_dir_all(root.join("dev")).unwrap();
    for gpu in 0..2 {
        let told = root.join(format!("proc/driver/nvidia/gpus/0000:4{gpu}:00.0"));
        std::fs::create_dir_all(&told).unwrap();
        let text = format!("Model: \t NVIDIA A10\nGPU UUID: \t GPU-{gpu}\nDevice Minor: \t {gpu}\n");
        std::fs::write(told.join("information"), text).unwrap();
        std::fs::write(root.join(format!("dev/nvidia{gpu}")), "").unwrap();
    }
    for node in ["nvidiactl", "nvidia-uvm"] {
        std::fs::write(root.join("dev").join(node), "").unwrap();
    }
    root
}

#[test]
fn each_worker_has_a_gpu_of_its_own() {
    if !need::jail("each_worker_has_a_gpu_of_its_own") {
        return;
    }
    let place = Place::new();
    let root = two_gpus(&place);
    let service = HeldService::start();
    let start = |workers: &str| {
        Podium::toy_run_with(&place, &place.runs(), 2, &service)
            // One process for each execution, which is looked for below.
            .args(["--gpus", "1", "--warm", "off", "--set", workers])
            .env("PODIUM_GPU_ROOT", &root)
    };
    let refused = start("search.workers=3").output().expect(2);
    assert!(refused.stderr.contains("3 GPUs"), "{}", refused.stderr);
    let running = start("search.workers=2").start();
    // Both are executed at the same time: neither ends by itself.
    let code = "import os\nprint([name for name in os.listdir('/dev') if name[6:].isdigit()], flush=True)\n\
                while True:\n    pass";
    for _ in 0..2 {
        service.request().answer(&format!("I look.\n\n```python\n{code}\n```\n"));
    }
    let seen = wait::until("both executions", || {
        let seen: Vec<String> = gpus_of_children(running.pid());
        (seen.len() == 2).then_some(seen)
    });
    running.kill();
    running.wait();
    assert_eq!(seen, ["nvidia0", "nvidia1"]);
}

/// The GPU nodes that the scripts below a process see, each as it sees them.
fn gpus_of_children(harness: u32) -> Vec<String> {
    let mut seen = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = process.path();
        let command = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        if !command.ends_with("solution.py\0") || command.contains("bwrap") || !descends(&path, harness) {
            continue;
        }
        let names = std::fs::read_dir(path.join("root/dev")).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        seen.extend(
            names.filter(|name| name.strip_prefix("nvidia").is_some_and(|rest| rest.parse::<u8>().is_ok())),
        );
    }
    seen.sort();
    seen
}

fn descends(path: &Path, ancestor: u32) -> bool {
    let mut path = path.to_owned();
    for _ in 0..8 {
        let stat = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let parent =
            stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        match parent {
            Some(parent) if parent == ancestor => return true,
            Some(parent) if parent > 1 => path = format!("/proc/{parent}").into(),
            _ => return false,
        }
    }
    false
}

#[test]
fn kills_with_four_workers_lose_nothing_whatever_is_in_flight() {
    let test = "kills_with_four_workers_lose_nothing_whatever_is_in_flight";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let place = Place::new();
    let searches = searches(&place);
    let begun = Instant::now();
    let cases: Vec<usize> = (0..KILLS).collect();
    let in_flight = std::sync::Mutex::new(BTreeMap::<usize, usize>::new());
    in_parallel(&cases, |case| {
        let mut rng = Rng::new(4000 + *case as u64);
        let scaffold = &searches[case % searches.len()];
        let runs = place.path().join(format!("cases/{case}"));
        let named = format!("case {case}, {scaffold}");
        let mut kept = Left::nothing();
        let mut sitting = 0;
        loop {
            // Two kills, then to the end. The journal of such a run has some sixty entries, calls all along.
            let mut instant = |ahead: usize| {
                let at = ["before_commit", "after_commit", "after_intent"][rng.below(3)];
                format!("{at}:{}", kept.entries() + 1 + rng.below(ahead) as u64)
            };
            let podium = match sitting {
                0 => run(&place, &runs, scaffold, 4, STEPS, *case as u64).failpoint(&instant(30)),
                1 => Podium::resume(&place, &Run::only(&runs).path).failpoint(&instant(20)),
                _ => Podium::resume(&place, &Run::only(&runs).path),
            };
            let ended = podium.output();
            let left = Left::by(&Run::only(&runs));
            assert!(left.begins_with(&kept), "{named}: the prefix changed");
            assert!(left.open().len() <= 4, "{named}: {:?}", left.open());
            kept = left;
            sitting += 1;
            if ended.was_killed() {
                *in_flight.lock().unwrap().entry(kept.open().len()).or_default() += 1;
                continue;
            }
            let report = ended.expect(0).json();
            assert_eq!(report["stopped_by"], "steps", "{named}");
            assert_eq!(report["nodes"]["total"], STEPS, "{named}");
            break;
        }
        assert!(kept.open().is_empty(), "{named}");
        // Every try has its answer or its charge: nothing that was answered was sent again.
        kept.accounts_for_every_try();
        let run = Run::only(&runs);
        let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
        assert_eq!(
            (&replay["agrees"], &replay["entries"]),
            (&true.into(), &kept.entries().into()),
            "{named}"
        );
    });
    let in_flight = in_flight.into_inner().unwrap();
    let kills: usize = in_flight.values().sum();
    eprintln!("{kills} kills, by calls in flight {in_flight:?}, {:.1} s", begun.elapsed().as_secs_f64());
    assert!(kills >= KILLS && in_flight.len() > 1, "{in_flight:?}");
}
