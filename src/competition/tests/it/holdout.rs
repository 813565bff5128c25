//! Holdouts: labels of training rows that the harness keeps. What an agent is shown and what is kept are disjoint, the
//! truth is in the form of the answers, and nobody's file makes the scoring fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use podium_competition::holdout::{Counts, HoldoutError, Plan, count};
use podium_competition::{Catalog, Competition, Holdout, folders, prepare_offline};
use podium_types::direction::Direction;
use podium_types::evaluation::{Evaluation, Labels};

use crate::common::{self, Files};

const PLAN: Plan = Plan { search: 0.15, last: 0.1, folds: 4, seed: 7 };

fn offline() -> Vec<(Competition, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmark/offline");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("competition.toml")) else { continue };
        let texts = BTreeMap::from([("offline/x/competition.toml".to_owned(), text)]);
        let competition = Catalog::from_texts(texts).unwrap().list().next().unwrap().clone();
        found.push((competition, entry.path().join("data")));
    }
    found
}

/// The rows of a CSV file without quotes in what is asked for: name of a column to cells.
fn columns(path: &Path) -> BTreeMap<String, Vec<String>> {
    let table = podium_competition::csv::read(
        std::fs::File::open(path).unwrap(),
        &podium_competition::csv::ReadOptions { as_text: names(path), ..Default::default() },
    )
    .unwrap();
    table
        .columns()
        .map(|(name, column)| (name.to_owned(), column.cells().map(|cell| cell.to_string()).collect()))
        .collect()
}

fn names(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().next().unwrap_or_default().split(',').map(str::to_owned).collect()
}

fn keys(competition: &Competition, path: &Path) -> BTreeSet<String> {
    columns(path)[&competition.submission.id[0]].iter().cloned().collect()
}

/// Predictions in the form of the sample submission that are as good as can be.
fn perfect(competition: &Competition, truth: &Path) -> String {
    let truth = columns(truth);
    let key = &competition.submission.id[0];
    let wanted = &competition.submission.columns;
    let answers = competition.answer_columns();
    let mut text = format!("{key},{}\n", wanted.join(","));
    for (row, name) in truth[key].iter().enumerate() {
        let cells: Vec<String> = match answers {
            [class] if wanted.len() > 1 => wanted
                .iter()
                .map(|column| if *column == truth[class][row] { "1" } else { "0" }.to_owned())
                .collect(),
            _ => answers.iter().map(|column| truth[column][row].clone()).collect(),
        };
        // Zero is no rate of a Poisson distribution.
        let cells = cells.into_iter().map(|cell| {
            if competition.id == "doctor-visits" && cell == "0" { "0.000001".to_owned() } else { cell }
        });
        text.push_str(&format!("{name},{}\n", cells.collect::<Vec<_>>().join(",")));
    }
    text
}

fn best(competition: &Competition, score: f64) -> bool {
    match competition.direction() {
        Direction::Lower => score < 1e-3,
        Direction::Higher => score > 1.0 - 1e-9,
    }
}

