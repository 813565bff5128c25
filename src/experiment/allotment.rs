//! A cap dealt out over processes that know nothing of each other: each run's own limit is its allotment, and no more
//! runs are handed out at a time than the cap can pay at their worst. What they did not use is dealt out again when
//! they have ended.

use crate::experiment::plan::{Needs, PlannedRun};
use crate::experiment::queue::{Next, Queue, Room};
use crate::experiment::stored::{Experiment, State};

/// The runs that other machines may begin or go on with now.
#[derive(Clone, Debug, PartialEq)]
pub struct Allotments<'a> {
    /// In the order of the plan.
    pub runs: Vec<&'a PlannedRun>,
    /// How many are left that the cap cannot pay before these have ended.
    pub kept_back: usize,
}

impl Experiment {
    /// Deals out what the caps leave. Runs that have begun come first, wherever they go on.
    pub fn allotments(&self) -> Allotments<'_> {
        let runs = &self.stored.plan.runs;
        let states: Vec<State> = runs.iter().map(|run| self.state(run)).collect();
        let left = || states.iter().enumerate().filter(|(_, state)| !state.is_ended());
        let waiting: Vec<usize> = left().map(|(place, _)| place).collect();
        let begun = left().filter(|(_, state)| **state != State::Absent).map(|(place, _)| place);
        let everything = Needs { cpus: usize::MAX, memory_bytes: u64::MAX, gpus: usize::MAX };
        let room = Room { machine: everything, runs: usize::MAX };
        let mut queue = Queue::new(runs, &waiting, room, self.purse(&states)).with_begun(begun);
        let mut dealt = Vec::new();
        while let Next::Run(place) = queue.take_next() {
            dealt.push(place);
        }
        dealt.sort_unstable();
        Allotments {
            runs: dealt.into_iter().filter_map(|place| runs.get(place)).collect(),
            kept_back: queue.waiting(),
        }
    }
}
