//! Which run comes next: of those that fit, one of the arm that has been given least so far, then of the competition,
//! then in the order of the plan. So what is there at any time compares all arms as well as it can. What has begun
//! goes first.

use std::collections::{BTreeMap, BTreeSet};

use crate::experiment::plan::{Needs, PlannedRun};
use crate::experiment::purse::{Purse, Spent};
use crate::experiment::spec::Arm;

/// Passed over so often, a run is waited for: smaller ones would keep it out for ever.
const PATIENCE: u32 = 32;

/// What may be held at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Of the machine.
    pub machine: Needs,
    /// Runs.
    pub runs: usize,
}

/// What the queue says.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// This run, by its place in the plan.
    Run(usize),
    /// Nothing before a run ends.
    Wait,
    /// The cap leaves room for none of what is left.
    Capped,
    /// Nothing is left.
    Empty,
}

/// Runs that wait, and what those that go on hold.
#[derive(Debug)]
pub struct Queue {
    runs: Vec<PlannedRun>,
    waiting: BTreeMap<usize, u32>,
    begun: BTreeSet<usize>,
    held: BTreeMap<usize, Needs>,
    arms: BTreeMap<Arm, u32>,
    competitions: BTreeMap<String, u32>,
    room: Room,
    purse: Purse,
}

impl Queue {
    /// Of `runs`, those in `waiting` by their places; the others count as done. `purse` knows what all have spent.
    pub fn new(runs: &[PlannedRun], waiting: &[usize], room: Room, purse: Purse) -> Self {
        let mut queue = Self {
            runs: runs.to_vec(),
            waiting: waiting.iter().map(|place| (*place, 0)).collect(),
            begun: BTreeSet::new(),
            held: BTreeMap::new(),
            arms: BTreeMap::new(),
            competitions: BTreeMap::new(),
            room,
            purse,
        };
        for place in 0..runs.len() {
            if !queue.waiting.contains_key(&place) {
                queue.count(place);
            }
        }
        queue
    }

    /// These have begun in an earlier sitting: they are ended before others begin.
    #[must_use]
    pub fn with_begun(mut self, places: impl IntoIterator<Item = usize>) -> Self {
        self.begun.extend(places);
        self
    }

    fn count(&mut self, place: usize) {
        if let Some(run) = self.runs.get(place) {
            *self.arms.entry(run.arm.clone()).or_insert(0) += 1;
            *self.competitions.entry(run.competition.clone()).or_insert(0) += 1;
        }
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The next run; it holds what it needs from now on.
    pub fn take_next(&mut self) -> Next {
        if self.waiting.is_empty() {
            return Next::Empty;
        }
        let mut order: Vec<usize> = self.waiting.keys().copied().collect();
        let given = |map: Option<&u32>| map.copied().unwrap_or(0);
        order.sort_by_key(|place| {
            let run = self.runs.get(*place);
            let arm = given(run.and_then(|run| self.arms.get(&run.arm)));
            let competition = given(run.and_then(|run| self.competitions.get(&run.competition)));
            (!self.begun.contains(place), arm, competition, *place)
        });
        let payable: Vec<usize> = order.into_iter().filter(|place| self.pays(*place)).collect();
        if payable.is_empty() {
            return if self.held.is_empty() { Next::Capped } else { Next::Wait };
        }
        for place in payable {
            if self.fits(place) {
                let passed: Vec<usize> =
                    self.waiting.keys().copied().filter(|other| *other < place).collect();
                for other in passed {
                    *self.waiting.entry(other).or_insert(0) += 1;
                }
                self.take(place);
                return Next::Run(place);
            }
            if self.waiting.get(&place).is_some_and(|passed| *passed > PATIENCE) {
                break;
            }
        }
        Next::Wait
    }

    fn take(&mut self, place: usize) {
        self.waiting.remove(&place);
        self.count(place);
        let Some(run) = self.runs.get(place) else { return };
        self.held.insert(place, run.needs);
        self.purse.reserve(place, run);
    }

    /// A run has ended, or its try has: what it held is free, and of its worst case what it did not use.
    pub fn give_back(&mut self, place: usize, spent: Spent) {
        self.held.remove(&place);
        if let Some(run) = self.runs.get(place) {
            self.purse.settle(place, run, spent);
        }
    }

    /// The run waits again.
    pub fn put_back(&mut self, place: usize) {
        self.waiting.insert(place, 0);
        self.begun.insert(place);
    }

    fn pays(&self, place: usize) -> bool {
        self.runs.get(place).is_some_and(|run| self.purse.pays(place, run))
    }

    /// A run that asks for more than there is fits alone: the sandbox cuts its grants.
    fn fits(&self, place: usize) -> bool {
        let Some(run) = self.runs.get(place) else { return false };
        if self.held.is_empty() {
            return true;
        }
        let (needs, all) = (run.needs, self.room.machine);
        let held = |of: fn(&Needs) -> u64| self.held.values().map(of).fold(0, u64::saturating_add);
        self.held.len() < self.room.runs
            && held(|n| n.cpus as u64).saturating_add(needs.cpus as u64) <= all.cpus as u64
            && held(|n| n.memory_bytes).saturating_add(needs.memory_bytes) <= all.memory_bytes
            && held(|n| n.gpus as u64).saturating_add(needs.gpus as u64) <= all.gpus as u64
    }
}

#[cfg(test)]
mod tests {
    use podium_types::money::Usd;

