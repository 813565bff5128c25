//! Unpacks the cases of one competition and grades them.

use std::path::{Path, PathBuf};

use podium_competition::{Catalog, Competition, GradeError, Outcome, grade, validate};
use serde_json::Value;

fn benchmark() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmark")
}

/// A competition of the catalog in the repository.
pub(crate) fn competition(id: &str) -> Competition {
    let path = benchmark().join(format!("competitions/{id}.toml"));
    let text = std::fs::read_to_string(path).unwrap();
    let catalog = Catalog::from_texts([(format!("competitions/{id}.toml"), text)].into()).unwrap();
    catalog.get(id).unwrap().clone()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(word) if word == "NaN" => f64::NAN,
        Value::String(word) if word == "Infinity" => f64::INFINITY,
        Value::String(word) if word == "-Infinity" => f64::NEG_INFINITY,
        value => value.as_f64().unwrap(),
    }
}

fn same(left: f64, right: f64) -> bool {
    left == right || (left.is_nan() && right.is_nan())
}

/// What is wrong with the verdict on a case, if anything.
fn judge(case: &Value, outcome: &Result<Outcome, GradeError>) -> Result<(), String> {
    let valid = case["valid"].as_bool().unwrap();
    let outcome = match outcome {
        // Answers that the official grader chokes on make it refuse everything.
        Err(GradeError::Unfit { .. } | GradeError::Read { .. }) if !valid => return Ok(()),
        Err(error) => return Err(format!("{error}: {:?}", std::error::Error::source(error))),
        Ok(outcome) => outcome,
    };
    match outcome {
        Outcome::Scored { raw_score, .. } if valid => {
            let (score, rounded) = (number(&case["score"]), number(&case["rounded"]));
            let tolerance = case["tolerance"].as_f64().unwrap_or(1e-9);
            let close = (raw_score - score).abs() <= tolerance * score.abs().max(raw_score.abs());
            if !close && !same(*raw_score, score) {
                return Err(format!("scored {raw_score:?}, not {score:?}"));
            }
            let found = outcome.rounded_score().unwrap();
            let close_enough = case["tolerance"].is_number() && (found - rounded).abs() < 2e-5;
            if same(found, rounded) || close_enough {
                Ok(())
            } else {
                Err(format!("rounded to {found:?}, not {rounded:?}"))
            }
        }
        Outcome::Scored { raw_score, .. } => Err(format!("scored {raw_score:?}, should be invalid")),
        other if valid => {
            Err(format!("refused: {}; should score {}", other.reason().unwrap(), case["score"]))
        }
        Outcome::Missing { found } => Err(format!("found {found}")),
        Outcome::Invalid { reason } if reason.is_empty() => Err("no reason".to_owned()),
        Outcome::Invalid { .. } => Ok(()),
    }
}

/// Grades all cases in the archive of the repository.
pub(crate) fn check(id: &str) {
    let folder = tempfile::tempdir().unwrap();
    let archive = std::fs::File::open(benchmark().join(format!("oracle/{id}.tar.gz"))).unwrap();
    tar::Archive::new(flate2::read::GzDecoder::new(archive)).unpack(folder.path()).unwrap();
    check_folder(id, folder.path());
}

/// Grades all cases in the folders of `PODIUM_TEST_ORACLE`, which hold a folder `ID` of unpacked cases for any
/// competition; several are separated by `:`.
pub(crate) fn check_further() {
    let paths = std::env::var("PODIUM_TEST_ORACLE").unwrap_or_default();
    let roots = std::env::split_paths(&paths).filter(|root| !root.as_os_str().is_empty());
    let mut failed = Vec::new();
    for entry in roots.flat_map(|root| std::fs::read_dir(root).unwrap()).flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        if let Err(panic) = std::panic::catch_unwind(|| check_folder(&id, &entry.path())) {
            failed.push(panic.downcast_ref::<String>().cloned().unwrap_or(id));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn check_folder(id: &str, folder: &Path) {
    let competition = competition(id);
    let cases = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    let show = std::env::var_os("PODIUM_ORACLE_REASONS").is_some();
    let mut failures = Vec::new();
    for case in &cases {
        let file = |key: &str| folder.join(case[key].as_str().unwrap());
        let (submission, answers) = (file("submission"), file("answers"));
        let graded = grade(&competition, &submission, &answers).map(|graded| graded.outcome);
        let name = case["case"].as_str().unwrap();
        if show {
            println!("{id} {name}: {graded:?}");
        }
        if let Err(problem) = judge(case, &graded) {
            failures.push(format!("{name}: {problem} ({})", case["why"]));
        }
        let valid =
            validate(&competition, &submission, &answers, None).is_ok_and(|verdict| verdict.is_valid());
        if valid != matches!(graded, Ok(Outcome::Scored { .. })) {
            failures.push(format!("{name}: validate says {valid}, grade {graded:?}"));
        }
    }
    println!("{id}: {} cases", cases.len());
    assert!(
        failures.is_empty(),
        "{id}: {} of {} cases fail\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

pub(crate) fn check_list(ids: &[&str]) {
    let mut found: Vec<String> = std::fs::read_dir(benchmark().join("competitions"))
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".toml").map(str::to_owned))
        .collect();
    found.sort();
    let mut ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    ids.sort();
    assert_eq!(found, ids);
    assert_eq!(ids.len(), 82);
}
