//! The attack list: every line is a small hostile program in `tests/attacks/`, and a test here that says what must come
//! of it. The runner knows nothing of the kind of sandbox: the binary that includes this module says which one is
//! attacked, by its `common::attacked`. Each test prints one line per line of the list.

mod files;
mod network;
mod privileges;
mod processes;
mod resources;
mod submission;
mod tools;

use std::path::Path;

use podium_sandbox::{Job, Sandbox};
use podium_types::execution::Execution;
use serde_json::Value;

use crate::common::Place;

/// The job of one program of the list, told what it may know.
fn attack(place: &Place, program: &str, given: &Value) -> Job {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    // JSON in JSON is a string of Python's.
    let given = serde_json::to_string(&given.to_string()).unwrap();
    let code =
        format!("{}\nGIVEN = json.loads({given})\n{}", read("prelude.py"), read(&format!("{program}.py")));
    place.python(&code)
}

/// Says what came of a line of the list.
fn say(sandbox: &dyn Sandbox, line: &str, outcome: &str) {
    eprintln!("attack {line} ({}): {outcome}", sandbox.facts().kind);
}

/// The names of what was tried and held; fails when anything did not.
#[track_caller]
fn held(sandbox: &dyn Sandbox, line: &str, execution: &Execution) -> Vec<String> {
    let text = execution.output.text();
    assert!(!text.contains("BROKEN"), "line {line}: {text}");
    let names: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("held ")).map(str::to_owned).collect();
    say(sandbox, line, &format!("held {} times", names.len()));
    names
}

/// As [`held`], for a program that must have come to its end and tried so much.
#[track_caller]
fn all_held(sandbox: &dyn Sandbox, line: &str, execution: &Execution, at_least: usize) -> Vec<String> {
    let names = held(sandbox, line, execution);
    assert!(execution.succeeded(), "line {line}: {execution:?}");
    assert!(
        names.len() >= at_least,
        "line {line}: only {} tries in {}",
        names.len(),
        execution.output.text()
    );
    names
}
