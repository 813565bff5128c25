//! Experiments from outside: a matrix is planned, killed again and again, resumed, complete, and nothing committed is
//! repeated; what is added later runs alone.

mod examples;
mod limits;
mod terminal;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::place::python;
use crate::support::reference::Left;
use crate::support::{Place, Podium, Run, need, wait};

const MATRIX: [&str; 16] = [
    "--name",
    "ab",
    "--scaffolds",
    "aide,dummy",
    "--competitions",
    "toy",
    "--model",
    "playbook",
    "--steps",
    "3",
    "--memory",
    "512MiB",
    "--cpus",
    "1",
    "--retry-wait",
    "1s",
];

fn experiment(place: &Place, command: &str) -> Podium {
    Podium::new(place).arg("experiment").arg(command).toy().arg("--json").arg("--runs-dir").arg(place.runs())
}

fn matrix(place: &Place, seeds: &str) -> Podium {
    experiment(place, "run").args(MATRIX).args(["--seeds", seeds])
}

fn folders(place: &Place) -> Vec<PathBuf> {
    let runs = Run::all(&place.runs().join("ab"));
    runs.into_iter().map(|run| run.path).filter(|path| path.is_dir()).collect()
}

/// Scores by arm and seed.
fn scores(document: &Value) -> BTreeMap<String, Value> {
    let rows = document["runs"].as_array().unwrap().iter();
    rows.map(|row| (format!("{} {}", row["arm"]["scaffold"], row["seed"]), row["score"].clone())).collect()
}

#[test]
fn a_dry_run_plans_and_makes_nothing() {
    let place = Place::new();
    let planned = matrix(&place, "3").arg("--dry-run").output().expect(0);
    let plan = planned.json();
    assert_eq!(plan["runs"].as_array().unwrap().len(), 6);
    assert!(planned.stderr.contains("2 arms × 1 competitions × 3 seeds = 6 runs"), "{}", planned.stderr);
    assert!(planned.stderr.contains("nothing can be significant"), "{}", planned.stderr);
    assert!(!place.runs().join("ab").exists());
    let mistakes: [(&[&str], &str); 5] = [
        (&["--with", "stepps=3"], "nearest: steps"),
        (&["--competitions", "nosuch"], "nosuch"),
        (&["--with", "memory=lots"], "write a size"),
        (&["--name", "a/b"], "cannot be the name"),
        (&["--cap-tokens", "100"], "needs a token limit"),
    ];
    for (wrong, said) in mistakes {
        let mut command = experiment(&place, "run").args(["--scaffolds", "aide", "--model", "playbook"]);
        if wrong[0] != "--name" {
            command = command.args(["--name", "x"]);
        }
        if wrong[0] != "--competitions" {
            command = command.args(["--competitions", "toy"]);
        }
        let refused = command.args(wrong).output().expect(2);
        assert!(refused.stderr.contains(said), "{wrong:?}: {}", refused.stderr);
    }
}

