//! The offline competitions as a user meets them: they load, unpack, grade to their recorded anchors, carry a licence,
//! and their boards are independent of the stand-in model's solutions. Nothing secret is inside the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A clone has at least so many: with fewer no comparison can ever be significant.
const FEWEST: usize = 10;
/// Identical lines in a row that count as shared code.
const SHARED_LINES: usize = 6;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder(id: &str) -> PathBuf {
    root().join("benchmark/offline").join(id)
}

fn podium(data: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_podium"))
        .args(["--data-dir".as_ref(), data.as_os_str(), "--assets".as_ref(), root().as_os_str()])
        .args(arguments)
        .current_dir(data)
        .output()
        .unwrap()
}

/// The JSON document of a command that ends well.
fn document(data: &Path, arguments: &[&str]) -> Value {
    let output = podium(data, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ids() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("benchmark/offline")).unwrap().flatten();
    let mut ids: Vec<String> = entries
        .filter(|entry| entry.path().join("competition.toml").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    ids.sort();
    ids
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The records of a CSV, quoted line breaks minded, without the header.
fn records(path: &Path) -> Vec<String> {
    let (mut records, mut record, mut quoted) = (Vec::new(), String::new(), false);
    for line in text(path).lines() {
        quoted ^= line.matches('"').count() % 2 == 1;
        record.push_str(line);
        if quoted {
            record.push('\n');
        } else if !record.is_empty() {
            records.push(std::mem::take(&mut record));
        }
    }
    records.remove(0);
    records
}

fn first_fields(records: &[String]) -> BTreeSet<&str> {
    records.iter().filter_map(|record| record.split(',').next()).collect()
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}

/// Name and score of each line of a board.
fn board(id: &str) -> Vec<(String, f64)> {
    records(&folder(id).join("board.csv"))
        .iter()
        .map(|line| {
            let (name, score) = line.rsplit_once(',').unwrap();
            (name.to_owned(), score.parse().unwrap())
        })
        .collect()
}

#[test]
fn there_are_at_least_ten_and_each_loads() {
    let data = tempfile::tempdir().unwrap();
    let listed = document(data.path(), &["competitions", "list", "--split", "offline", "--json"]);
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(listed, ids(), "each folder with a competition.toml is in the split `offline`");
    assert!(listed.len() >= FEWEST, "{listed:?}");
    let mut categories = BTreeMap::new();
    for id in listed {
        let shown = document(data.path(), &["competitions", "show", id, "--json"]);
        *categories.entry(shown["category"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        let licence = shown["licence"].as_str().unwrap_or_default();
        assert!(
            licence.len() > 2 && shown["source"].as_str().is_some_and(|source| !source.is_empty()),
            "{id}"
        );
        let rows = shown["data"]["test_rows"].as_u64().unwrap();
        let why = text(&folder(id).join("description.md"));
        let named = why.contains(&rows.to_string()) && why.contains("there are no more");
        assert!(rows >= 1000 || named, "{id}: {rows} test rows, and its description gives no reason");
    }
    assert!(categories.len() >= 5 && categories["text"] >= 2, "{categories:?}");
}

#[test]
fn each_unpacks_and_grades_to_its_anchors() {
    let data = tempfile::tempdir().unwrap();
    let ids = ids();
    let mut prepare = vec!["competitions", "prepare", "--json"];
    prepare.extend(ids.iter().map(String::as_str));
    let prepared = document(data.path(), &prepare);
    for (id, folders) in ids.iter().zip(prepared.as_array().unwrap()) {
        let shown = document(data.path(), &["competitions", "show", id, "--json"]);
        let file = |part: &str, name: &Value| {
            Path::new(folders[part].as_str().unwrap()).join(name.as_str().unwrap())
        };
        let facts = &shown["data"];
        let sample = file("public", &facts["sample_submission"]);
        let answers = records(&file("private", &shown["answers"]["file"]));
        let (train, test) =
            (records(&file("public", &facts["train"])), records(&file("public", &facts["test"])));
        assert_eq!(train.len() as u64, facts["train_rows"].as_u64().unwrap(), "{id}: train rows");
        assert_eq!(test.len() as u64, facts["test_rows"].as_u64().unwrap(), "{id}: test rows");
        assert_eq!(records(&sample).len(), answers.len(), "{id}: rows of the sample submission");
        assert_eq!(first_fields(&test), first_fields(&answers), "{id}: keys");
        assert!(first_fields(&train).is_disjoint(&first_fields(&test)), "{id}: keys of train and test");

        let sample = sample.to_str().unwrap();
        let valid = document(data.path(), &["validate", "-c", id, sample, "--json"]);
        assert_eq!(valid["verdict"], "valid", "{id}: {valid}");
        let graded = document(data.path(), &["grade", "-c", id, sample, "--json"]);
        assert_eq!(graded["valid_submission"], true, "{id}: {graded}");
        let anchor = shown["board"]["sample_submission"].as_f64().unwrap();
        let score = graded["raw_score"].as_f64().unwrap();
        assert!(close(score, anchor), "{id}: the sample submission scores {score}, recorded is {anchor}");
        assert_eq!(graded["any_medal"], false, "{id}: a medal for the sample submission");
    }
}

#[test]
fn boards_are_sorted_and_their_anchors_are_right() {
    for id in ids() {
        let catalog: toml::Table = text(&folder(&id).join("competition.toml")).parse().unwrap();
        let scores: Vec<f64> = board(&id).into_iter().map(|(_, score)| score).collect();
        assert!(scores.len() >= 20, "{id}: {} baselines", scores.len());
        let lower = catalog["metric"]["direction"].as_str() == Some("lower");
        let sorted = scores.is_sorted_by(|a, b| if lower { a <= b } else { a >= b });
        assert!(sorted, "{id}: the best come first");
        let middle = scores.len() / 2;
        let median = if scores.len() % 2 == 1 {
            scores[middle]
        } else {
            f64::midpoint(scores[middle - 1], scores[middle])
        };
        let anchor = |name: &str| catalog["board"][name].as_float().unwrap();
        assert!(close(anchor("best"), scores[0]) && close(anchor("median"), median), "{id}: anchors");
    }
}

/// Lines that say something: no blanks, comments, imports, or lone brackets.
fn telling_lines(path: &Path) -> Vec<String> {
    text(path)
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#') && !line.starts_with("import ") && !line.starts_with("from "))
        .filter(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= 4)
        .map(str::to_owned)
        .collect()
}

fn playbook_scripts() -> Vec<PathBuf> {
    let mut scripts = Vec::new();
    for id in ids().into_iter().chain(["common".to_owned()]) {
        let entries = std::fs::read_dir(folder(&id).join("playbook")).unwrap().flatten();
        scripts.extend(
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "py")),
        );
    }
    scripts.sort();
    assert!(scripts.len() > 50, "{}", scripts.len());
    scripts
}

#[test]
fn boards_and_playbooks_share_neither_code_nor_scores() {
    let offline = root().join("benchmark/offline");
    let mut makers: Vec<PathBuf> =
        std::fs::read_dir(offline.join("ladder")).unwrap().flatten().map(|entry| entry.path()).collect();
    makers.retain(|path| path.extension().is_some_and(|end| end == "py"));
    assert!(makers.len() >= FEWEST);
    makers.extend(["board.py", "metrics.py"].map(|name| offline.join(name)));
    let lines: Vec<Vec<String>> = makers.iter().map(|path| telling_lines(path)).collect();
    let runs: BTreeSet<&[String]> = lines.iter().flat_map(|lines| lines.windows(SHARED_LINES)).collect();
    for script in playbook_scripts() {
        let lines = telling_lines(&script);
        let shared = lines.windows(SHARED_LINES).find(|lines| runs.contains(lines));
        assert!(shared.is_none(), "{} shares code with a board: {shared:?}", script.display());
    }
    // Whether a solution reaches a board's score is shown by benchmark/offline/check.py, which runs them all. Here: no
    // playbook text quotes one.
    for id in ids() {
        let quoted: Vec<String> = board(&id).iter().map(|(_, score)| format!("{score:.5}")).collect();
        for entry in std::fs::read_dir(folder(&id).join("playbook")).unwrap().flatten() {
            let text = text(&entry.path());
            let found: Vec<&String> = quoted
                .iter()
                .filter(|score| {
                    text.contains(score.trim_end_matches('0')) && score.trim_end_matches('0').len() >= 7
                })
                .collect();
            assert!(found.is_empty(), "{} quotes {found:?} of the board", entry.path().display());
        }
    }
}

/// The needles that occur in `hay`, each at least eight bytes long. One pass, for the program is large.
fn occurring<'a>(hay: &[u8], needles: &'a BTreeMap<String, Vec<u8>>) -> Vec<&'a str> {
    let head = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
    let mut by_head: BTreeMap<u64, Vec<(&str, &[u8])>> = BTreeMap::new();
    let mut possible = vec![false; 1 << 16];
    for (name, needle) in needles {
        by_head.entry(head(needle)).or_default().push((name, needle));
        possible[usize::from(u16::from_le_bytes([needle[0], needle[1]]))] = true;
    }
    let mut found = Vec::new();
    for (at, pair) in hay.windows(2).enumerate() {
        if !possible[usize::from(u16::from_le_bytes([pair[0], pair[1]]))] || at + 8 > hay.len() {
            continue;
        }
        let rest = &hay[at..];
        let here = by_head.get(&head(rest)).into_iter().flatten();
        found.extend(here.filter(|(_, needle)| rest.starts_with(needle)).map(|(name, _)| *name));
    }
    found
}

