//! The demo's promise on real competitions: AIDE with the stand-in model, in the pinned environment, ends with a
//! medal table, a best script that runs, and plain words about what it shows.

use std::path::PathBuf;

use crate::support::place::cache;
use crate::support::{Place, Podium, Run, need};

fn demo(competition: &str) {
    if !need::jail(competition) {
        return;
    }
    let place = Place::new();
    let ended = Podium::new(&place)
        .env("XDG_CACHE_HOME", cache())
        .args(["run", "--scaffold", "aide", "-c", competition, "-m", "playbook", "--steps", "5"])
        .args(["--execution-limit", "60s", "--memory", "2GiB", "--set", "policy.rule.drafts.number=3"])
        // Named, for the program may stand outside the clone (`CARGO_TARGET_DIR`).
        .args(["--assets", env!("CARGO_MANIFEST_DIR"), "--runs-dir"])
        .arg(place.runs())
        .output()
        .expect(0);
    for line in [
        "outcome     graded",
        "test score",
        "medal",
        "thresholds",
        "calls",
        "time",
        "script",
        "stand-in model",
    ] {
        assert!(ended.stdout.contains(line), "no `{line}` in:\n{}\n{}", ended.stdout, ended.stderr);
    }
    assert!(ended.stdout.contains("scikit-learn baselines, no people"), "{}", ended.stdout);
    let run = Run::only(&place.runs());
    let shown = run.show(&place);
    assert_eq!(shown["nodes"].as_array().map(Vec::len), Some(5));
    assert_eq!(shown["report"]["outcome"], "graded");
    let selected = shown["report"]["nodes"]["selected"].as_u64().unwrap();
    let code = shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == selected).unwrap()["code"]
        .clone();
    let best = PathBuf::from(shown["run"].as_str().unwrap()).join("best");
    assert_eq!(std::fs::read_to_string(best.join("solution.py")).unwrap(), code.as_str().unwrap());
    assert_eq!(
        std::fs::read(best.join("submission.csv")).unwrap(),
        std::fs::read(best.parent().unwrap().join("submission.csv")).unwrap()
    );
    Podium::new(&place).args(["replay"]).arg(best.parent().unwrap()).output().expect(0);
}

#[test]
fn a_table_ends_with_a_medal_table() {
    demo("segment");
}

#[test]
fn images_end_with_a_medal_table() {
    demo("digits");
}