#[test]
fn killed_three_times_it_is_completed_and_repeats_nothing() {
    if !need::jail("killed_three_times_it_is_completed_and_repeats_nothing") {
        return;
    }
    let (place, whole) = (Place::new(), Place::new());
    let reference = matrix(&whole, "2").output().expect(0).json();
    assert_eq!((&reference["planned"], &reference["states"]["graded"]), (&4.into(), &4.into()));
    assert!(scores(&reference).values().all(Value::is_number));

    let mut left: BTreeMap<PathBuf, Left> = BTreeMap::new();
    let mut killed = 0;
    for begun in 1..=3 {
        let command = if killed == 0 { matrix(&place, "2") } else { experiment(&place, "resume").arg("ab") };
        let running = command.start();
        wait::until("one more run that has begun", || {
            let journals = folders(&place).into_iter().filter(|folder| folder.join("journal.db").exists());
            (journals.count() >= begun).then_some(())
        });
        running.kill();
        killed += u32::from(running.wait().was_killed());
        for folder in folders(&place) {
            let now = Left::by(&Run { path: folder.clone() });
            if let Some(before) = left.get(&folder) {
                assert!(now.begins_with(before), "{}: what was committed has changed", folder.display());
            }
            left.insert(folder, now);
        }
    }
    let ended = experiment(&place, "resume").arg("ab").output().expect(0).json();
    assert_eq!((&ended["ended"], &ended["states"]), (&4.into(), &reference["states"]));
    assert_eq!((scores(&ended), killed), (scores(&reference), 3));
    for folder in folders(&place) {
        let now = Left::by(&Run { path: folder.clone() });
        now.accounts_for_every_try();
        assert!(left.get(&folder).is_none_or(|before| now.begins_with(before)), "{}", folder.display());
    }

    // One more seed: what is there is not touched.
    let before: Vec<Left> =
        folders(&place).iter().map(|path| Left::by(&Run { path: path.clone() })).collect();
    let names = folders(&place);
    let more = matrix(&place, "3").output().expect(0);
    assert_eq!((&more.json()["planned"], &more.json()["ended"]), (&6.into(), &6.into()));
    assert_eq!(more.stderr.matches("begins").count(), 2, "{}", more.stderr);
    for (path, before) in names.into_iter().zip(before) {
        assert_eq!(Left::by(&Run { path }).entries(), before.entries());
    }
    let status =
        Podium::new(&place).args(["experiment", "status", "ab", "--json", "--runs-dir"]).arg(place.runs());
    assert_eq!(status.output().expect(0).json()["states"]["graded"], 6);

    let report = || Podium::new(&place).args(["experiment", "report", "ab", "--runs-dir"]).arg(place.runs());
    let made = report().arg("--json").output().expect(0).json();
    assert_eq!((&made["planned"], &made["missing"]), (&6.into(), &serde_json::json!([])));
    let table = &made["tables"][0];
    assert_eq!((&table["split"], &table["baselines"]), (&"offline".into(), &true.into()));
    let dummy = table["rows"].as_array().unwrap().iter().find(|row| row["arm"] == "dummy").unwrap();
    assert_eq!((&dummy["valid"]["mean"], &dummy["any_medal"]["mean"]), (&100.0.into(), &0.0.into()));
    let text = report().output().expect(0).stdout;
    for said in ["stand-in", "nothing can be significant", "undecided", "not a confidence interval"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let refused = report().args(["--by", "nosuch"]).output().expect(2);
    assert!(refused.stderr.contains("its axes: "), "{}", refused.stderr);
}

#[test]
fn the_printed_commands_run_the_plan_elsewhere() {
    if !need::jail("the_printed_commands_run_the_plan_elsewhere") {
        return;
    }
    let place = Place::new();
    // A value of each kind that an option takes otherwise than a setting does.
    let shared = place.path().join("shared words");
    std::fs::create_dir(&shared).unwrap();
    let mount = format!("mount.words={}", shared.display());
    let settings = ["--with", &mount, "--with", "warm=false", "--with", "tmp=64MiB"];
    let planned = matrix(&place, "1").args(settings).arg("--only-plan").output().expect(0).json();
    assert_eq!(planned["states"]["not_begun"], 2);
    let plan = |format: &str| {
        let command =
            Podium::new(&place).args(["experiment", "plan", "ab", "--format", format, "--runs-dir"]);
        command.arg(place.runs()).output().expect(0).stdout
    };
    let commands = plan("commands");
    assert_eq!(commands.lines().count(), 2, "{commands}");
    for line in commands.lines() {
        // As a shell on another machine runs it.
        let program = env!("CARGO_BIN_EXE_podium");
        let script = format!("podium() {{ {program} \"$@\"; }}; {line}");
        let ran = std::process::Command::new("sh")
            .args(["-c", &script])
            .env("HOME", place.home())
            .env("PODIUM_DATA_DIR", place.data())
            .current_dir(place.work())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{line}\n{}", String::from_utf8_lossy(&ran.stderr));
    }
    let status =
        Podium::new(&place).args(["experiment", "status", "ab", "--json", "--runs-dir"]).arg(place.runs());
    let status = status.output().expect(0).json();
    assert_eq!((&status["ended"], &status["states"]["graded"]), (&2.into(), &2.into()));
    assert!(plan("commands").is_empty(), "nothing is left");
    for (run, row) in folders(&place).iter().zip(status["runs"].as_array().unwrap()) {
        let read = |file: &str| -> Value {
            serde_json::from_slice(&std::fs::read(run.join(file)).unwrap()).unwrap()
        };
        let (report, config) = (read("run.json"), read("config.json"));
        assert_eq!(report["identity"], row["identity"], "the command made another run than was planned");
        assert_eq!(config["sandbox"]["allowances"]["tmp_bytes"], 64 << 20);
        assert_eq!(config["task"]["grants"]["mounts"], serde_json::json!(["/mounts/words"]));
        assert_eq!(read("place.json")["mounts"]["words"], shared.to_str().unwrap());
    }
    // The scheduler finds the same runs: nothing begins.
    let again = experiment(&place, "resume").arg("ab").output().expect(0);
    assert_eq!((&again.json()["ended"], again.stderr.contains("begins")), (&2.into(), false));
}

#[test]
fn an_interrupt_drains_and_a_cap_keeps_what_it_cannot_pay() {
    if !need::jail("an_interrupt_drains_and_a_cap_keeps_what_it_cannot_pay") {
        return;
    }
    let place = Place::new();
    let running = matrix(&place, "2").args(["--parallel", "1"]).start();
    wait::until("the first run", || {
        folders(&place).iter().any(|run| run.join("journal.db").exists()).then_some(())
    });
    running.signal(Signal::INT);
    let stopped = running.wait().expect(5);
    assert!(stopped.stderr.contains("podium experiment resume"), "{}", stopped.stderr);
    let status = stopped.json();
    assert!(status["states"]["not_begun"].as_u64().unwrap() >= 2, "{status}");
    let ended = experiment(&place, "resume").arg("ab").output().expect(0).json();
    assert_eq!((&ended["ended"], &ended["states"]["graded"]), (&4.into(), &4.into()));

    // Each run of AIDE is reserved at its own limit; the baseline asks no model and is free.
    let place = Place::new();
    let capped =
        matrix(&place, "2").args(["--max-tokens", "60000", "--cap-tokens", "70000"]).output().expect(4);
    assert!(capped.stderr.contains("leaves room for no further run"), "{}", capped.stderr);
    assert_eq!(capped.json()["states"], serde_json::json!({"graded": 3, "not_begun": 1}));
    let raised = experiment(&place, "resume").args(["ab", "--cap-tokens", "200000"]).output().expect(0);
    assert_eq!(raised.json()["states"]["graded"], 4);
}
