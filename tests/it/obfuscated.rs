//! `--description`: which text an agent is shown. With the obfuscated one no prompt of a run and no file in its input
//! names the competition or Kaggle, whatever the scaffold; what was shown is stored and reported.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Place, Podium, Run, need, place};

const TASK: &str = "# Points\n\nPredict the class of each point from three numbers.\n";

/// A checkout of MLE-bench as far as it is read.
fn checkout(place: &Place) -> PathBuf {
    place.write("mle-bench/mlebench/competitions/toy/description_obfuscated.md", TASK);
    place.path().join("mle-bench")
}

/// The toy competition's assets, with solutions that print the description they find.
fn talkative_assets(place: &Place) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_dir() {
                copy(&from, &to);
            } else {
                std::fs::copy(&from, &to).unwrap();
                if from.extension().is_some_and(|end| end == "py")
                    && from.parent().unwrap().ends_with("playbook")
                {
                    let code = std::fs::read_to_string(&from).unwrap();
                    std::fs::write(&to, format!("print(open('input/description.md').read())\n{code}"))
                        .unwrap();
                }
            }
        }
    }
    let assets = place.path().join("assets");
    copy(&place::toy_assets(), &assets);
    assets
}

/// Words that tell which competition it is or where it was held; `toy` as a word of its own.
fn telling(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| *word == "toy" || word.contains("kaggle")).map(str::to_owned).collect()
}

/// All texts below keys of this name.
fn texts(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == name => found.push(text.clone()),
                    value => texts(value, name, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| texts(value, name, found)),
        _ => {}
    }
}

fn dry_run(place: &Place, scaffold: &str, options: &[&str]) -> Podium {
    let podium = Podium::new(place).env("PODIUM_ASSETS", place::toy_assets());
    podium.args(["run", "-s", scaffold, "-c", "toy", "-m", "playbook", "--dry-run", "--json"]).args(options)
}

#[test]
fn no_first_prompt_names_the_competition() {
    let place = Place::new();
    let checkout = checkout(&place);
    let scaffolds = Podium::new(&place).args(["scaffolds", "list", "--json"]).output().expect(0).json();
    for scaffold in scaffolds.as_array().unwrap() {
        let id = scaffold["id"].as_str().unwrap();
        let options = ["--description", "obfuscated", "--mle-bench", checkout.to_str().unwrap()];
        let document = dry_run(&place, id, &options).output().expect(0).json();
        if document["first_prompt"].is_null() {
            assert_eq!(document["config"]["models"], serde_json::json!({}), "{id} asks models");
            continue;
        }
        let mut messages = Vec::new();
        texts(&document["first_prompt"], "content", &mut messages);
        let prompt = messages.join("\n");
        assert!(prompt.contains("Predict the class of each point from three numbers."), "{id}:\n{prompt}");
        assert_eq!(telling(&prompt), Vec::<String>::new(), "{id}:\n{prompt}");
        // The words that are looked for do stand in the original form.
        let original = dry_run(&place, id, &[]).output().expect(0).json();
        let mut messages = Vec::new();
        texts(&original["first_prompt"], "content", &mut messages);
        assert!(!telling(&messages.join("\n")).is_empty(), "{id}");
        assert_ne!(document["identity"], original["identity"]);
    }
}

#[test]
fn a_whole_run_never_names_it() {
    if !need::jail("a_whole_run_never_names_it") {
        return;
    }
    let place = Place::new();
    let assets = talkative_assets(&place);
    let report = Podium::new(&place)
        .env("PODIUM_MLE_BENCH", checkout(&place))
        .args([
            "run", "-c", "toy", "-m", "playbook", "--json", "--steps", "6", "--memory", "512MiB", "--cpus",
            "1",
        ])
        .args(["--description", "obfuscated", "--runs-dir"])
        .arg(place.runs())
        .arg("--assets")
        .arg(&assets)
        .arg("--python")
        .arg(place::python())
        .output()
        .expect(0)
        .json();
    assert_eq!((&report["description"], &report["competition"]), (&"obfuscated".into(), &"toy".into()));
    let run = Run::only(&place.runs());
    let mut prompts = Vec::new();
    for row in run.rows() {
        texts(&row.record().expect("a small record"), "content", &mut prompts);
    }
    assert!(prompts.iter().filter(|prompt| prompt.contains("# What happened")).count() >= 6, "no reviews");
    for prompt in &prompts {
        assert_eq!(telling(prompt), Vec::<String>::new(), "{prompt}");
    }
    // What the code read in its input came back in the reviews, and it was the same text.
    let printed =
        prompts.iter().filter(|prompt| prompt.matches("Predict the class of each point").count() >= 2);
    assert!(printed.count() >= 3, "no solution printed its description");
}

#[test]
fn a_file_may_be_the_description() {
    let place = Place::new();
    let file = place.write("mine.md", "Mine alone.\n");
    let document =
        dry_run(&place, "aide", &["--description", file.to_str().unwrap()]).output().expect(0).json();
    assert_eq!(document["config"]["task"]["description"], "Mine alone.\n");
    assert_eq!(document["config"]["description"]["file"], file.to_str().unwrap());
}

#[test]
fn what_is_missing_is_said() {
    let place = Place::new();
    let checkout = checkout(&place);
    let checkout = checkout.to_str().unwrap();
    let pointer =
        place.write("pointer.md", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    let process = ["--description", "obfuscated", "--mle-bench", checkout, "--sandbox", "process"];
    for (options, words) in [
        (&["--description", "obfuscated"][..], "--mle-bench DIR"),
        (&["--description", "obfuscated", "--mle-bench", "nowhere"], "mlebench/competitions"),
        (&["--description", "obfuscate"], "original, obfuscated or the path"),
        (&["--description", pointer.to_str().unwrap()], "git lfs pull"),
        (&process, "`jail` or `docker`"),
    ] {
        let finished = dry_run(&place, "aide", options).output();
        assert!(matches!(finished.code, Some(2 | 3)), "{options:?}: {:?}", finished.code);
        assert!(finished.stderr.contains(words), "{options:?}: {}", finished.stderr);
    }
}
