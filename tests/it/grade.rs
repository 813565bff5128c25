//! `podium grade` and `podium validate` on submissions of every kind for three offline competitions: they agree on
//! what is valid, print one document in MLE-bench's words also when it is not, and only one of them knows a score.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Place, Podium};

/// MLE-bench's own fields of a grading report, in its order; ours come after them.
const FIELDS: [&str; 16] = [
    "competition_id",
    "score",
    "gold_threshold",
    "silver_threshold",
    "bronze_threshold",
    "median_threshold",
    "any_medal",
    "gold_medal",
    "silver_medal",
    "bronze_medal",
    "above_median",
    "submission_exists",
    "valid_submission",
    "is_lower_better",
    "created_at",
    "submission_path",
];

fn podium(place: &Place, arguments: &[&str]) -> Podium {
    Podium::new(place).arg("--assets").arg(env!("CARGO_MANIFEST_DIR")).args(arguments)
}

/// The sample submission of a competition whose data are made ready.
fn sample(place: &Place, competition: &str) -> String {
    podium(place, &["competitions", "prepare", competition]).output().expect(0);
    let path = place.data().join(competition).join("prepared/public/sample_submission.csv");
    std::fs::read_to_string(path).unwrap()
}

/// Submissions made from the sample: what was done to it, and the bytes.
fn variants(sample: &str) -> Vec<(&'static str, Vec<u8>)> {
    let lines: Vec<&str> = sample.lines().collect();
    let (header, rows) = (lines[0], &lines[1..]);
    let text = |header: &str, rows: &[String]| format!("{header}\n{}\n", rows.join("\n")).into_bytes();
    let owned: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
    let backwards: Vec<String> = owned.iter().rev().cloned().collect();
    let twice = [&owned[..], &owned[..1]].concat();
    let stranger = [&owned[..], &[owned[0].replacen(|c: char| c != ',', "z", 1)]].concat();
    // The first row with another value in its last column.
    let with_value = |value: &str| {
        let mut rows = owned.clone();
        let (front, _) = rows[0].rsplit_once(',').unwrap();
        rows[0] = format!("{front},{value}");
        text(header, &rows)
    };
    let wider: Vec<String> = owned.iter().map(|row| format!("{row},1")).collect();
    let narrower: Vec<String> = owned.iter().map(|row| row.rsplit_once(',').unwrap().0.to_owned()).collect();
    vec![
        ("the sample", text(header, &owned)),
        ("rows backwards", text(header, &backwards)),
        ("Windows line ends", sample.replace('\n', "\r\n").into_bytes()),
        ("a byte order mark", [b"\xEF\xBB\xBF", sample.as_bytes()].concat()),
        ("a row missing", text(header, &owned[1..])),
        ("a row twice", text(header, &twice)),
        ("a row of a stranger", text(header, &stranger)),
        ("a column more", text(&format!("{header},more"), &wider)),
        ("a column less", text(header.rsplit_once(',').unwrap().0, &narrower)),
        ("another name in the header", text(&header.replacen("id", "Id", 1), &owned)),
        ("no header", text(&owned[0], &owned[1..])),
        ("an empty cell", with_value("")),
        ("NaN", with_value("NaN")),
        ("infinite", with_value("inf")),
        ("negative", with_value("-1")),
        ("a word", with_value("warm")),
        ("only a header", format!("{header}\n").into_bytes()),
        ("empty", Vec::new()),
        ("a quote that stays open", format!("{header}\n\"{}", rows[0]).into_bytes()),
        ("no text", vec![0xFF; 1000]),
        ("a zero byte", with_value("1\0")),
    ]
}

