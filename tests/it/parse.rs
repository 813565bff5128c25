//! How a scaffold reads a model's answer, through `podium scaffolds parse`: committed answers of every kind, and real
//! ones where the folder of transcripts is there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Place, Podium, need, place};

fn parse(place: &Place, file: &Path) -> Value {
    let podium = Podium::new(place).env("PODIUM_ASSETS", place::toy_assets());
    podium.args(["scaffolds", "parse", "aide"]).arg(file).arg("--json").output().expect(0).json()
}

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == end));
    files.sort();
    files
}

#[test]
fn answers_of_every_kind() {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/answers");
    let mut text = String::new();
    for file in files(&folder, "md") {
        let reading = parse(&place, &file);
        let status = reading["status"].as_str().unwrap();
        assert_eq!(reading["why"].is_null(), status == "ok", "{}: {reading}", file.display());
        assert_eq!(reading["code"].is_string(), status == "ok", "{}: {reading}", file.display());
        assert_eq!(reading["actions"], serde_json::json!([]), "{}", file.display());
        write!(text, "== {}: {status}", file.file_name().unwrap().display()).unwrap();
        for part in ["why", "plan", "code"] {
            if let Some(part_text) = reading[part].as_str() {
                write!(text, "\n{part}: {part_text}").unwrap();
            }
        }
        text.push_str("\n\n");
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!("answers", text) });
}

#[test]
fn standard_input_and_bytes_that_are_no_text() {
    let place = Place::new();
    let file = place.write("work/answer.md", b"A plan \xFF\xFE.\n\n```python\nprint(1)\n```\n");
    let arguments = ["scaffolds", "parse", "aide", "-", "--json"];
    let podium = Podium::new(&place).env("PODIUM_ASSETS", place::toy_assets()).args(arguments);
    let reading = podium.stdin(std::fs::File::open(file).unwrap()).output().expect(0).json();
    assert_eq!((&reading["status"], &reading["code"]), (&"ok".into(), &"print(1)".into()));
    assert_eq!(reading["plan"], "A plan \u{fffd}\u{fffd}.");
}

/// Where real answers may be: beside the repository, or where `PODIUM_TRANSCRIPTS` says.
fn transcripts() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
    std::env::var_os("PODIUM_TRANSCRIPTS").map_or_else(beside, PathBuf::from).join("aide")
}

/// A text without its white space, which formatting may change.
fn bare(value: &Value) -> String {
    value.as_str().unwrap_or_default().split_whitespace().collect()
}

#[test]
fn real_answers_are_read_as_the_original_reads_them() {
    let folder = transcripts();
    if !folder.is_dir() {
        let missing =
            format!("no transcripts in {}; name their folder in PODIUM_TRANSCRIPTS", folder.display());
        need::skip("real_answers_are_read_as_the_original_reads_them", &missing);
        return;
    }
    let place = Place::new();
    let mut read = 0;
    for file in files(&folder, "json") {
        let record: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let expected = &record["expected"];
        let answer = place.write("work/answer.md", record["completion"].as_str().unwrap());
        let reading = parse(&place, &answer);
        let name = file.display();
        assert_eq!(reading["status"], expected["status"], "{name}: {}", reading["why"]);
        assert_eq!(bare(&reading["plan"]), bare(&expected["plan"]), "{name}");
        assert_eq!(bare(&reading["code"]), bare(&expected["code_before_black"]), "{name}");
        read += 1;
    }
    assert!(read > 0, "no transcript in {}", folder.display());
}