#[test]
fn answers_and_solutions_are_not_inside_the_program() {
    let data = tempfile::tempdir().unwrap();
    let mut needles = BTreeMap::new();
    for script in playbook_scripts() {
        let line = telling_lines(&script).into_iter().max_by_key(String::len).unwrap();
        needles.insert(script.display().to_string(), line.into_bytes());
    }
    for id in ids() {
        document(data.path(), &["competitions", "prepare", &id, "--json"]);
        let answers = records(&data.path().join(&id).join("prepared/private/answers.csv"));
        needles.insert(format!("{id}: answers"), answers[..3].join("\n").into_bytes());
        for kind in ["public", "private"] {
            let archive = std::fs::read(folder(&id).join("data").join(format!("{kind}.tar.gz"))).unwrap();
            let middle = archive.len() / 2;
            needles.insert(format!("{id}: {kind} archive"), archive[middle..middle + 24].to_vec());
        }
    }
    let program = std::fs::read(env!("CARGO_BIN_EXE_podium")).unwrap();
    assert_eq!(occurring(&program, &needles), Vec::<&str>::new());
    // The search itself finds what is inside: a prompt, compiled in.
    let description = text(&folder("segment").join("description.md"));
    let line = description.lines().max_by_key(|line| line.len()).unwrap().as_bytes().to_vec();
    let inside = BTreeMap::from([("a description".to_owned(), line)]);
    assert_eq!(occurring(&program, &inside), ["a description"]);
}
