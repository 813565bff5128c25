//! What executions are granted is what there is, shared by those that may run at the same time; and orders that
//! contradict themselves are refused before anything is made.

use std::path::Path;

use serde_json::Value;

use crate::support::{Place, Podium, Run, need, place};

fn dry_run(place: &Place, options: &[&str]) -> Podium {
    let podium = Podium::new(place).env("PODIUM_ASSETS", place::toy_assets());
    podium.args(["run", "-c", "toy", "-m", "playbook", "--dry-run", "--json"]).args(options)
}

fn grants(place: &Place, options: &[&str]) -> (u64, u64) {
    let document = dry_run(place, options).output().expect(0).json();
    let grants = &document["config"]["task"]["grants"];
    assert_eq!(grants["memory_bytes"], document["config"]["sandbox"]["memory_bytes"]);
    assert_eq!(grants["cpus"], document["config"]["sandbox"]["cpus"]);
    (grants["cpus"].as_u64().unwrap(), grants["memory_bytes"].as_u64().unwrap())
}

#[test]
fn workers_share_the_machine() {
    let place = Place::new();
    let (cpus, memory) = grants(&place, &[]);
    for workers in [2, 3, 64] {
        let shared = grants(&place, &["--set", &format!("search.workers={workers}")]);
        assert_eq!(shared, ((cpus / workers).max(1), memory / workers), "{workers} workers");
    }
    let (workers, half) = (["--set", "search.workers=2"], format!("{}MiB", (memory >> 20) / 2));
    grants(&place, &[&workers[..], &["--memory", &half, "--cpus", "1"]].concat());
    let much = format!("{}MiB", memory >> 20);
    let refused = dry_run(&place, &[&workers[..], &["--memory", &much]].concat()).output().expect(2);
    assert!(refused.stderr.contains("2 executions at a time with"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: grant less"), "{}", refused.stderr);
    if cpus > 1 {
        let refused = dry_run(&place, &[&workers[..], &["--cpus", &cpus.to_string()]].concat());
        assert!(refused.output().expect(2).stderr.contains("processors each need"));
    }
}

/// A library whose every script prints the processors that it may use, and takes its time.
fn telling_assets(place: &Place) -> std::path::PathBuf {
    let assets = place.path().join("assets");
    let copied = std::process::Command::new("cp").arg("-r").arg(place::toy_assets()).arg(&assets).status();
    assert!(copied.unwrap().success());
    let tell = "import os, time\nprint('cpus', sorted(os.sched_getaffinity(0)), time.time(), flush=True)\n\
                time.sleep(1)\n";
    let end = "\nprint('ended', time.time())\n";
    for script in std::fs::read_dir(assets.join("benchmark/offline/toy/playbook")).unwrap().flatten() {
        if script.path().extension().is_some_and(|end| end == "py") {
            let text = std::fs::read_to_string(script.path()).unwrap();
            std::fs::write(script.path(), format!("{tell}{text}{end}")).unwrap();
        }
    }
    assets
}

/// An execution, as it told of itself.
#[derive(Debug)]
struct Told {
    cpus: Vec<usize>,
    start: f64,
    end: f64,
}

impl Told {
    fn read(output: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(output).ok()?;
        let first = text.lines().find_map(|line| line.strip_prefix("cpus "))?;
        let (cpus, start) = first.rsplit_once(' ')?;
        let end = text.lines().find_map(|line| line.strip_prefix("ended "))?;
        Some(Self {
            cpus: serde_json::from_str(cpus).ok()?,
            start: start.parse().ok()?,
            end: end.parse().ok()?,
        })
    }

    fn runs_at(&self, time: f64) -> bool {
        self.start <= time && time < self.end
    }
}

/// Workers with enough processors share none; where they are more, no processor has more of them than its even share.
#[test]
fn executions_at_the_same_time_share_no_more_processors_than_they_must() {
    if !need::jail("executions_at_the_same_time_share_no_more_processors_than_they_must") {
        return;
    }
    let machine = podium_sandbox::CpuSet::default().ids();
    for (workers, steps) in [(2, "4"), (4, "8")] {
        let place = Place::new();
        let run =
            Podium::new(&place).args(["run", "-c", "toy", "-m", "playbook", "--steps", steps, "--json"]);
        let run = run.arg("--assets").arg(telling_assets(&place)).arg("--python").arg(place::python());
        let run = run.args(["--memory", "512MiB", "--cpus", "1"]);
        let run = run.args(["--set", &format!("search.workers={workers}")]);
        run.arg("--runs-dir").arg(place.runs()).output().expect(0);
        let nodes = std::fs::read_dir(Run::only(&place.runs()).path.join("nodes")).unwrap().flatten();
        let told: Vec<Told> = nodes.filter_map(|node| Told::read(&node.path().join("output.txt"))).collect();
        assert!(told.len() >= workers, "{told:?}");
        let share = workers.div_ceil(machine.len().min(workers));
        for one in &told {
            assert!(matches!(one.cpus.as_slice(), [cpu] if machine.contains(cpu)), "{one:?} of {machine:?}");
            let beside = told.iter().filter(|other| other.cpus == one.cpus && other.runs_at(one.start));
            assert!(beside.count() <= share, "{workers} workers, {machine:?}: {told:?}");
        }
        // Those that ran at the same time did use more than one.
        let most = told.iter().map(|one| told.iter().filter(|other| other.runs_at(one.start)).count()).max();
        let used: std::collections::BTreeSet<_> = told.iter().map(|one| &one.cpus).collect();
        assert!(used.len() >= most.unwrap().div_ceil(share), "{workers} workers, {machine:?}: {told:?}");
    }
}

#[test]
fn a_wrong_events_file_leaves_no_run() {
    let place = Place::new();
    let (into, none) = (place.path().join("into"), place.path().join("none/events"));
    let order = || {
        let podium = Podium::new(&place).args(["run", "-c", "toy", "-m", "playbook", "--sandbox", "process"]);
        podium.toy().args(["--steps", "1", "--memory", "512MiB", "--cpus", "1"])
    };
    let wrong = |podium: Podium| podium.arg("--events").arg(&none).output().expect(2);
    wrong(order().arg("--runs-dir").arg(place.runs()));
    assert!(Run::all(&place.runs()).is_empty());
    wrong(order().arg("--into").arg(&into));
    assert!(!into.exists());
    std::fs::create_dir(&into).unwrap();
    wrong(order().arg("--into").arg(&into));
    assert_eq!(std::fs::read_dir(&into).unwrap().count(), 0);
    // In the run's own folder it is welcome.
    order().arg("--into").arg(&into).arg("--events").arg(into.join("events.jsonl")).output().expect(0);
    assert!(into.join("events.jsonl").exists() && into.join("run.json").exists());
}

#[test]
fn a_profile_and_a_python_exclude_each_other() {
    let place = Place::new();
    let refused =
        dry_run(&place, &["--environment", "base", "--python"]).arg(place::python()).output().expect(2);
    assert!(refused.stderr.contains("exclude each other"), "{}", refused.stderr);
}

#[test]
fn a_run_keeps_the_entry_of_its_competition_alone() {
    let place = Place::new();
    let assets = place.path().join("assets");
    let toy = place::toy_assets().join("benchmark/offline/toy");
    let text = std::fs::read_to_string(toy.join("competition.toml")).unwrap();
    place.write("assets/podium.toml", "");
    for id in ["kite", "kite-two", "kites"] {
        let name = format!("assets/benchmark/competitions/{id}/competition.toml");
        place.write(&name, text.replacen("id = \"toy\"", &format!("id = \"{id}\""), 1));
        let board = std::fs::read(toy.join("board.csv")).unwrap();
        place.write(&format!("assets/benchmark/competitions/{id}/board.csv"), board);
    }
    for part in ["data", "playbook"] {
        let to = assets.join("benchmark/offline/kite");
        std::fs::create_dir_all(&to).unwrap();
        let copied = std::process::Command::new("cp").arg("-r").arg(toy.join(part)).arg(to).status();
        assert!(copied.unwrap().success());
    }
    let podium = Podium::new(&place).args(["run", "-c", "kite", "-m", "playbook", "--dry-run", "--json"]);
    let document = podium.arg("--assets").arg(&assets).output().expect(0).json();
    let files = document["config"]["competition"].as_object().unwrap();
    let names: Vec<&String> = files.keys().collect();
    assert!(files.values().all(Value::is_string) && !names.is_empty(), "{names:?}");
    assert!(names.iter().all(|name| name.contains("/kite/")), "{names:?}");
}
