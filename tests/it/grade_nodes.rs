//! `podium grade RUN --all-nodes`: only after the end, for people only, and the run is closed by it.

use std::collections::BTreeSet;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::json_errors::document;
use crate::support::held::HeldService;
use crate::support::{Place, Podium, Run, need};

fn all_nodes(place: &Place, run: &Run) -> Podium {
    Podium::new(place).arg("grade").arg(&run.path).args(["--all-nodes", "--json"])
}

/// Every file below a folder, by its path.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                pending.push(path);
            } else {
                found.insert(path.to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn every_node_is_graded_and_the_run_is_closed() {
    if !need::jail("every_node_is_graded_and_the_run_is_closed") {
        return;
    }
    let place = Place::new();
    let report = Podium::toy_run(&place, 10, 5).output().expect(0).json();
    let run = Run::only(&place.runs());
    let shown = run.show(&place);
    let rows = run.rows();
    let before = files(&run.path);

    let oracle = all_nodes(&place, &run).output().expect(0).json();
    assert_eq!(oracle["oracle"], true);
    let nodes = oracle["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), shown["nodes"].as_array().unwrap().len());
    let lower = report["report"]["is_lower_better"] == true;
    for (graded, node) in nodes.iter().zip(shown["nodes"].as_array().unwrap()) {
        assert_eq!((&graded["node"], &graded["validation"]), (&node["id"], &node["metric"]));
        let valid = node["submission"]["verdict"] == "valid";
        assert_eq!(graded["test"].is_null(), !valid, "{graded}");
        assert_eq!(graded["problem"].is_null(), valid, "{graded}");
        if !valid {
            continue;
        }
        // As the file alone is graded.
        let file = run.path.join("nodes").join(node["id"].to_string()).join("submission.csv");
        let alone = Podium::new(&place).arg("--assets").arg(crate::support::place::toy_assets());
        let alone = alone.args(["grade", "-c", "toy", "--json"]).arg(file).output().expect(0).json();
        assert_eq!(graded["test"], alone["raw_score"]);
        assert_eq!(graded["medal"].is_null(), alone["any_medal"] == false);
    }
    let selected = &report["nodes"]["selected"];
    assert_eq!(oracle["selected"], *selected);
    let score = |id: &Value| nodes.iter().find(|node| node["node"] == *id).unwrap()["test"].as_f64().unwrap();
    assert_eq!(Some(score(selected)), report["report"]["raw_score"].as_f64());
    let good = nodes.iter().filter(|node| node["buggy"].is_null());
    let tests = good.filter_map(|node| node["test"].as_f64()).map(|test| if lower { -test } else { test });
    let best = tests.fold(f64::NEG_INFINITY, f64::max);
    let handed_in = if lower { -score(selected) } else { score(selected) };
    let loss = oracle["selection_loss"].as_f64().unwrap();
    assert!((loss - (best - handed_in)).abs() < 1e-12 && loss >= 0.0, "{oracle}");

    // Nothing is written but the mark that closes the run.
    let new: Vec<String> = files(&run.path).difference(&before).cloned().collect();
    assert_eq!(new, [run.path.join("closed").display().to_string()]);
    let mark = std::fs::read_to_string(run.path.join("closed")).unwrap();
    let (_, said) = mark.split_once(": ").unwrap();
    assert!(!said.contains("0."), "a score in {mark}");
    assert_eq!(run.rows(), rows);

    let table = Podium::new(&place).arg("grade").arg(&run.path).arg("--all-nodes").output().expect(0).stdout;
    assert!(table.contains("handed in") && table.contains("oracle figures"), "{table}");
    let refused = Podium::resume(&place, &run.path).args(["--steps", "12"]).output().expect(2);
    assert!(refused.stderr.contains("is closed: all its nodes have been graded"), "{}", refused.stderr);
    assert_eq!(document(&refused)["error"]["kind"], "usage");
    Podium::new(&place).arg("replay").arg(&run.path).output().expect(0);
}

#[test]
fn a_run_that_could_go_on_is_refused_until_it_is_given_up() {
    if !need::jail("a_run_that_could_go_on_is_refused_until_it_is_given_up") {
        return;
    }
    let place = Place::new();
    let service = HeldService::start();
    let (running, _never_answered) = Podium::toy_run_going_on(&place, &service);
    let run = Run::only(&place.runs());
    let held = all_nodes(&place, &run).output().expect(2);
    assert!(held.stderr.contains("is being run by process"), "{}", held.stderr);
    let held = all_nodes(&place, &run).arg("--ended").output().expect(2);
    assert!(held.stderr.contains("is being run by process"), "{}", held.stderr);
    running.signal(Signal::KILL);
    let _ = running.wait();

    let refused = all_nodes(&place, &run).output().expect(2);
    assert!(
        refused.stderr.contains("it has not ended") && refused.stderr.contains("--ended"),
        "{}",
        refused.stderr
    );
    assert!(!run.path.join("closed").exists());
    let closed = all_nodes(&place, &run).arg("--ended").output().expect(0);
    assert!(closed.stderr.contains("the run is closed now"), "{}", closed.stderr);
    assert_eq!(closed.json()["selection_loss"], Value::Null);
    Podium::resume(&place, &run.path).held(&service).output().expect(2);
}
