//! `docs/aide-parity.md` names a test for each line; a test that it names is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files below a folder.
fn sources(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|ending| ending == "rs") {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Names of functions that follow a line with a test's attribute, however many attributes stand between.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in ["src", "tests"].into_iter().flat_map(|folder| sources(root().join(folder))) {
        let text = std::fs::read_to_string(path).unwrap();
        let mut marked = false;
        for line in text.lines().map(str::trim) {
            let name =
                line.trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split('(').next());
            match name {
                Some(name) if marked => {
                    names.insert(name.to_owned());
                    marked = false;
                }
                Some(_) => {}
                None => marked |= line.starts_with("#[test]") || line.starts_with("#[tokio::test"),
            }
        }
    }
    names
}

#[test]
fn every_test_that_the_table_names_is_there() {
    let table = std::fs::read_to_string(root().join("docs/aide-parity.md")).unwrap();
    let tests = tests();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows.len() > 50);
    for row in rows.into_iter().filter(|row| !row.ends_with("| test |")) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let named: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test in: {row}");
        for name in named {
            assert!(tests.contains(name), "there is no test `{name}`: {row}");
        }
    }
}
