//! A cap dealt out over processes that know nothing of each other: each run's own limit is its allotment, and no more
//! runs are handed out at a time than the cap can pay at their worst. What they did not use is dealt out again when
//! they have ended. What is dealt is noted in `dealt.json`: a second deal hands nothing out twice.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::experiment::error::ExperimentError;
use crate::experiment::plan::{Needs, PlannedRun};
use crate::experiment::queue::{Next, Queue, Room};
use crate::experiment::stored::{Experiment, State};
use crate::run::folder::write_whole;

/// Name of the note, in the experiment's folder.
const NOTE: &str = "dealt.json";
/// Version of the note.
const FORMAT: u32 = 1;

/// The runs that other machines may begin or go on with now.
#[derive(Clone, Debug, PartialEq)]
pub struct Allotments<'a> {
    /// In the order of the plan.
    pub runs: Vec<&'a PlannedRun>,
    /// How many are left that the cap cannot pay before these have ended.
    pub kept_back: usize,
    /// How many were dealt before and have no report yet: their allotments stand.
    pub out: usize,
}

/// Which runs were dealt, by their identities, under which caps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Note {
    format: u32,
    runs: BTreeSet<String>,
}

impl Experiment {
    /// Deals out what the caps leave. Runs that have begun come first, wherever they go on. Under a cap, a run that was
    /// dealt before and has no report yet keeps its allotment and is not dealt again, unless `again`.
    pub fn allotments(&self, again: bool) -> Allotments<'_> {
        let runs = &self.stored.plan.runs;
        let states: Vec<State> = runs.iter().map(|run| self.state(run)).collect();
        let capped = self.stored.spec.cap_cost.is_some() || self.stored.spec.cap_tokens.is_some();
        let noted = if capped && !again { self.dealt() } else { BTreeSet::new() };
        let is_out = |place: usize, state: &State| {
            state.report().is_none() && runs.get(place).is_some_and(|run| noted.contains(&run.identity))
        };
        let left = || {
            let open = states.iter().enumerate().filter(|(_, state)| !state.is_ended());
            open.filter(|(place, state)| !is_out(*place, state))
        };
        let mut purse = self.purse(&states);
        let mut out = 0;
        for (place, (run, state)) in runs.iter().zip(&states).enumerate() {
            if is_out(place, state) {
                purse.reserve(place, run);
                out += 1;
            }
        }
        let waiting: Vec<usize> = left().map(|(place, _)| place).collect();
        let begun = left().filter(|(_, state)| **state != State::Absent).map(|(place, _)| place);
        let everything = Needs { cpus: usize::MAX, memory_bytes: u64::MAX, gpus: usize::MAX };
        let room = Room { machine: everything, runs: usize::MAX };
        let mut queue = Queue::new(runs, &waiting, room, purse).with_begun(begun);
        let mut dealt = Vec::new();
        while let Next::Run(place) = queue.take_next() {
            dealt.push(place);
        }
        dealt.sort_unstable();
        Allotments {
            runs: dealt.into_iter().filter_map(|place| runs.get(place)).collect(),
            kept_back: queue.waiting(),
            out,
        }
    }

    /// The identities of what was dealt. A note that does not read is none: runs are dealt again then, and the lock of
    /// each keeps two from meeting.
    fn dealt(&self) -> BTreeSet<String> {
        let bytes = std::fs::read(self.folder.join(NOTE)).ok();
        let note = bytes.and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok());
        note.filter(|note| note.format == FORMAT).map(|note| note.runs).unwrap_or_default()
    }

    /// Notes what is handed out.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_dealt(&self, dealt: &Allotments<'_>) -> Result<(), ExperimentError> {
        let mut runs = self.dealt();
        runs.extend(dealt.runs.iter().map(|run| run.identity.clone()));
        let corrupt = |source| ExperimentError::Corrupt { folder: self.folder.clone(), source };
        let bytes = serde_json::to_vec_pretty(&Note { format: FORMAT, runs }).map_err(corrupt)?;
        Ok(write_whole(&self.folder.join(NOTE), &bytes)?)
    }
}
