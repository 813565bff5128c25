//! Which run comes next: of those that fit, one of the arm that has been given least so far, then of the competition,
//! then in the order of the plan. So what is there at any time compares all arms as well as it can.

use std::collections::BTreeMap;

use podium_types::money::Usd;

use crate::experiment::plan::{Needs, PlannedRun};
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

/// What may be spent from now on, by runs that are not settled yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purse {
    /// Dollars; none: no cap.
    pub cost: Option<Usd>,
    /// Tokens; none: no cap.
    pub tokens: Option<u64>,
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
    held: BTreeMap<usize, Needs>,
    arms: BTreeMap<Arm, u32>,
    competitions: BTreeMap<String, u32>,
    room: Room,
    /// What is left of the caps when all that go on take their worst.
    purse: Purse,
}

impl Queue {
    /// Of `runs`, those in `waiting` by their places; the others count as done.
    pub fn new(runs: &[PlannedRun], waiting: &[usize], room: Room, purse: Purse) -> Self {
        let mut queue = Self {
            runs: runs.to_vec(),
            waiting: waiting.iter().map(|place| (*place, 0)).collect(),
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
            (arm, given(run.and_then(|run| self.competitions.get(&run.competition))), *place)
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
        self.purse.cost = self.purse.cost.map(|left| left - run.worst_cost.unwrap_or_default());
        self.purse.tokens = self.purse.tokens.map(|left| left.saturating_sub(run.worst_tokens.unwrap_or(0)));
    }

    /// A run has ended, or its try has: what it held is free, and of its worst case what it did not use.
    pub fn give_back(&mut self, place: usize, cost: Option<Usd>, tokens: u64) {
        self.held.remove(&place);
        let Some(run) = self.runs.get(place) else { return };
        let unused = run.worst_cost.unwrap_or_default() - cost.or(run.worst_cost).unwrap_or_default();
        self.purse.cost = self.purse.cost.map(|left| left + unused);
        let unused = run.worst_tokens.unwrap_or(0).saturating_sub(tokens);
        self.purse.tokens = self.purse.tokens.map(|left| left.saturating_add(unused));
    }

    /// The run waits again.
    pub fn put_back(&mut self, place: usize) {
        self.waiting.insert(place, 0);
    }

    /// What a run has spent before counts again when it goes on: its worst case covers all of it.
    pub fn forget_spent(&mut self, cost: Option<Usd>, tokens: u64) {
        self.purse.cost = self.purse.cost.map(|left| left + cost.unwrap_or_default());
        self.purse.tokens = self.purse.tokens.map(|left| left.saturating_add(tokens));
    }

    fn pays(&self, place: usize) -> bool {
        let Some(run) = self.runs.get(place) else { return false };
        let cost = self.purse.cost.is_none_or(|left| run.worst_cost.is_some_and(|worst| worst <= left));
        cost && self.purse.tokens.is_none_or(|left| run.worst_tokens.is_some_and(|worst| worst <= left))
    }

    /// A run that asks for more than there is fits alone: the sandbox cuts its grants.
    fn fits(&self, place: usize) -> bool {
        let Some(run) = self.runs.get(place) else { return false };
        if self.held.is_empty() {
            return true;
        }
        let (needs, all) = (run.needs, self.room.machine);
        let held = |of: fn(&Needs) -> u64| self.held.values().map(of).sum::<u64>();
        self.held.len() < self.room.runs
            && held(|n| n.cpus as u64).saturating_add(needs.cpus as u64) <= all.cpus as u64
            && held(|n| n.memory_bytes).saturating_add(needs.memory_bytes) <= all.memory_bytes
            && held(|n| n.gpus as u64).saturating_add(needs.gpus as u64) <= all.gpus as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(scaffold: &str, competition: &str, cpus: usize) -> PlannedRun {
        PlannedRun {
            folder: String::new(),
            identity: String::new(),
            arm: Arm::from([("scaffold".to_owned(), scaffold.to_owned())]),
            competition: competition.to_owned(),
            seed: 1,
            needs: Needs { cpus, memory_bytes: 1, gpus: 0 },
            worst_cost: Some(Usd::from_dollars(1.0)),
            worst_tokens: None,
            worst_ms: None,
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
        queue.give_back(0, None, 0);
        queue.give_back(3, None, 0);
        assert_eq!(queue.take_next(), Next::Run(4), "what asks for more than there is goes alone");
        assert_eq!(queue.take_next(), Next::Wait);
        queue.give_back(4, None, 0);
        assert_eq!(
            [queue.take_next(), queue.take_next(), queue.take_next()],
            [Next::Run(1), Next::Run(2), Next::Empty]
        );
    }

    #[test]
    fn a_cap_reserves_the_worst_case_and_stops_what_it_cannot_pay() {
        let runs = [run("a", "x", 1), run("a", "y", 1), run("a", "z", 1)];
        let purse = Purse { cost: Some(Usd::from_dollars(1.5)), tokens: None };
        let mut queue = Queue::new(&runs, &[0, 1, 2], room(9), purse);
        assert_eq!([queue.take_next(), queue.take_next()], [Next::Run(0), Next::Wait]);
        queue.give_back(0, Some(Usd::from_dollars(0.25)), 0);
        assert_eq!(queue.take_next(), Next::Run(1));
        queue.give_back(1, Some(Usd::from_dollars(0.5)), 0);
        assert_eq!(queue.take_next(), Next::Capped);
    }
}
