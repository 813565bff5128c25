//! What a folder of MLE-bench's data holds, competition by competition: which can be run, which only graded, what is
//! missing, what is another version, what is only a Git LFS pointer. Nothing is copied, changed or unpacked.
//!
//! It must not stop at a competition that is not prepared or not readable: a lab prepares the ones it needs.

use std::path::Path;

use serde::Serialize;

use crate::catalog::{Catalog, Competition};
use crate::data::{Folders, checksum, folders, listing, pointer};
use crate::parallel::in_parallel;

/// Files up to this size have their sums compared unless all are asked for.
const SMALL: u64 = 64 << 20;

/// Which recorded MD5 sums are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checking {
    /// None.
    None,
    /// Those of files up to 64 MiB, which takes seconds: answers, sample submissions, most tables.
    #[default]
    Small,
    /// All, hours of reading where all competitions are there.
    All,
}

/// How far a competition's data can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// Everything that a run and its grading need.
    Ready,
    /// The answers are there; something that a run needs is not.
    GradingOnly,
    /// It was prepared, and the answers are missing or no data.
    Incomplete,
    /// Downloaded, not prepared.
    NotPrepared,
    /// There is no folder for it.
    Absent,
}

impl Readiness {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::GradingOnly => "grading only",
            Self::Incomplete => "incomplete",
            Self::NotPrepared => "not prepared",
            Self::Absent => "absent",
        }
    }
}

/// What was found of one competition. Files are named by their path below its `prepared` folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The competition.
    pub id: String,
    /// How far it can be used.
    pub readiness: Readiness,
    /// What the catalog lists and is not there.
    pub missing: Vec<String>,
    /// Files that are only Git LFS pointers.
    pub lfs_pointers: Vec<String>,
    /// Files whose MD5 sum is not the recorded one.
    pub differs: Vec<String>,
    /// Files whose sum is the recorded one.
    pub verified: usize,
    /// Files with a recorded sum that were not compared, because they are large or no comparison was asked for.
    pub not_compared: usize,
}

/// What was found in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Every competition of the catalog, by id.
    pub competitions: Vec<Found>,
    /// Folders that hold prepared data of competitions that the catalog does not know.
    pub unknown: Vec<String>,
}

/// Looks through `data_dir` for the competitions of `catalog` that `wanted` accepts.
pub fn survey(
    data_dir: &Path,
    catalog: &Catalog,
    checking: Checking,
    wanted: impl Fn(&Competition) -> bool,
) -> Survey {
    let members: Vec<&Competition> = catalog.list().filter(|competition| wanted(competition)).collect();
    let found = in_parallel(&members, |competition| look(data_dir, competition, checking));
    let competitions = members
        .iter()
        .zip(found)
        .map(|(competition, found)| found.unwrap_or_else(|_| nothing(&competition.id, Readiness::Incomplete)))
        .collect();
    let mut unknown: Vec<String> = std::fs::read_dir(data_dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("prepared").is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|id| catalog.get(id).is_err())
        .collect();
    unknown.sort();
    Survey { competitions, unknown }
}

fn nothing(id: &str, readiness: Readiness) -> Found {
    Found {
        id: id.to_owned(),
        readiness,
        missing: Vec::new(),
        lfs_pointers: Vec::new(),
        differs: Vec::new(),
        verified: 0,
        not_compared: 0,
    }
}

fn look(data_dir: &Path, competition: &Competition, checking: Checking) -> Found {
    let home = data_dir.join(&competition.id);
    let folders = folders(data_dir, &competition.id);
    if !home.join("prepared").is_dir() {
        let readiness = if home.is_dir() { Readiness::NotPrepared } else { Readiness::Absent };
        return nothing(&competition.id, readiness);
    }
    let mut found = nothing(&competition.id, Readiness::Ready);
    for (side, entry) in wanted_files(competition) {
        for entry in listing::expand(&entry) {
            let folder = side.folder(&folders);
            let name = format!("{}/{entry}", side.name());
            if !listing::is_there(folder, &entry) {
                found.missing.push(name);
            } else if pointer::is_pointer(&folder.join(&entry)) {
                found.lfs_pointers.push(name);
            }
        }
    }
    compare(competition, &folders, checking, &mut found);
    let answers = folders.answers(competition);
    found.readiness = if !answers.is_file() || pointer::is_pointer(&answers) {
        Readiness::Incomplete
    } else if found.missing.is_empty() && found.lfs_pointers.is_empty() {
        Readiness::Ready
    } else {
        Readiness::GradingOnly
    };
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Public,
    Private,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }

    fn folder(self, folders: &Folders) -> &Path {
        match self {
            Self::Public => &folders.public,
            Self::Private => &folders.private,
        }
    }
}

/// All that a run and its grading need, each once.
fn wanted_files(competition: &Competition) -> Vec<(Side, String)> {
    let data = &competition.data;
    let sample = if data.sample_is_private { Side::Private } else { Side::Public };
    let own = [
        (Side::Private, competition.answers.file.clone()),
        (sample, data.sample_submission.clone()),
        (Side::Public, "description.md".to_owned()),
    ];
    let tables = [&data.train, &data.test].into_iter().flatten().map(|file| (Side::Public, file.clone()));
    let public = data.public.iter().map(|entry| (Side::Public, entry.clone()));
    let private = data.private.iter().map(|entry| (Side::Private, entry.clone()));
    let mut files: Vec<(Side, String)> = Vec::new();
    for file in own.into_iter().chain(tables).chain(public).chain(private) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

fn compare(competition: &Competition, folders: &Folders, checking: Checking, found: &mut Found) {
    let Some(sums) = &competition.data.md5 else { return };
    let public = sums.public.iter().map(|sum| (Side::Public, sum));
    let private = sums.private.iter().map(|sum| (Side::Private, sum));
    for (side, (file, recorded)) in public.chain(private) {
        let path = side.folder(folders).join(file);
        let name = format!("{}/{file}", side.name());
        let Ok(size) = path.metadata().map(|metadata| metadata.len()) else { continue };
        if found.lfs_pointers.contains(&name) {
            continue;
        }
        let compared = match checking {
            Checking::None => false,
            Checking::Small => size <= SMALL,
            Checking::All => true,
        };
        match compared.then(|| checksum::of_file(&path)) {
            None => found.not_compared += 1,
            Some(Ok(sum)) if sum == *recorded => found.verified += 1,
            Some(Ok(_)) => found.differs.push(name),
            Some(Err(error)) => found.differs.push(format!("{name} (cannot be read: {error})")),
        }
    }
}
