//! Training labels that the harness keeps (`[validation]`): no program finds them, the split is the seed's and outlives
//! crashes, broken predictions have a reason, and what serves the final choice alone is shown to nobody.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::service::Service;
use crate::support::run::tree_of;
use crate::support::{Place, Podium, Run, need, place};

/// Shares that make slices of 18 and 12 rows of the toy competition's 120, and three folds.
const ON: [&str; 6] = [
    "--set",
    "validation.holdout.search=0.15",
    "--set",
    "validation.holdout.final=0.1",
    "--set",
    "validation.folds=3",
];

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The honest solution with so many neighbours, and more code before and after it.
fn honest(place: &Place, neighbours: usize, before: &str, after: &str) -> PathBuf {
    let code = fixture("honest.py").replace("NEIGHBOURS = 3", &format!("NEIGHBOURS = {neighbours}"));
    place.write(&format!("{neighbours}-{}.py", after.len()), format!("{before}\n{code}\n{after}\n"))
}

fn run(place: &Place, service: &Service, steps: usize, seed: u64) -> Podium {
    service
        .podium(place)
        .arg("run")
        .toy()
        .args(["--scaffold", "aide-holdout", "--competition", "toy", "--model", "openai/local", "--json"])
        .args(["--memory", "512MiB", "--cpus", "1", "--steps", &steps.to_string()])
        .args(["--seed", &seed.to_string()])
        .args(ON)
        .arg("--runs-dir")
        .arg(place.runs())
}

fn output(run: &Run, node: u32) -> String {
    std::fs::read_to_string(run.path.join(format!("nodes/{node}/output.txt"))).unwrap()
}