/// Grades and validates one file; one line of the table.
fn judged(place: &Place, competition: &str, name: &str, file: &Path) -> String {
    let path = file.display().to_string();
    let graded = podium(place, &["grade", "-c", competition, &path, "--json"]).output();
    let checked = podium(place, &["validate", "-c", competition, &path, "--json"]).output();
    let (report, verdict) = (graded.json(), checked.json());
    let valid = report["valid_submission"].as_bool().unwrap();
    assert_eq!(verdict["verdict"] == "valid", valid, "{competition}, {name}: {verdict}, {report}");
    let code = Some(i32::from(!valid));
    assert_eq!((graded.code, checked.code), (code, code), "{competition}, {name}");

    let fields: Vec<&String> = report.as_object().unwrap().keys().collect();
    for field in FIELDS.iter().chain(&["raw_score", "reason", "notes"]) {
        assert!(fields.iter().any(|found| found == field), "{competition}, {name}: no {field}");
    }
    // The order of the text, for a table that is read by eye.
    let places: Vec<usize> =
        FIELDS.iter().map(|field| graded.stdout.find(&format!("\"{field}\"")).unwrap()).collect();
    assert!(places.is_sorted(), "{competition}, {name}: {}", graded.stdout);
    assert_eq!(report["competition_id"], competition);
    assert_eq!(report["score"].is_null(), !valid, "{competition}, {name}");
    assert_eq!(report["reason"].is_null(), valid, "{competition}, {name}");
    if verdict["verdict"] == "invalid" {
        assert_eq!(report["reason"], verdict["reason"], "{competition}, {name}");
    }
    for word in ["score", "threshold", "medal"] {
        assert!(!checked.stdout.contains(word), "{competition}, {name}: validate tells of a {word}");
    }
    if !report["raw_score"].is_number() {
        let medal = report["any_medal"].as_bool().unwrap() || report["above_median"].as_bool().unwrap();
        assert!(!medal, "{competition}, {name}: a medal for {}", report["raw_score"]);
    }
    let note =
        verdict["copies_sample"].as_bool().filter(|copies| *copies).map_or("", |_| " (copies the sample)");
    let text = match report["reason"].as_str() {
        Some(reason) => format!("invalid: {reason}"),
        None => format!("valid, raw score {}{note}", report["raw_score"]),
    };
    text.replace(&place.path().display().to_string(), "[place]")
}

fn table(competition: &str) {
    let place = Place::new();
    let sample = sample(&place, competition);
    let mut text = String::new();
    for (number, (name, bytes)) in variants(&sample).into_iter().enumerate() {
        let file = place.write(&format!("work/{number}.csv"), bytes);
        writeln!(text, "{name:<28}{}", judged(&place, competition, name, &file)).unwrap();
    }
    let nowhere: [(&str, PathBuf); 2] =
        [("a folder", place.work()), ("nothing", place.work().join("none.csv"))];
    for (name, path) in nowhere {
        writeln!(text, "{name:<28}{}", judged(&place, competition, name, &path)).unwrap();
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(competition, text) });
}

#[test]
fn probabilities_of_classes() {
    table("segment");
}

#[test]
fn numbers() {
    table("weather-hourly");
}

#[test]
fn texts() {
    table("pronunciation");
}

#[test]
fn a_score_that_is_no_number_is_valid_and_wins_nothing() {
    let place = Place::new();
    let sample = sample(&place, "weather-hourly");
    let infinite = sample.lines().enumerate().map(|(number, line)| match (number, line.split_once(',')) {
        (0, _) | (_, None) => format!("{line}\n"),
        (_, Some((id, _))) => format!("{id},1e308\n"),
    });
    let file = place.write("work/infinite.csv", infinite.collect::<String>());
    let arguments = ["grade", "-c", "weather-hourly", file.to_str().unwrap()];
    let report: Value = podium(&place, &arguments).arg("--json").output().expect(0).json();
    assert_eq!(report["raw_score"], "Infinity", "{report}");
    assert_eq!((&report["valid_submission"], &report["any_medal"]), (&true.into(), &false.into()));
    let shown = podium(&place, &arguments).output().expect(0).stdout;
    assert!(shown.contains("test score  Infinity") && shown.contains("medal       none"), "{shown}");
}