fn check(competition: &Competition, data: &Path) {
    let id = &competition.id;
    let place = tempfile::tempdir().unwrap();
    prepare_offline(data, place.path(), id, "").unwrap();
    let public = folders(place.path(), id).public;
    let holdout = Holdout::at(place.path().join("holdout"));
    let counts = holdout.lay(competition, &public, &PLAN).unwrap();
    assert_eq!(counts, count(competition, &public, &PLAN).unwrap(), "{id}");
    assert_eq!(counts, holdout.lay(competition, &public, &PLAN).unwrap(), "{id}: laid again");
    assert_eq!(Some(&counts), holdout.counts().as_ref());

    let original = std::fs::read_to_string(public.join("train.csv")).unwrap();
    let kept = std::fs::read_to_string(holdout.training_table()).unwrap();
    // Every row that stays has the bytes it had, in the order it had.
    let mut lines = original.lines();
    assert!(kept.lines().all(|line| lines.any(|other| other == line)), "{id}");
    let kept_keys = keys(competition, &holdout.training_table());
    let held = holdout.shown().join("holdout.csv");
    let held_keys = keys(competition, &held);
    assert!(kept_keys.is_disjoint(&held_keys), "{id}");
    let all = keys(competition, &public.join("train.csv"));
    assert_eq!(kept_keys.len() + held_keys.len(), all.len(), "{id}");
    assert!(held_keys.is_subset(&all), "{id}");
    let folds = columns(&holdout.shown().join("folds.csv"));
    let fold_keys: BTreeSet<String> = folds[&competition.submission.id[0]].iter().cloned().collect();
    assert_eq!(fold_keys, kept_keys, "{id}");
    // About the shares that were asked for.
    let share = counts.search as f64 / all.len() as f64;
    assert!((0.10..0.20).contains(&share), "{id}: {counts:?}");
    // Held-out rows look like those of the test table, keys first.
    let mut like = names(&public.join("test.csv"));
    let mut shown = names(&held);
    like.sort();
    shown.sort();
    assert_eq!(like, shown, "{id}");

    let truth = place.path().join("holdout/truth");
    let search = keys(competition, &truth.join("search.csv"));
    let last = keys(competition, &truth.join("final.csv"));
    assert!(search.is_disjoint(&last), "{id}");
    assert_eq!(search.union(&last).cloned().collect::<BTreeSet<_>>(), held_keys, "{id}");

    if let Some(group) = competition.training.as_ref().and_then(|training| training.group.clone())
        && group.prefix.is_none()
    {
        let cells = |path: &Path| columns(path)[&group.column].iter().cloned().collect::<BTreeSet<_>>();
        assert!(cells(&held).is_disjoint(&cells(&holdout.training_table())), "{id}: a group was parted");
    }

    let scratch = place.path();
    let written = |name: &str, text: String| {
        let path = scratch.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let held_out = written("held.csv", perfect(competition, &truth.join("holdout.csv")));
    for labels in [Labels::HoldoutSearch, Labels::HoldoutFinal] {
        let found = holdout.evaluate(competition, labels, &held_out, scratch).unwrap();
        assert!(best(competition, found.score().unwrap_or(f64::NAN)), "{id}: {labels:?} {found:?}");
    }
    let oof = written("oof.csv", perfect(competition, &truth.join("folds.csv")));
    match holdout.evaluate(competition, Labels::OutOfFold, &oof, scratch).unwrap() {
        Evaluation::Scored { score, folds } => {
            assert!(best(competition, score.0), "{id}: {score}");
            assert_eq!(folds.len(), 4);
            assert!(folds.iter().all(|fold| best(competition, fold.0)), "{id}: {folds:?}");
        }
        refused @ Evaluation::Refused { .. } => panic!("{id}: {refused:?}"),
    }
    // The other file in its place is refused with a reason.
    let refused = holdout.evaluate(competition, Labels::OutOfFold, &held_out, scratch).unwrap();
    assert!(matches!(&refused, Evaluation::Refused { reason } if !reason.is_empty()), "{id}: {refused:?}");
}

#[test]
fn every_offline_competition_can_be_held_out_of() {
    let all = offline();
    assert!(all.len() >= 11);
    let checked =
        podium_competition::parallel::in_parallel(&all, |(competition, data)| check(competition, data));
    for checked in checked {
        checked.unwrap();
    }
}

fn made_up(training: &str) -> Competition {
    let mut toml = common::toml("accuracy", "higher", "label", &["y"], "");
    toml.push_str(training);
    common::competition(&toml)
}

fn table(rows: usize) -> String {
    let row =
        |row: usize| format!("{row},\"a, \"\"{}\"\"\",{}\r\n", row % 7, if row == 3 { "rare" } else { "b" });
    format!("id,x,y\r\n{}", (0..rows).map(row).collect::<String>())
}

#[test]
fn a_split_is_the_seeds() {
    let files = Files::new();
    files.write("train.csv", table(200));
    let competition = made_up("[training]\nfile = \"train.csv\"\nstratify = \"y\"\n");
    let public = files.folder.path();
    let lay = |name: &str, seed| {
        let holdout = Holdout::at(public.join(name));
        let counts = holdout.lay(&competition, public, &Plan { seed, ..PLAN }).unwrap();
        let read = |path: PathBuf| std::fs::read(path).unwrap();
        let shown = holdout.shown();
        (
            counts,
            read(shown.join("holdout.csv")),
            read(shown.join("folds.csv")),
            read(holdout.training_table()),
        )
    };
    let (one, again, other) = (lay("a", 1), lay("b", 1), lay("c", 2));
    assert_eq!(one, again);
    assert_ne!(one.1, other.1);
    assert_ne!(one.2, other.2);
    assert_eq!(one.0.search, 30);
    assert_eq!(one.0.last, 20);
    // A class of one row stays in training.
    assert!(String::from_utf8(one.3).unwrap().contains("rare"));
    // Without a test table only the keys are shown.
    assert!(String::from_utf8(one.1).unwrap().starts_with("id\n"));
}

#[test]
fn what_cannot_be_held_out_of_says_why() {
    let cases = [
        ("file = \"train.csv\"", table(200), ""),
        ("file = \"train.csv\"\nstratify = \"z\"", table(200), "it has no column `z`"),
        ("file = \"train.csv\"\ncolumns = { y = \"label\" }", table(200), "it has no column `label`"),
        ("file = \"train.csv\"", "id,x,y,y\n1,2,3,4\n".to_owned(), "it has two columns `y`"),
        (
            "file = \"train.csv\"",
            "id,x,y\n1,2,3,4\n".to_owned(),
            "data row 1 has 4 cells where the header has 3",
        ),
        ("file = \"train.csv\"", "id,x,y\n1,2,3\n1,2,3\n".to_owned(), "data row 2 repeats a key"),
        ("file = \"train.csv\"", "id,x,y\n,2,3\n".to_owned(), "the key of data row 1 is empty"),
        ("file = \"train.csv\"", table(3), "it has too few rows to hold any out for the search"),
        ("file = \"train.csv\"", String::new(), "it has no column `id`"),
        (
            "file = \"train.csv\"\nlike = \"train.csv\"",
            table(200),
            "held-out rows would show their label in `y`",
        ),
        ("file = \"train.csv\"\nid = [\"x\"]", table(200), "data row 8 repeats a key"),
    ];
    for (training, text, expected) in cases {
        let files = Files::new();
        files.write("train.csv", text);
        let competition = made_up(&format!("[training]\n{training}\n"));
        let holdout = Holdout::at(files.folder.path().join("holdout"));
        match holdout.lay(&competition, files.folder.path(), &PLAN) {
            Err(HoldoutError::Unsuitable { problem, .. }) => assert_eq!(problem, expected, "{training}"),
            Ok(_) if expected.is_empty() => {}
            other => panic!("{training}: {other:?}"),
        }
        assert_eq!(holdout.counts().is_some(), expected.is_empty());
    }
    let none = count(&made_up(""), Path::new("/nowhere"), &PLAN).unwrap_err();
    assert!(matches!(none, HoldoutError::NotDeclared { .. }));
    assert!(none.hint().unwrap().contains("[training]"));
}

#[test]
fn damaged_predictions_have_a_reason_and_break_nothing() {
    let files = Files::new();
    files.write("train.csv", table(200));
    let competition = made_up("[training]\nfile = \"train.csv\"\nstratify = \"y\"\n");
    let public = files.folder.path();
    let holdout = Holdout::at(public.join("holdout"));
    let Counts { held_out_rows, .. } = holdout.lay(&competition, public, &PLAN).unwrap();
    assert_eq!(held_out_rows, 50);
    let held = keys(&competition, &holdout.shown().join("holdout.csv"));
    let good: String = held.iter().map(|key| format!("{key},b\n")).collect();
    let whole = format!("id,y\n{good}");
    let evaluate = |bytes: &[u8]| {
        let path = files.write("predictions.csv", bytes);
        holdout.evaluate(&competition, Labels::HoldoutSearch, &path, public).unwrap()
    };
    assert_eq!(evaluate(whole.as_bytes()).score(), Some(1.0));
    // Ids as pandas writes them after a missing one stood beside them.
    assert_eq!(evaluate(whole.replace(",b", ".0,b").as_bytes()).score(), Some(1.0));
    let fewer: String = whole.lines().skip(2).map(|line| format!("{line}\n")).collect();
    let damaged: [&[u8]; 9] = [
        b"",
        b"\0\0\0",
        b"id,y\n",
        b"\xff\xfe",
        b"id,y\n\"1,b\n",
        b"y\nb\n",
        fewer.as_bytes(),
        whole.get(..whole.len() / 2).unwrap().as_bytes(),
        b"PK\x03\x04",
    ];
    for bytes in damaged {
        let found = evaluate(bytes);
        assert!(
            matches!(&found, Evaluation::Refused { reason } if !reason.is_empty()),
            "{bytes:?}: {found:?}"
        );
    }
    // No word of the labels in any of them.
    let odd = evaluate(whole.replacen(",b", ",", 1).as_bytes());
    assert!(matches!(&odd, Evaluation::Refused { reason } if !reason.contains("rare")), "{odd:?}");
    let missing =
        holdout.evaluate(&competition, Labels::HoldoutSearch, &public.join("none.csv"), public).unwrap();
    assert!(matches!(missing, Evaluation::Refused { .. }), "{missing:?}");
}
