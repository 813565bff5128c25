//! A run as others see it: its folder, its journal read as a file, and what the program prints about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::{Place, Podium};

/// The folder of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Where it is.
    pub(crate) path: PathBuf,
}

/// One row of the journal, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Sequence number.
    pub(crate) seq: u64,
    /// `started`, `result`, ...
    pub(crate) kind: String,
    /// The effect key.
    pub(crate) key: Option<String>,
    /// Clocks and wall-clock time.
    pub(crate) stamp: (u64, u64, String),
    /// The record, or the name of its content file.
    pub(crate) body: (Option<String>, Option<String>),
}

impl Row {
    /// The record as JSON; `None` when it is in a content file.
    pub(crate) fn record(&self) -> Option<Value> {
        self.body.0.as_deref().map(|text| serde_json::from_str(text).unwrap())
    }
}

impl Run {
    /// The only run below `runs`.
    #[track_caller]
    pub(crate) fn only(runs: &Path) -> Self {
        let mut all = Self::all(runs);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// All runs below `runs`.
    pub(crate) fn all(runs: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
        let mut all: Vec<Self> = entries.map(|entry| Self { path: entry.path() }).collect();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }

    /// A copy of the journal's files as they lie on disk. SQLite folds its log into the file when it opens it;
    /// reading a copy changes nothing of what a killed process left.
    fn journal(&self) -> Option<(tempfile::TempDir, Connection)> {
        let copy = tempfile::tempdir().unwrap();
        for file in ["journal.db", "journal.db-wal", "journal.db-journal"] {
            let from = self.path.join(file);
            if from.exists() {
                std::fs::copy(from, copy.path().join(file)).unwrap();
            }
        }
        let path = copy.path().join("journal.db");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        path.exists().then(|| (copy, Connection::open_with_flags(path, flags).unwrap()))
    }

    /// All rows of a journal that nobody writes; none when there is no journal yet.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let Some((_copy, connection)) = self.journal() else { return Vec::new() };
        let query = "SELECT seq, kind, key, run_ms, waiting_ms, at, body, content FROM entry ORDER BY seq";
        let Ok(mut statement) = connection.prepare(query) else { return Vec::new() };
        let rows = statement.query_map([], |row| {
            Ok(Row {
                seq: row.get(0)?,
                kind: row.get(1)?,
                key: row.get(2)?,
                stamp: (row.get(3)?, row.get(4)?, row.get(5)?),
                body: (row.get(6)?, row.get(7)?),
            })
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// How many tries were sent for each call.
    pub(crate) fn intents(&self) -> BTreeMap<String, u64> {
        let Some((_copy, connection)) = self.journal() else { return BTreeMap::new() };
        let Ok(mut statement) = connection.prepare("SELECT key, count(*) FROM intent GROUP BY key") else {
            return BTreeMap::new();
        };
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// Calls that were sent and have no record.
    pub(crate) fn open_intents(&self) -> Vec<String> {
        let Some((_copy, connection)) = self.journal() else { return Vec::new() };
        let Ok(mut statement) = connection.prepare("SELECT key FROM intent WHERE state = 'open' ORDER BY id")
        else {
            return Vec::new();
        };
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// What `podium show --json` prints.
    #[track_caller]
    pub(crate) fn show(&self, place: &Place) -> Value {
        Podium::new(place).arg("show").arg(&self.path).arg("--json").output().expect(0).json()
    }

    /// The tree: all nodes without their timings.
    #[track_caller]
    pub(crate) fn tree(&self, place: &Place) -> Vec<Value> {
        tree_of(&self.show(place))
    }
}

/// The nodes of a `podium show --json` document without their timings.
pub(crate) fn tree_of(shown: &Value) -> Vec<Value> {
    let mut nodes = shown["nodes"].as_array().unwrap().clone();
    for node in &mut nodes {
        node.as_object_mut().unwrap().remove("execution_ms");
    }
    nodes
}

/// The grading report of a run report without what hangs on the clock and on the folder.
pub(crate) fn grade_of(report: &Value) -> Value {
    let mut graded = report["report"].clone();
    if let Some(fields) = graded.as_object_mut() {
        fields.remove("created_at");
        fields.remove("submission_path");
    }
    graded
}