/// The files of a run's holdout, by name.
fn files(run: &Run) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in ["holdout", "holdout/shown", "holdout/truth"] {
        for path in std::fs::read_dir(run.path.join(folder)).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_file() {
                let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

fn lines(bytes: &[u8]) -> usize {
    String::from_utf8_lossy(bytes).lines().count()
}

/// Results of `evaluate` effects, by their keys.
fn evaluations(run: &Run) -> BTreeMap<String, Value> {
    let records = run.rows().into_iter().filter_map(|row| row.record());
    records
        .filter(|record| record["effect"]["effect"] == "evaluate")
        .map(|record| (record["key"].as_str().unwrap().to_owned(), record["result"]["value"].clone()))
        .collect()
}

#[test]
fn held_out_labels_are_nowhere() {
    if !need::jail("held_out_labels_are_nowhere") {
        return;
    }
    let place = Place::new();
    let hunt = honest(&place, 3, &fixture("label_hunt.py"), "");
    let service = Service::start(&json!({"code": [hunt]}));
    run(&place, &service, 1, 1).output().expect(0);
    let run = Run::only(&place.runs());
    let files = files(&run);
    let text = output(&run, 0);
    let told = "held out: 30 columns: ['a', 'b', 'c', 'id']";
    assert!(text.contains(told) && text.contains("training rows: 90"), "{text}");
    assert!(!text.contains("FOUND") && !text.contains("REACHED"), "{text}");
    assert_eq!(text.matches("refused ").count(), 8, "{text}");
    assert_eq!(lines(&files["holdout/truth/search.csv"]), 19);
    assert_eq!(lines(&files["holdout/truth/final.csv"]), 13);
    // The overview is of what is there.
    let requests: Vec<String> = service.requests().iter().map(|request| request.body().to_string()).collect();
    assert!(requests.iter().any(|body| body.contains("train.csv (91 lines)")), "{}", requests[0]);
    assert!(requests.iter().all(|body| !body.contains("121 lines")));
}

#[test]
fn what_serves_the_final_choice_is_shown_to_nobody() {
    if !need::jail("what_serves_the_final_choice_is_shown_to_nobody") {
        return;
    }
    let place = Place::new();
    let scripts = [1, 40, 7, 3].map(|neighbours| honest(&place, neighbours, "", ""));
    let service = Service::start(&json!({"code": scripts}));
    let alone = ["--set", "selection.weight=1.0"];
    let report = run(&place, &service, 4, 1).args(alone).output().expect(0).json();
    assert_eq!(report["outcome"], "graded");
    let run = Run::only(&place.runs());
    let found = evaluations(&run);
    let scores = |kind: &str| -> BTreeMap<u32, f64> {
        let of = |(key, value): (&String, &Value)| {
            let (node, effect) = key.strip_prefix("node/")?.split_once('/')?;
            (effect == format!("{kind}/0")).then(|| (node.parse().unwrap(), value["score"].as_f64().unwrap()))
        };
        found.iter().filter_map(of).collect()
    };
    let (search, last, folds) = (scores("holdout"), scores("final"), scores("folds"));
    assert_eq!((search.len(), last.len(), folds.len()), (4, 4, 4), "{found:#?}");
    // Each is a share of its slice.
    assert!(search.values().all(|score| (score * 18.0 - (score * 18.0).round()).abs() < 1e-9));
    assert!(last.values().all(|score| (score * 12.0 - (score * 12.0).round()).abs() < 1e-9));
    let nodes = tree_of(&run.show(&place));
    for node in &nodes {
        let id = u32::try_from(node["id"].as_u64().unwrap()).unwrap();
        assert_eq!(node["metric"].as_f64(), Some(search[&id]), "{node}");
        assert_eq!(node["metric_source"], "holdout");
        let sources: Vec<&str> = node["signals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|signal| signal["source"].as_str().unwrap())
            .collect();
        assert_eq!(sources, ["holdout", "folds", "printed", "review"], "{node}");
        assert!(node["signals"][1]["spread"].as_f64().is_some_and(|spread| spread >= 0.0));
    }
    // The best by the final slice is in place, the better by the search's own first among equals.
    let chosen: u32 = std::fs::read_to_string(run.path.join("best/node")).unwrap().trim().parse().unwrap();
    assert!(last.values().all(|score| *score <= last[&chosen]), "node {chosen} of {last:?}");
    // Neither prompts nor nodes hold one of its scores, unless another number happens to be the same.
    let others: Vec<String> = search.values().chain(folds.values()).map(ToString::to_string).collect();
    for score in last.values().map(ToString::to_string).filter(|score| score.len() > 6) {
        if others.iter().any(|other| other.contains(&score)) {
            continue;
        }
        for request in service.requests() {
            assert!(!request.body().to_string().contains(&score), "{score} is in a prompt");
        }
        assert!(!json!(nodes).to_string().contains(&score), "{score} is in a node");
    }
    Podium::new(&place).arg("replay").arg(&run.path).output().expect(0);
}

#[test]
fn the_split_is_the_seeds_and_a_resume_keeps_it() {
    if !need::jail("the_split_is_the_seeds_and_a_resume_keeps_it") {
        return;
    }
    let (one, other) = (Place::new(), Place::new());
    let service = Service::start(&json!({"code": [honest(&one, 3, "", "")]}));
    run(&one, &service, 1, 1).output().expect(0);
    run(&other, &service, 1, 2).output().expect(0);
    let (ended, another) = (Run::only(&one.runs()), Run::only(&other.runs()));
    let before = files(&ended);
    assert_ne!(before["holdout/shown/holdout.csv"], files(&another)["holdout/shown/holdout.csv"]);
    let resume = |steps: &str| {
        service
            .podium(&one)
            .arg("resume")
            .arg(&ended.path)
            .args(["--json", "--steps", steps])
            .output()
            .expect(0)
    };
    resume("2");
    assert_eq!(files(&ended), before);
    // Lost with all that stood in it, it comes back as it was.
    std::fs::remove_dir_all(ended.path.join("holdout")).unwrap();
    resume("3");
    assert_eq!(files(&ended), before);
    // The half of one that a crash left is made whole.
    std::fs::remove_file(ended.path.join("holdout/holdout.json")).unwrap();
    std::fs::write(ended.path.join("holdout/train.csv"), "id,a").unwrap();
    resume("4");
    assert_eq!(files(&ended), before);
    assert_eq!(evaluations(&ended).keys().filter(|key| key.ends_with("/holdout/0")).count(), 4);
    Podium::new(&one).arg("replay").arg(&ended.path).output().expect(0);
}

#[test]
fn damaged_predictions_have_a_reason() {
    if !need::jail("damaged_predictions_have_a_reason") {
        return;
    }
    let place = Place::new();
    let cases = [
        ("os.remove('submission/holdout.csv')", "found nothing"),
        ("open('submission/holdout.csv', 'wb').write(bytes(range(256)) * 9)", "not UTF-8"),
        ("open('submission/holdout.csv', 'w').write('id,class\\n')", ""),
        (
            "os.remove('submission/holdout.csv'); os.symlink('/etc/passwd', 'submission/holdout.csv')",
            "a symbolic link",
        ),
        ("os.remove('submission/holdout.csv'); os.mkfifo('submission/holdout.csv')", "a FIFO"),
        ("os.rename('submission/submission.csv', 'submission/holdout.csv'); write('submission', [])", ""),
    ];
    let scripts: Vec<PathBuf> = cases.iter().map(|(after, _)| honest(&place, 3, "", after)).collect();
    let service = Service::start(&json!({"code": scripts}));
    // Drafts alone, so that each script is one node.
    run(&place, &service, cases.len(), 1).args(["--set", "policy.rule.drafts.number=9"]).output().expect(0);
    let run = Run::only(&place.runs());
    let nodes = tree_of(&run.show(&place));
    assert_eq!(nodes.len(), cases.len());
    for (node, (after, words)) in nodes.iter().zip(&cases) {
        let why = node["buggy"].as_str().unwrap_or_else(|| panic!("{after}: {node}"));
        assert!(why.contains(words), "{after}: {why}");
        let flagged = node["flags"].as_array().is_some_and(|flags| {
            flags.iter().any(|flag| flag.as_str().unwrap().starts_with("`./submission/holdout.csv`: "))
        });
        assert!(flagged, "{after}: {node}");
    }
}

#[test]
fn what_cannot_be_kept_is_refused_before_anything_is_spent() {
    let place = Place::new();
    let dry_run = |options: &[&str]| {
        Podium::new(&place)
            .args(["run", "-c", "toy", "-m", "playbook", "--dry-run", "--json", "--assets"])
            .arg(place::toy_assets())
            .args(options)
            .output()
    };
    let shown = dry_run(&ON).expect(0).json();
    assert_eq!(shown["config"]["task"]["validation"]["training_rows"], 90, "{shown}");
    let text = shown["first_prompt"]["messages"].to_string();
    for words in [
        "./validation/holdout.csv",
        "./submission/holdout.csv",
        "./validation/folds.csv",
        "./submission/oof.csv",
        "has 90 rows: 30 were taken out",
        "train.csv (91 lines)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let plain = dry_run(&[]).expect(0).json();
    assert_eq!(plain["config"]["task"]["validation"], Value::Null);
    assert!(!plain["first_prompt"].to_string().contains("./validation"), "told where there is none");
    assert_ne!(plain["identity"], shown["identity"]);

    let process = [&ON[..], &["--sandbox", "process"]].concat();
    for (options, words) in [
        (&process[..], "`jail` or `docker`"),
        (&["--set", "validation.holdout.search=0.6"], "must be between 0 and 0.5"),
        (
            &["--set", "validation.holdout.search=0.3", "--set", "validation.holdout.final=0.3"],
            "more than 0.5 together",
        ),
        (&["--set", "validation.folds=1"], "must be 0 or from 2 to 100"),
        (&["--set", "validation.holdout.serch=0.1"], "validation.holdout.search"),
        (&["--set", "validation.holdout.search=0.001"], "too few rows"),
        (&["--set", "evaluation.metric=[\"holdout\"]"], "validation.holdout.search"),
        (&["--set", "evaluation.metric=[\"folds\"]"], "validation.folds"),
        (&["-s", "aide-holdout", "--set", "validation.holdout.final=0.0"], "validation.holdout.final"),
    ] {
        let refused = dry_run(options);
        assert_eq!(refused.code, Some(2), "{options:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{options:?}: {}", refused.stderr);
    }
    // A competition that does not say where its labels are.
    let assets = place.path().join("assets/benchmark/offline/toy");
    std::fs::create_dir_all(&assets).unwrap();
    let toy = place::toy_assets().join("benchmark/offline/toy");
    let text = std::fs::read_to_string(toy.join("competition.toml")).unwrap();
    let (before, rest) = text.split_once("[training]").unwrap();
    let (_, after) = rest.split_once("[board]").unwrap();
    std::fs::write(assets.join("competition.toml"), format!("{before}[board]{after}")).unwrap();
    place.write("assets/podium.toml", "");
    let undeclared = Podium::new(&place)
        .args(["run", "-c", "toy", "-m", "openai/x", "--dry-run", "--assets"])
        .arg(place.path().join("assets"))
        .args(ON)
        .env("OPENAI_API_KEY", "none")
        .output();
    assert_eq!(undeclared.code, Some(2), "{}", undeclared.stderr);
    assert!(
        undeclared.stderr.contains("does not say where its training labels are"),
        "{}",
        undeclared.stderr
    );
    assert!(undeclared.stderr.contains("[training]"), "{}", undeclared.stderr);
}
