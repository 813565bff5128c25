//! What lies in `best/` runs without Podium: plain Python on a competition's public data writes the same submission.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::place::cache;
use crate::support::{Place, Podium, Run, need};

/// `best/run.sh` as a user starts it; the path of the submission that it names.
fn run_again(run: &Path, python: &Path, data: &Path, folder: &Path) -> PathBuf {
    let ended = Command::new("sh")
        .arg(run.join("best/run.sh"))
        .args([data, folder])
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", folder.parent().unwrap())
        .env("PYTHON", python)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{said}\n{}", String::from_utf8_lossy(&ended.stderr));
    PathBuf::from(said.lines().last().unwrap())
}

#[test]
fn the_best_solution_writes_the_same_submission_without_podium() {
    the_same_without_podium("aide");
}

#[test]
fn so_does_one_of_a_run_that_kept_training_labels() {
    the_same_without_podium("aide-holdout");
}

fn the_same_without_podium(scaffold: &str) {
    if !need::jail(scaffold) {
        return;
    }
    let place = Place::new();
    Podium::new(&place)
        .env("XDG_CACHE_HOME", cache())
        .arg("--assets")
        .arg(env!("CARGO_MANIFEST_DIR"))
        .args([
            "run",
            "--scaffold",
            scaffold,
            "-c",
            "segment",
            "-m",
            "playbook",
            "--steps",
            "3",
            "--seed",
            "1",
        ])
        .args(["--execution-limit", "60s", "--memory", "2GiB", "--cpus", "1", "--runs-dir"])
        .arg(place.runs())
        .output()
        .expect(0);
    let run = Run::only(&place.runs());
    let shown = run.show(&place);
    let selected = &shown["report"]["nodes"]["selected"];
    let best = run.path.join("best");
    let read = |name: &str| std::fs::read_to_string(best.join(name)).unwrap();
    assert_eq!(read("node").trim(), selected.to_string());
    let pinned = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmark/environments/base.txt"),
    );
    assert_eq!(read("requirements.txt"), pinned.unwrap());

    let python = PathBuf::from(shown["report"]["sandbox"]["environment"]["python"].as_str().unwrap());
    let data = place.data().join("segment/prepared/public");
    let again = run_again(&run.path, &python, &data, &place.path().join("again"));
    assert_eq!(std::fs::read(&again).unwrap(), std::fs::read(run.path.join("submission.csv")).unwrap());
    assert_eq!(std::fs::read(best.join("submission.csv")).unwrap(), std::fs::read(again).unwrap());
}

#[test]
fn each_node_has_its_files_and_the_report_tells_the_gap() {
    if !need::jail("each_node_has_its_files_and_the_report_tells_the_gap") {
        return;
    }
    let place = Place::new();
    let report = Podium::toy_run(&place, 6, 3).output().expect(0).json();
    let run = Run::only(&place.runs());
    let shown = run.show(&place);
    for node in shown["nodes"].as_array().unwrap() {
        let folder = run.path.join("nodes").join(node["id"].to_string());
        let text = std::fs::read_to_string(folder.join("node.json")).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), *node);
        let code = std::fs::read_to_string(folder.join("solution.py")).unwrap();
        assert_eq!(node["code"], code);
        assert_eq!(folder.join("submission.csv").exists(), node["submission"]["verdict"] == "valid");
        assert!(folder.join("output.txt").exists() && folder.join("plan.md").exists());
    }

    let gap = &report["validation"];
    let node = report["nodes"]["selected"].as_u64().unwrap();
    assert_eq!((&gap["node"], &gap["validation"]), (&node.into(), &report["nodes"]["best_validation"]));
    assert_eq!(gap["test"], report["report"]["raw_score"]);
    let handed_in = shown["nodes"].as_array().unwrap().iter().find(|one| one["id"] == node).unwrap();
    assert_eq!(gap["source"], handed_in["metric_source"]);
    let number = |name: &str| gap[name].as_f64().unwrap();
    let lead = number("validation") - number("test");
    let optimistic = if report["report"]["is_lower_better"] == true { -lead } else { lead };
    assert!((number("gap") - optimistic).abs() < 1e-12, "{gap}");
    let told = Podium::new(&place).arg("show").arg(&run.path).output().expect(0).stdout;
    assert!(told.lines().any(|line| line.starts_with("gap  ") && line.contains("test ")), "{told}");
}