    use super::*;
    use crate::experiment::purse::Caps;

    fn run(scaffold: &str, competition: &str, cpus: usize) -> PlannedRun {
        PlannedRun {
            needs: Needs { cpus, memory_bytes: 1, gpus: 0 },
            worst_cost: Some(Usd::from_dollars(1.0)),
            ..PlannedRun::of(Arm::from([("scaffold".to_owned(), scaffold.to_owned())]), competition, 1)
        }
    }

    fn room(cpus: usize) -> Room {
        Room { machine: Needs { cpus, memory_bytes: 100, gpus: 0 }, runs: 100 }
    }

    #[test]
    fn arms_and_competitions_take_turns_and_nothing_is_overcommitted() {
        let runs = [run("a", "x", 1), run("a", "y", 1), run("b", "x", 1), run("b", "y", 1), run("c", "z", 3)];
        let mut queue = Queue::new(&runs, &[0, 1, 2, 3, 4], room(2), Purse::default());
        assert_eq!(
            [queue.take_next(), queue.take_next(), queue.take_next()],
            [Next::Run(0), Next::Run(3), Next::Wait]
        );
        queue.give_back(0, Spent::NOTHING);
        queue.give_back(3, Spent::NOTHING);
        assert_eq!(queue.take_next(), Next::Run(4), "what asks for more than there is goes alone");
        assert_eq!(queue.take_next(), Next::Wait);
        queue.give_back(4, Spent::NOTHING);
        assert_eq!(
            [queue.take_next(), queue.take_next(), queue.take_next()],
            [Next::Run(1), Next::Run(2), Next::Empty]
        );
    }

    #[test]
    fn a_cap_reserves_the_worst_case_and_stops_what_it_cannot_pay() {
        let runs = [run("a", "x", 1), run("a", "y", 1), run("a", "z", 1)];
        let spent = |dollars: f64| Spent { cost: Some(Usd::from_dollars(dollars)), tokens: None };
        let caps = Caps { cost: Some(Usd::from_dollars(1.5)), tokens: None };
        let mut queue = Queue::new(&runs, &[0, 1, 2], room(9), Purse::new(caps));
        assert_eq!([queue.take_next(), queue.take_next()], [Next::Run(0), Next::Wait]);
        queue.give_back(0, spent(0.25));
        assert_eq!(queue.take_next(), Next::Run(1));
        queue.give_back(1, spent(0.5));
        assert_eq!(queue.take_next(), Next::Capped);
    }

    #[test]
    fn what_has_begun_is_ended_first_and_is_paid_from_what_it_has_spent() {
        let runs = [run("a", "x", 1), run("a", "y", 1), run("b", "z", 1)];
        let caps = Caps { cost: Some(Usd::from_dollars(1.0)), tokens: None };
        let mut purse = Purse::new(caps);
        purse.settle(2, &runs[2], Spent { cost: Some(Usd::from_dollars(0.75)), tokens: None });
        let mut queue = Queue::new(&runs, &[0, 1, 2], room(9), purse).with_begun([2]);
        assert_eq!([queue.take_next(), queue.take_next()], [Next::Run(2), Next::Wait]);
        queue.give_back(2, Spent { cost: Some(Usd::from_dollars(0.75)), tokens: None });
        assert_eq!(queue.take_next(), Next::Capped);
    }
}
