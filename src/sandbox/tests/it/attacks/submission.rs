//! Lines 9 to 12 and 15: what stands where the submission should be. Lines 13 and 14 are about reports and are tested
//! with the whole program.

use std::time::{Duration, Instant};

use podium_types::execution::{Collected, Ended, Execution};
use podium_types::sha256::Sha256;
use serde_json::{Value, json};

use super::{attack, held, say};
use crate::common::{Place, attacked};

fn missing(found: &str) -> Collected {
    Collected::Missing { found: found.to_owned() }
}

/// Runs the cases of a program, each in a place of its own; `found` is what must be said of the submission.
async fn refused(line: &str, program: &str, cases: &[(&str, &str)]) {
    let Some(sandbox) = attacked() else { return };
    for (case, found) in cases {
        let place = Place::new();
        let answers = place.folder.path().join("answers.csv");
        std::fs::write(&answers, "id,y\n1,SECRET\n").unwrap();
        let job = attack(&place, program, &json!({"case": case, "answers": answers}));
        let start = Instant::now();
        let execution = sandbox.execute(&job).await.unwrap();
        held(&*sandbox, line, &execution);
        assert!(execution.succeeded(), "{case}: {execution:?}");
        assert_eq!(execution.submission, missing(found), "{case}");
        let after = start.elapsed().saturating_sub(Duration::from_millis(execution.wall_ms));
        assert!(after < Duration::from_secs(10), "{case}: {after:?}");
        assert!(!place.store().exists(), "{case}: nothing was stored");
        say(&*sandbox, line, &format!("{case}: {found}"));
    }
}

#[tokio::test]
async fn line_09_links_are_refused() {
    let cases = ["answers", "passwd", "input", "folder", "descriptor"].map(|case| (case, "a symbolic link"));
    refused("9", "09_linked_submission", &cases).await;
}

#[tokio::test]
async fn line_10_odd_files_are_refused() {
    let cases = [
        ("hard link", "a file with more than one name (a hard link)"),
        ("fifo", "a FIFO"),
        ("directory", "a directory"),
        ("socket", "a socket or a device"),
        ("device", "nothing"),
        ("file as folder", "a path through something that is no folder"),
        ("nothing", "nothing"),
    ];
    refused("10", "10_odd_submission", &cases).await;
}

#[tokio::test]
async fn line_11_large_files_are_refused() {
    let Some(sandbox) = attacked() else { return };
    let before = super::resources::peak_memory();
    for case in ["sparse", "columns", "field"] {
        let place = Place::new();
        let mut job = attack(&place, "11_large_submission", &json!({"case": case}));
        job.limits.file_bytes = 64 << 30;
        let execution = sandbox.execute(&job).await.unwrap();
        assert!(execution.succeeded(), "{case}: {execution:?}");
        assert_eq!(execution.submission, missing("a file over the size limit"), "{case}");
    }
    let grown = super::resources::peak_memory().saturating_sub(before);
    assert!(grown < 50 << 20, "{grown}");
    say(&*sandbox, "11", &format!("refused by size; memory grew by {} KiB", grown >> 10));
}

#[tokio::test]
async fn line_12_what_is_graded_is_what_was_stored() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let execution = sandbox.execute(&attack(&place, "12_rewriting", &json!({}))).await.unwrap();
    assert_eq!(execution.output.text(), "left\n");
    let Collected::File { sha256, .. } = execution.submission else { panic!("{execution:?}") };
    let stored = std::fs::read(place.store().join(sha256.as_str())).unwrap();
    assert_eq!(Sha256::of(&stored), sha256);
    // Nobody writes any more.
    let now = || std::fs::read(place.workspace().join("submission/submission.csv")).unwrap();
    assert_eq!(now(), stored);
    say(&*sandbox, "12", "the copy is what was hashed, and nobody writes");
}

#[tokio::test]
async fn line_13_forged_reports_stay_where_they_were_written() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let before = listed(&place);
    let execution = sandbox.execute(&attack(&place, "13_forged_reports", &json!({}))).await.unwrap();
    assert!(execution.output.text().ends_with("\"outcome\": \"graded\"}\n"));
    assert_eq!(execution.submission, missing("nothing"));
    assert_eq!(listed(&place), before);
    say(&*sandbox, "13", "nothing outside the workspace changed");
}

/// What lies beside the workspace.
fn listed(place: &Place) -> Vec<std::ffi::OsString> {
    let names = |folder: std::path::PathBuf| {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name())
    };
    let mut all: Vec<_> =
        names(place.folder.path().to_owned()).chain(names(place.folder.path().join("input"))).collect();
    all.sort();
    all
}

#[tokio::test]
async fn line_15_a_crash_is_told_with_the_file_it_left() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let none: Value = json!({});
    let execution: Execution = sandbox.execute(&attack(&place, "15_crash_after", &none)).await.unwrap();
    assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Signal(11), "written\n"));
    assert!(matches!(execution.submission, Collected::File { bytes: 9, .. }), "{:?}", execution.submission);
    say(&*sandbox, "15", "signal 11, file collected: what counts is the caller's rule");
}
