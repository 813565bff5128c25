//! What is open: the folder, the rows that were read, and the outlines of the runs that somebody looks at, which are read
//! on as their journals grow. Few are kept; whoever comes back to another waits for one more reading.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use podium_report::experiment::Sheet;
use podium_report::story::{Item, Story};
use serde::Serialize;

use super::listing::{ExperimentView, Listing, Rows};
use super::reporting::{Beside, reported};
use super::root::{Refusal, Root, words};
use crate::run::folder::lock::seems_held;
use crate::run::story::outline::{Last, Outline};
use crate::run::story::search::{Hit, search};

/// Outlines that are kept.
const OPEN: usize = 16;
/// A search over many runs ends then, and says how far it came.
const SEARCH: Duration = Duration::from_secs(10);
/// Hits of all runs together.
const HITS: usize = 300;

/// The folder and what of it is open.
#[derive(Debug)]
pub struct Shelf {
    root: Root,
    rows: Rows,
    known: Beside,
    open: Mutex<VecDeque<(String, Arc<Mutex<Outline>>)>>,
}

/// A run, or what of it is new.
#[derive(Debug, Serialize)]
pub struct RunView {
    /// Its folder below the root.
    pub at: String,
    /// The entry up to which this is true: what is asked for next begins there.
    pub read: u64,
    /// Whether somebody works on it.
    pub going_on: bool,
    /// What was committed last.
    pub last: Option<Last>,
    /// What of it does not read.
    pub faults: Vec<String>,
    /// The run.
    pub story: Story,
    /// Its nodes or steps, or those that changed since what was asked for.
    pub items: Vec<Item>,
}

/// What was found in runs.
#[derive(Debug, Default, Serialize)]
pub struct Finds {
    /// Runs with hits.
    pub runs: Vec<Find>,
    /// Runs that were searched to their end, and all.
    pub searched: usize,
    /// All runs.
    pub of: usize,
}

/// What was found in one run.
#[derive(Debug, Serialize)]
pub struct Find {
    /// Its folder below the root.
    pub at: String,
    /// Where.
    pub hits: Vec<Hit>,
    /// Whether there may be more.
    pub more: bool,
    /// Why it could not be searched.
    pub fault: Option<String>,
}

impl Shelf {
    /// Of this folder, with what is known beside it of competitions and models.
    pub fn new(root: Root, known: Beside) -> Self {
        Self { root, rows: Rows::default(), known, open: Mutex::default() }
    }

    /// The folder.
    pub const fn root(&self) -> &Root {
        &self.root
    }

    /// Everything in it.
    pub fn listing(&self) -> Listing {
        self.rows.listing(&self.root)
    }

    /// One experiment.
    ///
    /// # Errors
    /// When there is none.
    pub fn experiment(&self, at: &str) -> Result<ExperimentView, Refusal> {
        self.rows.experiment(&self.root, at)
    }

    /// What an experiment came to so far.
    ///
    /// # Errors
    /// When there is none.
    pub fn report(&self, at: &str) -> Result<Sheet, Refusal> {
        reported(&self.root, at, &self.known)
    }

    /// The outline of a run, opened if need be.
    fn outline(&self, at: &str) -> Arc<Mutex<Outline>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.iter().position(|(name, _)| name == at).and_then(|place| open.remove(place));
        let (name, outline) = known.unwrap_or_else(|| (at.to_owned(), Arc::default()));
        let kept = Arc::clone(&outline);
        open.push_front((name, outline));
        open.truncate(OPEN);
        kept
    }

    /// Reads what a run's journal has got since the last time, for whoever is about to ask.
    pub fn read_ahead(&self, at: &str) {
        let Ok(run) = self.root.run(at) else { return };
        let outline = self.outline(at);
        // What does not read is told to whoever asks.
        let _ = outline.lock().unwrap_or_else(PoisonError::into_inner).read_on(&run);
    }

    /// A run, with what changed of its items after entry `since`.
    ///
    /// # Errors
    /// When there is none, or nothing of it reads.
    pub fn run(&self, at: &str, since: u64) -> Result<RunView, Refusal> {
        let run = self.root.run(at)?;
        let outline = self.outline(at);
        let mut outline = outline.lock().unwrap_or_else(PoisonError::into_inner);
        let mut faults = Vec::new();
        if let Err(error) = outline.read_on(&run) {
            faults.push(words(&error));
        }
        // First: a run that ends meanwhile has a report, and is not said to go on.
        let going_on = seems_held(&run.folder.lock_path());
        let report = run.report().unwrap_or_else(|error| {
            faults.push(words(&error));
            None
        });
        let since = if since > outline.read() { 0 } else { since };
        let mut story = outline.story(&run, report.as_ref(), since);
        let items = std::mem::take(&mut story.items);
        faults.extend(outline.faults());
        Ok(RunView {
            at: at.to_owned(),
            read: outline.read(),
            going_on: going_on && report.is_none(),
            last: outline.last().cloned(),
            faults,
            story,
            items,
        })
    }

    /// A node or step of a run with all its texts.
    ///
    /// # Errors
    /// When there is none.
    pub fn item(&self, at: &str, number: u32) -> Result<Item, Refusal> {
        let run = self.root.run(at)?;
        let outline = self.outline(at);
        let mut outline = outline.lock().unwrap_or_else(PoisonError::into_inner);
        let damaged = |error: crate::run::error::RunError| Refusal::Damaged(words(&error));
        if outline.read() == 0 {
            outline.read_on(&run).map_err(damaged)?;
        }
        let item = outline.item(&run, number).map_err(damaged)?;
        item.ok_or_else(|| Refusal::Absent(format!("{at}: {number}")))
    }

    /// A word in one run, in the runs of one experiment, or in all.
    ///
    /// # Errors
    /// When there is nothing of that name.
    pub fn search(&self, at: &str, word: &str) -> Result<Finds, Refusal> {
        let until = Instant::now() + SEARCH;
        let names = self.runs_below(at)?;
        let mut finds = Finds { of: names.len(), ..Finds::default() };
        let mut count = 0;
        for name in names {
            if Instant::now() > until || count >= HITS {
                break;
            }
            let told = self.root.run(&name).and_then(|run| {
                search(&run, word, || Instant::now() > until).map_err(|error| Refusal::Damaged(words(&error)))
            });
            let (found, fault) = match told {
                Ok(found) => (found, None),
                Err(refusal) => (crate::run::story::search::Found::default(), Some(refusal.to_string())),
            };
            count += found.hits.len();
            finds.searched += 1;
            if !found.hits.is_empty() || fault.is_some() {
                finds.runs.push(Find { at: name, hits: found.hits, more: found.more, fault });
            }
        }
        Ok(finds)
    }

    /// The runs that a name stands for: that run, all of that experiment, or all there are.
    fn runs_below(&self, at: &str) -> Result<Vec<String>, Refusal> {
        let begun = |view: ExperimentView| {
            let runs = view.runs.into_iter().filter(|row| row.state != super::row::State::NotBegun);
            runs.map(|row| row.at).collect::<Vec<_>>()
        };
        if !at.is_empty() {
            let folder = self.root.folder(at)?;
            let is_experiment = folder.join("experiment.json").exists();
            return if is_experiment { Ok(begun(self.experiment(at)?)) } else { Ok(vec![at.to_owned()]) };
        }
        let listing = self.listing();
        let mut names: Vec<String> = listing.runs.into_iter().map(|row| row.at).collect();
        for experiment in listing.experiments {
            names.extend(self.experiment(&experiment.at).map(begun).unwrap_or_default());
        }
        Ok(names)
    }
}
