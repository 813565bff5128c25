//! A competition made up for a test, and files to grade.

use std::collections::BTreeMap;
use std::path::PathBuf;

use podium_competition::{Catalog, Competition};
use tempfile::TempDir;

pub(crate) fn toml(metric: &str, direction: &str, value: &str, columns: &[&str], more: &str) -> String {
    format!(
        r#"
id = "made-up"
name = "Made up"
summary = "A test"
kind = "offline"
splits = ["offline"]
category = "tabular"

[metric]
name = "{metric}"
direction = "{direction}"
{more}

[submission]
id = ["id"]
columns = {columns:?}
value = "{value}"

[answers]
file = "answers.csv"
{{ANSWERS}}

[data]
sample_submission = "sample_submission.csv"

[board]
kind = "baselines"
"#
    )
}

pub(crate) fn competition(toml: &str) -> Competition {
    let texts = BTreeMap::from([("competition.toml".to_owned(), toml.replace("{ANSWERS}", ""))]);
    let catalog = Catalog::from_texts(texts).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    catalog.list().next().unwrap().clone()
}

/// A folder with files.
pub(crate) struct Files {
    pub(crate) folder: TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}
