//! What agents' code must never see: data, runs and playbooks that lie inside what is mounted for it, and the answers
//! in any text that is written while a run goes on.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, Podium, Run, need, place};

/// A virtual environment of its own, in which a user may have put other things.
fn virtual_environment(place: &Place) -> PathBuf {
    let prefix = place.path().join("project");
    let made = Command::new(place::python()).args(["-m", "venv", "--without-pip"]).arg(&prefix).status();
    assert!(made.unwrap().success());
    prefix
}

fn run(place: &Place, assets: &Path) -> Podium {
    let podium = Podium::new(place).args(["run", "-c", "toy", "-m", "playbook", "--steps", "1"]);
    podium.args(["--memory", "512MiB", "--cpus", "1"]).arg("--assets").arg(assets)
}

#[test]
fn what_lies_in_the_environment_is_refused_at_the_start() {
    if !need::jail("what_lies_in_the_environment_is_refused_at_the_start") {
        return;
    }
    let place = Place::new();
    let prefix = virtual_environment(&place);
    let python = prefix.join("bin/python");
    let (runs, inside) = (place.runs(), prefix.join("inside"));
    let clone = prefix.join("clone");
    let copied = Command::new("cp").arg("-r").arg(place::toy_assets()).arg(&clone).status();
    assert!(copied.unwrap().success());
    for (data, runs, assets) in [
        (&prefix.join("data"), &runs, &place::toy_assets()),
        (&place.data(), &inside, &place::toy_assets()),
        (&place.data(), &runs, &clone),
    ] {
        let run = run(&place, assets).arg("--python").arg(&python);
        let refused = run.arg("--data-dir").arg(data).arg("--runs-dir").arg(runs).output().expect(3);
        assert!(refused.stderr.contains("is mounted for the code that is run"), "{}", refused.stderr);
        assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
        assert!(Run::all(runs).is_empty(), "nothing was begun");
    }
    let run = run(&place, &place::toy_assets()).arg("--python").arg(&python);
    run.arg("--runs-dir").arg(&runs).output().expect(0);
}

#[test]
fn answers_that_cannot_be_used_are_quoted_nowhere() {
    if !need::jail("answers_that_cannot_be_used_are_quoted_nowhere") {
        return;
    }
    let place = Place::new();
    Podium::new(&place)
        .args(["competitions", "prepare", "toy", "--assets"])
        .arg(place::toy_assets())
        .output()
        .expect(0);
    let answers = place.data().join("toy/prepared/private/answers.csv");
    let text = std::fs::read_to_string(&answers).unwrap();
    std::fs::write(&answers, format!("{text}424242,sec:et\n424242,sec:et\n")).unwrap();

    let events = place.path().join("events.jsonl");
    let run = run(&place, &place::toy_assets())
        .arg("--python")
        .arg(place::python())
        .arg("--runs-dir")
        .arg(place.runs());
    let ended = run.args(["--json", "-vvv", "--events"]).arg(&events).output().expect(3);
    let report = ended.json();
    assert_eq!(report["stopped_by"], "sandbox");
    let detail = report["detail"].as_str().unwrap();
    assert!(detail.contains("the answers of the competition cannot be used"), "{detail}");
    let folder = Run::only(&place.runs()).path;
    let written = ["journal.db", "journal.db-wal", "run.json"].map(|name| std::fs::read(folder.join(name)));
    let written = written.into_iter().flatten().chain([std::fs::read(&events).unwrap()]);
    let said = [ended.stdout.into_bytes(), ended.stderr.into_bytes()];
    for text in written.chain(said) {
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains("sec:et") && !text.contains("424242"), "{text}");
    }
}
