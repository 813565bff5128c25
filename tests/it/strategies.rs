//! The example program: a policy, an operator, an action, a tool and a strategy of a user's own, each in a run that ends
//! graded and valid, and replays.

use std::path::{Path, PathBuf};

use crate::support::reference::in_parallel;
use crate::support::{Place, Podium, Run, need, place};

/// The example program, which is built beside the tests.
pub(crate) fn program() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_podium")).parent().unwrap().join("examples/strategies");
    assert!(built.is_file(), "{} is not built: cargo build --example strategies", built.display());
    built
}

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/strategies").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The tables that an example's own words show.
fn shown(file: &str) -> String {
    let source = source(file);
    let lines = source
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    let block = lines.skip_while(|line| *line != "```toml").skip(1).take_while(|line| *line != "```");
    block.collect::<Vec<_>>().join("\n")
}

/// A scaffold file with `table` in the place of its table of the same name.
pub(crate) fn with_table(file: &str, table: &str) -> String {
    let Some(header) = table.lines().next() else { return file.to_owned() };
    let (before, rest) = file.split_once(&format!("\n{header}\n")).unwrap_or_else(|| panic!("no {header}"));
    let next = rest.find("\n[").map_or("", |at| &rest[at..]);
    format!("{before}\n{table}\n{next}")
}

/// The toy competition with the shipped scaffolds' files changed as the examples say.
fn assets(place: &Place) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shipped = |id: &str| std::fs::read_to_string(root.join(format!("scaffolds/{id}.toml"))).unwrap();
    let changed = [
        ("policy", "best-first", shown("policy.rs")),
        ("operator", "aide", shown("operator.rs")),
        ("action", "mlab", shown("action.rs")),
        ("tool", "codeact", shown("tool.rs")),
    ];
    for (id, from, table) in changed {
        place.write(&format!("assets/scaffolds/own-{id}.toml"), with_table(&shipped(from), &table));
    }
    place.write("assets/scaffolds/own-strategy.toml", source("best_of.toml"));
    place.write("assets/prompts/best-of/program.md.tera", source("best_of.md.tera"));
    place.write("assets/podium.toml", "");
    std::os::unix::fs::symlink(place::toy_assets().join("benchmark"), place.path().join("assets/benchmark"))
        .unwrap();
    place.path().join("assets")
}

#[test]
fn each_example_ends_graded_and_replays() {
    if !need::jail("each_example_ends_graded_and_replays") {
        return;
    }
    let place = Place::new();
    let (assets, program) = (assets(&place), program());
    let seen = [
        ("policy", "the best node"),
        ("operator", "nodes/0/trial.py"),
        ("action", " KB  train.csv"),
        ("tool", "The submission is valid; rows: "),
        ("strategy", "all programs were tried"),
    ];
    in_parallel(&seen, |&(id, words)| {
        let runs = place.path().join("cases").join(id);
        let report = Podium::of(&place, &program)
            .args(["run", "--json", "-c", "toy", "-m", "playbook", "--steps", "12", "--scaffold"])
            .arg(format!("own-{id}"))
            .args(["--memory", "512MiB", "--cpus", "1", "--assets"])
            .arg(&assets)
            .arg("--python")
            .arg(place::python())
            .arg("--runs-dir")
            .arg(&runs)
            .output()
            .expect(0)
            .json();
        assert_eq!(report["outcome"], "graded", "{id}: {report}");
        let run = Run::only(&runs);
        let told = Podium::of(&place, &program).arg("show").arg(&run.path).arg("--json").output().expect(0);
        let there = run.path.join(words).is_file();
        assert!(there || format!("{}{report}", told.stdout).contains(words), "{id}: {}", told.stdout);
        let replay = Podium::of(&place, &program).arg("replay").arg(&run.path).arg("--json").output();
        assert_eq!(replay.expect(0).json()["agrees"], true, "{id}");
        // The program without the code says what it lacks.
        if id == "policy" {
            let shipped = Podium::new(&place).arg("replay").arg(&run.path).output().expect(2);
            for words in
                ["`policy.kind` is `epsilon`, which this program does not have", "the program that made it"]
            {
                assert!(shipped.stderr.contains(words), "{}", shipped.stderr);
            }
        }
    });
}
