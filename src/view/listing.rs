//! What the folder holds, as rows: experiments, and runs that stand alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;

use super::root::{Refusal, Root, below, plain_parts, words};
use super::row::{Row, State, row};
use crate::experiment::stored::Experiment;

/// What the folder holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Listing {
    /// The folder.
    pub folder: String,
    /// Experiments.
    pub experiments: Vec<ExperimentRow>,
    /// Runs that stand alone.
    pub runs: Vec<Row>,
    /// Folders and links that are neither, by their names; what is wrong with them.
    pub others: Vec<(String, String)>,
}

/// One experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExperimentRow {
    /// Its folder below the root.
    pub at: String,
    /// Its name.
    pub name: String,
    /// Why it does not read.
    pub fault: Option<String>,
    /// Planned runs.
    pub planned: usize,
    /// Runs by what they came to, or by how far they have come. They add up to the plan.
    pub counts: BTreeMap<String, usize>,
    /// Runs that have nothing left to do.
    pub ended: usize,
    /// Runs that somebody works on.
    pub going_on: usize,
    /// Axes with more than one value.
    pub varied: Vec<String>,
    /// How many competitions.
    pub competitions: usize,
    /// Dollars so far; none: unknown.
    pub cost: Option<f64>,
    /// When anything of it was done last.
    pub until: Option<String>,
}

/// An experiment with its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentView {
    /// Its head.
    #[serde(flatten)]
    pub head: ExperimentRow,
    /// All runs of the plan, and those in its folder that the plan has no more.
    pub runs: Vec<Row>,
}

/// By which a changed file is known: when it was written, and its size.
type Stamp = Option<(SystemTime, u64)>;

/// Rows that were read before: a run that has ended is read once.
#[derive(Debug, Default)]
pub struct Rows {
    known: Mutex<BTreeMap<PathBuf, (Stamp, Row)>>,
}

impl Rows {
    fn row(&self, at: &str, folder: &Path) -> Row {
        let report = std::fs::symlink_metadata(folder.join("run.json")).ok();
        let stamp = report.and_then(|facts| Some((facts.modified().ok()?, facts.len())));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(folder) {
            Some((former, row)) if stamp.is_some() && *former == stamp => row.clone(),
            _ => {
                let row = row(at, folder);
                known.insert(folder.to_owned(), (stamp, row.clone()));
                row
            }
        }
    }

    /// Everything below the root.
    pub fn listing(&self, root: &Root) -> Listing {
        let mut listing = Listing { folder: root.path().display().to_string(), ..Listing::default() };
        if is_there(root.path(), "experiment.json") {
            listing.experiments.push(self.head(root, ""));
            return listing;
        }
        if is_there(root.path(), "config.json") {
            listing.runs.push(self.row("", root.path()));
            return listing;
        }
        for name in names(root.path()) {
            if let Err(other) = name.and_then(|name| self.place(root, name, &mut listing)) {
                listing.others.push(other);
            }
        }
        listing
    }

    /// Puts one folder into the listing; else says what it is.
    fn place(&self, root: &Root, name: String, listing: &mut Listing) -> Result<(), (String, String)> {
        let folder = match root.folder(&name) {
            Ok(folder) => folder,
            Err(refusal) => return Err((name, refusal.to_string())),
        };
        if is_there(&folder, "experiment.json") {
            listing.experiments.push(self.head(root, &name));
        } else if is_there(&folder, "config.json") || is_there(&folder, "journal.db") {
            listing.runs.push(self.row(&name, &folder));
        } else {
            return Err((name, "neither a run nor an experiment".to_owned()));
        }
        Ok(())
    }

    fn head(&self, root: &Root, at: &str) -> ExperimentRow {
        match self.experiment(root, at) {
            Ok(view) => view.head,
            Err(refusal) => ExperimentRow {
                at: at.to_owned(),
                name: if at.is_empty() { "this experiment".to_owned() } else { at.to_owned() },
                fault: Some(refusal.to_string()),
                ..ExperimentRow::default()
            },
        }
    }

    /// One experiment with all its runs.
    ///
    /// # Errors
    /// When its file does not read.
    pub fn experiment(&self, root: &Root, at: &str) -> Result<ExperimentView, Refusal> {
        let folder = root.folder(at)?;
        let experiment = open(&folder)?;
        let plan = &experiment.stored.plan;
        let mut runs = Vec::new();
        for planned in &plan.runs {
            let at = below(at, &planned.folder);
            let known = root.folder(&at);
            let mut row = match known {
                Ok(folder) if is_there(&folder, "config.json") => self.row(&at, &folder),
                Ok(_) | Err(Refusal::Absent(_)) => Row { at, state: State::NotBegun, ..Row::default() },
                Err(refusal) => Row::damaged(&at, refusal.to_string()),
            };
            row.arm.clone_from(&planned.arm);
            row.competition.clone_from(&planned.competition);
            row.seed = Some(planned.seed);
            if row.scaffold.is_empty() {
                row.scaffold = planned.arm.get("scaffold").cloned().unwrap_or_default();
            }
            runs.push(row);
        }
        let spec = &experiment.stored.spec;
        let mut counts = BTreeMap::new();
        for row in &runs {
            *counts.entry(word(row)).or_insert(0) += 1;
        }
        let count = |wanted: &[State]| runs.iter().filter(|row| wanted.contains(&row.state)).count();
        let head = ExperimentRow {
            at: at.to_owned(),
            name: spec.name.clone(),
            fault: None,
            planned: runs.len(),
            counts,
            ended: count(&[State::Ended]),
            going_on: count(&[State::GoingOn]),
            varied: spec.varied(),
            competitions: plan.competitions.len(),
            cost: runs.iter().filter(|row| row.outcome.is_some()).map(|row| row.cost).sum(),
            until: runs.iter().filter_map(|row| row.until.clone()).max(),
        };
        Ok(ExperimentView { head, runs })
    }
}

/// The experiment in `folder`.
///
/// # Errors
/// When its file does not read.
pub fn open(folder: &Path) -> Result<Experiment, Refusal> {
    plain_parts(folder, &["experiment.json"])?;
    Experiment::open(folder).map_err(|error| Refusal::Damaged(words(&error)))
}

/// What a run came to, or how far it has come.
fn word(row: &Row) -> String {
    let state = match row.state {
        State::NotBegun => "not_begun",
        State::GoingOn => "going_on",
        State::Cut => "cut",
        State::Damaged => "damaged",
        State::Stopped | State::Ended => row.outcome.unwrap_or("ended"),
    };
    state.to_owned()
}

/// Something of that name, whatever it is: a link is not followed here, and refused later.
fn is_there(folder: &Path, name: &str) -> bool {
    std::fs::symlink_metadata(folder.join(name)).is_ok()
}

/// Names in a folder, the youngest last; what is no plain file and not hidden. A name that is no text cannot be asked
/// for, and is told as such.
fn names(folder: &Path) -> Vec<Result<String, (String, String)>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_file()))
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| {
            let told = |name: std::ffi::OsString| {
                (name.to_string_lossy().into_owned(), "its name is no text".to_owned())
            };
            entry.file_name().into_string().map_err(told)
        })
        .collect();
    names.sort();
    names
}
