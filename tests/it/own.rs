//! A table becomes a competition, a run, a script, predictions; the model is the stand-in with one solution.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::place::cache;
use crate::support::{Place, Podium, Run, need};

/// Assets with one solution for any table.
fn assets(place: &Place) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmark/own/playbook");
    let script = std::fs::read_to_string(root.join("straight_lines.py")).unwrap();
    place.write("assets/podium.toml", "");
    place.write("assets/benchmark/own/playbook/straight_lines.py", script);
    let contents = "[[solution]]\nname = \"straight-lines\"\nfile = \"straight_lines.py\"\nplan = \"A line. It is quick.\"\n";
    place.write("assets/benchmark/own/playbook/playbook.toml", contents);
    place.path().join("assets")
}

fn podium(place: &Place) -> Podium {
    Podium::new(place).env("XDG_CACHE_HOME", cache()).arg("--assets").arg(assets(place))
}

/// A run of one step on data of the user's own.
fn run(place: &Place, data: &Path, more: &[&str]) -> Podium {
    podium(place)
        .args(["run", "--data"])
        .arg(data)
        .args(["--metric", "auc", "-m", "playbook", "--steps", "1", "--memory", "2GiB", "--cpus", "1"])
        .args(["--execution-limit", "10m"])
        .args(more)
}

fn table(rows: u32, with_target: bool) -> String {
    let mut text = String::from(if with_target { "size;tone;sold\n" } else { "size;tone\n" });
    for row in 0..rows {
        let size = row * 37 % 101;
        let tone = ["cobalt", "amber"][(row / 3 % 2) as usize];
        let _ = write!(text, "{size},5;{tone}");
        if with_target {
            let _ = write!(text, ";{}", if size + row % 7 * 5 > 60 { "yes" } else { "no" });
        }
        text.push('\n');
    }
    text
}

#[test]
fn from_a_table_to_a_script() {
    if !need::jail("from_a_table_to_a_script") {
        return;
    }
    let place = Place::new();
    let data = place.write("sales.csv", table(150, true));

    // To keep: with a board, and without a fault.
    let made = podium(&place)
        .args(["competitions", "new", "sales", "--target", "sold", "--metric", "auc", "--memory", "2GiB"])
        .args(["--cpus", "1", "--json", "--from"])
        .arg(&data)
        .output()
        .expect(0)
        .json();
    assert_eq!((&made["train_rows"], &made["test_rows"]), (&120.into(), &30.into()));
    let board = made["board"].as_array().unwrap();
    assert!(board.len() >= 6 && made["trouble"] == Value::Null, "{made}");
    let checked = podium(&place).args(["competitions", "check", "sales", "--json"]).output().expect(0).json();
    assert_eq!(checked["answers_score"], 1.0);
    assert_eq!(checked["findings"], Value::Array(Vec::new()));

    // What would go to the model: no value of the data where only the schema is to be seen.
    let shown = |more: &[&str]| {
        run(&place, &data, &["--target", "sold", "--dry-run"]).args(more).output().expect(0).stdout
    };
    assert!(shown(&[]).contains("cobalt"));
    let schema = shown(&["--preview", "schema"]);
    assert!(!schema.contains("cobalt") && !schema.contains("100.5") && schema.contains("tone"), "{schema}");

    // On the fly.
    let runs = place.runs();
    let report = run(&place, &data, &["--target", "sold", "--json", "--runs-dir"])
        .arg(&runs)
        .output()
        .expect(0)
        .json();
    assert_eq!(report["outcome"], "graded", "{report}");
    let run_folder = Run::only(&runs).path;
    let page = podium(&place).arg("show").arg(&run_folder).arg("--summary").output().expect(0).stdout;
    for part in
        ["## Result", "## What was tried", "## What helped", "## Where time and dollars went", "predict"]
    {
        assert!(page.contains(part), "{page}");
    }

    // The script on new rows, and the same submission without Podium.
    let new = place.write("new.csv", table(12, false));
    let out = place.path().join("predictions.csv");
    podium(&place).arg("predict").arg(&run_folder).arg(&new).arg("--out").arg(&out).output().expect(0);
    let predictions = std::fs::read_to_string(&out).unwrap();
    assert_eq!(predictions.lines().count(), 13);
    assert_eq!(predictions.lines().next(), Some("id,sold"));
    let odd = place.write("odd.csv", "size;colour\n1,5;cobalt\n");
    let refused = podium(&place).arg("predict").arg(&run_folder).arg(&odd).output().expect(2);
    assert!(refused.stderr.contains("it has no column `tone`"), "{}", refused.stderr);
    same_without_podium(&place, &run_folder, &report);
}

fn same_without_podium(place: &Place, run: &Path, report: &Value) {
    let python = report["sandbox"]["environment"]["python"].as_str().unwrap();
    let data = place.data().join(report["competition"].as_str().unwrap()).join("prepared/public");
    let again = place.path().join("again");
    let ended = Command::new("sh")
        .arg(run.join("best/run.sh"))
        .args([&data, &again])
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", place.path())
        .env("PYTHON", python)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let read = |path: PathBuf| std::fs::read(path).unwrap();
    assert_eq!(read(again.join("submission/submission.csv")), read(run.join("submission.csv")));
}

#[test]
fn a_goal_without_answers_has_no_score() {
    let test = "a_goal_without_answers_has_no_score";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let place = Place::new();
    place.write("shop/train.csv", table(80, true));
    place.write("shop/test.csv", table(20, false));
    let more = ["--target", "sold", "--split", "none", "--goal", "Whom to write to.", "--json", "--runs-dir"];
    // Killed on its way: the data were laid out, and a resume needs no more than the run's folder.
    let begun = run(&place, &place.path().join("shop"), &more).arg(place.runs());
    assert!(begun.failpoint("after_commit:6").output().was_killed());
    let resume = podium(&place).arg("resume").arg(&Run::only(&place.runs()).path).arg("--json");
    let report = resume.output().expect(0).json();
    assert_eq!((&report["outcome"], &report["report"]), (&"no_answers".into(), &Value::Null), "{report}");
    let submission = std::fs::read_to_string(Run::only(&place.runs()).path.join("submission.csv")).unwrap();
    assert_eq!(submission.lines().count(), 21);
}
