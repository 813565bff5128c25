//! The offline competitions in the repository: each is read, prepared and graded, and reproduces its own anchors.
//!
//! `PODIUM_TEST_OFFLINE` may name further folders of the same layout, separated by `:`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podium_competition::data::archives;
use podium_competition::{
    Catalog, Competition, Outcome, Rounding, Status, folders, grade, prepare_offline, preview,
};
use podium_competition::{report, status, validate};
use podium_types::verdict::Verdict;

fn roots() -> Vec<PathBuf> {
    let mut roots = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmark/offline")];
    roots.extend(std::env::var("PODIUM_TEST_OFFLINE").iter().flat_map(|paths| std::env::split_paths(paths)));
    roots
}

fn catalog(root: &Path) -> Catalog {
    let mut texts = BTreeMap::new();
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        for name in ["competition.toml", "board.csv", "description.md"] {
            if let Ok(text) = std::fs::read_to_string(entry.path().join(name)) {
                texts.insert(format!("offline/{}/{name}", entry.file_name().display()), text);
            }
        }
    }
    Catalog::from_texts(texts).unwrap()
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1e-300)
}

fn score(competition: &Competition, submission: &Path, answers: &Path) -> f64 {
    match grade(competition, submission, answers).unwrap().outcome {
        Outcome::Scored { raw_score, .. } => raw_score,
        other => panic!("{}: {other:?}", competition.id),
    }
}

fn check(competition: &Competition, archives: &Path, data: &Path) {
    let id = &competition.id;
    assert_eq!(status(data, competition), Status::NotPrepared);
    let description = competition.description.as_deref().unwrap_or("(none yet)");
    assert!(prepare_offline(archives, data, id, description).unwrap().fresh, "{id}");
    assert_eq!(status(data, competition), Status::Prepared);
    assert!(!prepare_offline(archives, data, id, description).unwrap().fresh, "{id}");

    let folders = folders(data, id);
    let (answers, sample) = (folders.answers(competition), folders.sample_submission(competition));
    let found = score(competition, &sample, &answers);
    if let Some(expected) = competition.board.sample_submission {
        assert!(close(found, expected), "{id}: sample submission scores {found}, the board says {expected}");
    }
    let verdict = validate(competition, &sample, &answers, Some(&sample)).unwrap();
    assert!(matches!(verdict, Verdict::Valid { copies_sample: true, .. }), "{id}: {verdict:?}");
    check_board(competition, found);
    let text = preview(&folders.public, 6000);
    assert!(text.contains("sample_submission.csv") && text.chars().count() <= 6000, "{text}");
}

fn check_board(competition: &Competition, sample_score: f64) {
    let (board, id) = (&competition.board, &competition.id);
    let Some(thresholds) = &board.thresholds else {
        println!("{id}: sample submission {sample_score}; no board yet");
        return;
    };
    assert!(board.entries.len() >= 20, "{id}: a board of {}", board.entries.len());
    assert!(close(board.entries[0].score, board.best.unwrap()), "{id}: best");
    assert!(close(thresholds.median, board.median.unwrap()), "{id}: median");
    let outcome = Outcome::Scored { raw_score: sample_score, rounding: Rounding::Python, notes: Vec::new() };
    let report = report(competition, board, &outcome, "submission.csv", "2026-01-01T00:00:00Z");
    println!(
        "{id}: sample submission {sample_score}, beats {:?} % of {} baselines",
        report.percentile,
        board.entries.len()
    );
}

#[test]
fn each_offline_competition_reproduces_its_anchors() {
    let mut checked = 0;
    for root in roots() {
        let catalog = catalog(&root);
        for archives in archives(&root).unwrap() {
            let data = tempfile::tempdir().unwrap();
            check(catalog.get(&archives.id).unwrap(), &archives.folder, data.path());
            checked += 1;
        }
    }
    println!("{checked} offline competitions checked");
}
