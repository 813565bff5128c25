//! What every agent is told: the first prompt of each scaffold on the toy competition. It names one path for the
//! submission, leaves no variable open, and states what the sandbox really grants.

use serde_json::Value;

use crate::support::{Place, Podium, place};

const GRANTS: [&str; 8] =
    ["--cpus", "1", "--memory", "512MiB", "--time-limit", "90m", "--execution-limit", "10m"];

fn dry_run(place: &Place, scaffold: &str, options: &[&str]) -> Podium {
    let podium = Podium::new(place).env("PODIUM_ASSETS", place::toy_assets());
    podium.args(["run", "-s", scaffold, "-c", "toy", "-m", "playbook", "--dry-run"]).args(options)
}

/// The text of the first prompt.
fn first_prompt(place: &Place, scaffold: &str, options: &[&str]) -> String {
    let document = dry_run(place, scaffold, options).arg("--json").output().expect(0).json();
    let messages = document["first_prompt"]["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn scaffolds(place: &Place) -> Vec<String> {
    let podium = Podium::new(place).env("PODIUM_ASSETS", place::toy_assets());
    let rows = podium.args(["scaffolds", "list", "--json"]).output().expect(0).json();
    let asks = |row: &&serde_json::Value| row["strategy"] != "script";
    rows.as_array().unwrap().iter().filter(asks).map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_dry_run_shows_everything_and_runs_nothing() {
    let place = Place::new();
    let shown = dry_run(&place, "aide", &GRANTS).output().expect(0);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!("dry_run", shown.stdout) });
    assert!(std::fs::read_dir(place.runs()).unwrap().next().is_none());
}

#[test]
fn each_scaffold_names_one_submission_and_leaves_nothing_open() {
    let place = Place::new();
    for scaffold in scaffolds(&place) {
        let prompt = first_prompt(&place, &scaffold, &GRANTS);
        let is_path = |c: char| c.is_alphanumeric() || "._-/~".contains(c);
        let paths: Vec<&str> =
            prompt.split(|c| !is_path(c)).filter(|word| word.ends_with("submission.csv")).collect();
        assert!(paths.contains(&"./submission/submission.csv"), "{scaffold}: {paths:?}");
        for path in paths {
            let good = ["./submission/submission.csv", "sample_submission.csv"].contains(&path);
            assert!(good, "{scaffold} names {path}");
        }
        for open in ["{{", "}}", "{%", "{#", "undefined", "[object]", "null"] {
            assert!(!prompt.contains(open), "{scaffold}: `{open}` in\n{prompt}");
        }
        assert!(
            !prompt.contains(&place.path().display().to_string()),
            "{scaffold} shows a path of this machine"
        );
        // The rules that no scaffold may leave out.
        for rule in
            ["these rules win", "label test rows by hand", "other people's solutions", "hidden test labels"]
        {
            assert!(prompt.contains(rule), "{scaffold} does not say `{rule}`");
        }
    }
}

fn line<'a>(prompt: &'a str, beginning: &str) -> &'a str {
    prompt
        .lines()
        .find(|line| line.starts_with(beginning))
        .unwrap_or_else(|| panic!("no `{beginning}`:\n{prompt}"))
}

#[test]
fn the_grants_are_stated_as_they_are() {
    let place = Place::new();
    let prompt = first_prompt(&place, "aide", &GRANTS);
    let hardware = line(&prompt, "- Hardware of an execution:");
    assert!(hardware.contains("1 CPU, 512 MiB of memory, no GPU"), "{hardware}");
    assert!(line(&prompt, "- Network:").contains("none"));
    let time = line(&prompt, "- Whole run:");
    assert!(
        time.contains("1 h 30 min") && time.contains("20 steps") && time.contains("at most 10 min"),
        "{time}"
    );

    let process = first_prompt(&place, "aide", &["--sandbox", "process", "--steps", "7"]);
    assert!(line(&process, "- Network:").contains("can reach it"));
    assert!(line(&process, "- Whole run:").contains("7 steps"));
}

#[test]
fn nobody_is_told_of_more_than_the_machine_has() {
    let place = Place::new();
    let document = dry_run(&place, "aide", &["--cpus", "4096", "--memory", "900TiB", "--json"]).output();
    let document: Value = document.expect(0).json();
    let grants = &document["config"]["task"]["grants"];
    let cpus = rustix::thread::sched_getaffinity(None).unwrap().count();
    assert_eq!(grants["cpus"], cpus);
    assert!(grants["memory_bytes"].as_u64().unwrap() < 900 << 40);
    assert_eq!(document["config"]["sandbox"]["cpus"], cpus, "what is told is what is granted");
}
