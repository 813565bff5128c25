//! An experiment's folder: `experiment.json` (what was asked, the plan, where things are) and one folder for each run.
//! What came of the runs is read from their folders and from nowhere else.

use std::path::{Path, PathBuf};

use podium_types::money::Usd;
use podium_types::usage::Usage;
use serde::{Deserialize, Serialize};

use crate::experiment::error::ExperimentError;
use crate::experiment::plan::{Plan, PlannedRun};
use crate::experiment::purse::{Caps, Purse, Spent};
use crate::experiment::spec::ExperimentSpec;
use crate::run::config::Place;
use crate::run::error::RunError;
use crate::run::folder::lock::{Holder, RunLock, holder_of};
use crate::run::folder::write_whole;
use crate::run::journal::Intent;
use crate::run::sitting::StoredRun;
use crate::run::stop::StoppedBy;
use crate::run::summary::RunReport;
use crate::run::tally::Tally;

/// Version of `experiment.json`.
const FORMAT: u32 = 1;

/// What `experiment.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Version of this format.
    pub format: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// What was asked for.
    pub spec: ExperimentSpec,
    /// Its runs.
    pub plan: Plan,
    /// Where things are on this machine.
    pub place: Place,
}

/// An experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its folder.
    pub folder: PathBuf,
    /// Its file.
    pub stored: Stored,
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It has no folder yet.
    Absent,
    /// It has begun and has no report: it is going on, or was killed.
    Begun,
    /// It has a report; a resume may go on from it.
    Stopped(Box<RunReport>),
    /// It has ended, as its limits stand.
    Ended(Box<RunReport>),
}

impl State {
    /// The report, where there is one.
    pub fn report(&self) -> Option<&RunReport> {
        match self {
            Self::Stopped(report) | Self::Ended(report) => Some(report),
            Self::Absent | Self::Begun => None,
        }
    }

    /// Whether there is nothing left to do.
    pub const fn is_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }

    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Absent => "not_begun",
            Self::Begun => "begun",
            Self::Stopped(report) => report.stopped_by.word(),
            Self::Ended(report) => report.outcome.word(),
        }
    }
}

impl Experiment {
    /// The one in `folder`.
    ///
    /// # Errors
    /// When there is none, or it does not read back.
    pub fn open(folder: &Path) -> Result<Self, ExperimentError> {
        let path = folder.join("experiment.json");
        let Ok(bytes) = std::fs::read(&path) else { return Err(ExperimentError::Absent(folder.to_owned())) };
        let folder = folder.to_owned();
        match serde_json::from_slice(&bytes) {
            Ok(stored) => Ok(Self { folder, stored }),
            Err(source) => Err(ExperimentError::Corrupt { folder, source }),
        }
    }

    /// By its name below `runs`, or by its folder.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn find(name: &str, runs: &Path) -> Result<Self, ExperimentError> {
        let named = runs.join(name);
        let there = |path: &Path| path.join("experiment.json").exists();
        Self::open(if !there(&named) && there(Path::new(name)) { Path::new(name) } else { &named })
    }

    /// Takes the lock of the experiment, so that two schedulers never meet.
    ///
    /// # Errors
    /// When somebody else works on it.
    pub fn lock(folder: &Path) -> Result<RunLock, ExperimentError> {
        let failed =
            |source| crate::run::folder::FolderError { act: "create", path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        Ok(RunLock::take(&folder.join("lock")).map_err(RunError::from)?)
    }

    /// Writes `experiment.json`. The runs that `earlier` had and the plan has no more stay in their folders.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        folder: &Path,
        spec: ExperimentSpec,
        plan: Plan,
        place: Place,
    ) -> Result<Self, ExperimentError> {
        let stored =
            Stored { format: FORMAT, program: env!("CARGO_PKG_VERSION").to_owned(), spec, plan, place };
        let corrupt = |source| ExperimentError::Corrupt { folder: folder.to_owned(), source };
        let bytes = serde_json::to_vec_pretty(&stored).map_err(corrupt)?;
        write_whole(&folder.join("experiment.json"), &bytes)?;
        Ok(Self { folder: folder.to_owned(), stored })
    }

    /// The folder of a run.
    pub fn path(&self, run: &PlannedRun) -> PathBuf {
        self.folder.join(&run.folder)
    }

    /// How far a run has come. A report that does not read back counts as none: a resume writes it anew.
    pub fn state(&self, run: &PlannedRun) -> State {
        state_of(&self.path(run))
    }

    /// What the caps leave when runs are as far as `states` say, in the order of the plan.
    pub fn purse(&self, states: &[State]) -> Purse {
        let (plan, spec) = (&self.stored.plan, &self.stored.spec);
        let mut purse =
            Purse::new(Caps { cost: spec.cap_cost.map(Usd::from_dollars), tokens: spec.cap_tokens });
        for (place, (run, state)) in plan.runs.iter().zip(states).enumerate() {
            purse.settle(place, run, spent(&self.path(run), state));
        }
        purse
    }

    /// Steps that a run has begun, as its journal says, and who works on it or was killed at it.
    pub fn at_work(&self, run: &PlannedRun) -> (Option<u32>, Option<Holder>) {
        let Ok(run) = StoredRun::open(&self.path(run)) else { return (None, None) };
        (tally(&run).ok().map(|tally| tally.steps), holder_of(&run.folder.lock_path()))
    }

    /// What a run has spent.
    pub fn spent(&self, run: &PlannedRun) -> Spent {
        spent(&self.path(run), &self.state(run))
    }
}

fn tally(run: &StoredRun) -> Result<Tally, RunError> {
    Ok(Tally::of(run.config.limits, &run.entries_so_far()?))
}

/// Of a run without a report the journal says it: what was sent and has no answer counts at its worst case, as a resume
/// will charge it.
fn spent(folder: &Path, state: &State) -> Spent {
    if let Some(report) = state.report() {
        let usage = &report.usage;
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        return Spent { cost: usage.cost_usd.map(Usd::from_dollars), tokens: Some(tokens) };
    }
    if *state == State::Absent {
        return Spent::NOTHING;
    }
    let of_journal = |run: StoredRun| {
        let usage = tally(&run)?.usage;
        let add = |sum: Usage, intent: &Intent| match intent {
            Intent::Try { worst, .. } => sum.plus(worst),
            Intent::Act { .. } => sum,
        };
        Ok::<_, RunError>(run.open_intents()?.iter().fold(usage, add))
    };
    StoredRun::open(folder).and_then(of_journal).map_or(Spent { cost: None, tokens: None }, |usage| Spent {
        cost: usage.cost,
        tokens: Some(usage.total_tokens()),
    })
}

/// How far the run in `folder` has come.
pub fn state_of(folder: &Path) -> State {
    if !folder.join("config.json").exists() {
        return State::Absent;
    }
    let report = std::fs::read(folder.join("run.json")).ok();
    match report.and_then(|bytes| serde_json::from_slice::<RunReport>(&bytes).ok()) {
        None => State::Begun,
        Some(report) if ended(report.stopped_by) => State::Ended(Box::new(report)),
        Some(report) => State::Stopped(Box::new(report)),
    }
}

/// Whether a resume as it is would change nothing.
pub const fn ended(stop: StoppedBy) -> bool {
    !stop.resumes_as_it_is()
}
