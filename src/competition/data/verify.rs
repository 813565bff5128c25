//! Whether prepared data are those that MLE-bench's thresholds were made with: the sums that it recorded, taken anew.
//!
//! As there, the tables and documents directly in the two folders count, and one that has no recorded sum is told too.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::catalog::Competition;
use crate::data::{checksum, folders};
use crate::parallel::in_parallel;

/// Files that end so have a recorded sum.
const RECORDED: [&str; 5] = ["csv", "json", "jsonl", "parquet", "bson"];

/// What came of one competition. Files are named by their path below its `prepared` folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The competition.
    pub id: String,
    /// Whether there are prepared data.
    pub is_prepared: bool,
    /// Files whose sum is the recorded one.
    pub same: usize,
    /// Files whose sum is another, with it.
    pub differs: BTreeMap<String, String>,
    /// Files with a recorded sum that are not there.
    pub missing: Vec<String>,
    /// Files that there are no sums of, where there are of others.
    pub not_recorded: Vec<String>,
}

impl Verified {
    /// Whether the data are there and nothing speaks against them.
    pub fn is_right(&self) -> bool {
        self.is_prepared && self.differs.is_empty() && self.missing.is_empty() && self.not_recorded.is_empty()
    }
}

/// Compares all recorded sums of these competitions.
pub fn verify(data_dir: &Path, competitions: &[&Competition]) -> Vec<Verified> {
    let all = in_parallel(competitions, |competition| one(data_dir, competition));
    let broken = |competition: &Competition| Verified { id: competition.id.clone(), ..Verified::default() };
    all.into_iter()
        .zip(competitions)
        .map(|(one, competition)| one.unwrap_or_else(|_| broken(competition)))
        .collect()
}

fn one(data_dir: &Path, competition: &Competition) -> Verified {
    let folders = folders(data_dir, &competition.id);
    let mut verified = Verified {
        id: competition.id.clone(),
        is_prepared: folders.public.is_dir() && folders.private.is_dir(),
        ..Verified::default()
    };
    let Some(sums) = competition.data.md5.as_ref().filter(|_| verified.is_prepared) else { return verified };
    for (side, folder, recorded) in
        [("public", &folders.public, &sums.public), ("private", &folders.private, &sums.private)]
    {
        let files: Vec<(&String, &String)> = recorded.iter().collect();
        let found = in_parallel(&files, |(file, _)| {
            let path = folder.join(file);
            path.is_file().then(|| checksum::of_file(&path).unwrap_or_else(|error| error.to_string()))
        });
        for ((file, recorded), found) in files.iter().zip(found) {
            let name = format!("{side}/{file}");
            match found {
                Ok(Some(sum)) if sum == **recorded => verified.same += 1,
                Ok(Some(sum)) => drop(verified.differs.insert(name, sum)),
                _ => verified.missing.push(name),
            }
        }
        if !recorded.is_empty() {
            let others = others(folder, recorded).into_iter().map(|file| format!("{side}/{file}"));
            verified.not_recorded.extend(others);
        }
    }
    verified
}

/// The files of a folder that should have a recorded sum and have none.
fn others(folder: &Path, recorded: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            Path::new(name).extension().is_some_and(|end| RECORDED.iter().any(|known| end == *known))
        })
        .filter(|name| !recorded.contains_key(name))
        .collect();
    names.sort();
    names
}
