//! Which question of an agent is answered by which call: by the hash of the request and its occurrence since the agent
//! began. So an agent that was started again and asks what it asked before gets the same answers, and nothing is paid
//! for twice.

use std::collections::BTreeMap;

/// Calls by the requests that they were made for.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The calls of each request, by its hash, in the order in which it was asked.
    calls: BTreeMap<String, Vec<u32>>,
    /// How often each was asked since the agent began.
    asked: BTreeMap<String, usize>,
    /// Calls that have a number.
    next: u32,
    begun: u32,
    /// Calls that were there when the agent began, and how many of them it has asked for.
    earlier: u32,
    served: u32,
    fresh: u32,
}

/// What is to be done with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It was asked before: the call of this step answers it.
    Earlier(u32),
    /// It is new: the call of this step is to be made.
    New(u32),
}

impl Ledger {
    /// The agent begins. Returns whether it had begun before.
    pub(super) fn begin(&mut self) -> bool {
        self.asked.clear();
        (self.earlier, self.served, self.fresh) = (self.next, 0, 0);
        self.begun = self.begun.saturating_add(1);
        self.begun > 1
    }

    /// The step of the next new call.
    pub(super) const fn next(&self) -> u32 {
        self.next
    }

    /// Whether a question would be a new call.
    pub(super) fn is_new(&self, hash: &str) -> bool {
        let place = self.asked.get(hash).copied().unwrap_or_default();
        self.calls.get(hash).is_none_or(|calls| calls.len() <= place)
    }

    /// Takes a question in.
    pub(super) fn ask(&mut self, hash: &str) -> Found {
        let calls = self.calls.entry(hash.to_owned()).or_default();
        let occurrence = self.asked.entry(hash.to_owned()).or_default();
        let place = *occurrence;
        *occurrence = place.saturating_add(1);
        if let Some(step) = calls.get(place) {
            self.served = self.served.saturating_add(u32::from(*step < self.earlier));
            return Found::Earlier(*step);
        }
        let step = self.next;
        calls.push(step);
        self.next = self.next.saturating_add(1);
        self.fresh = self.fresh.saturating_add(1);
        Found::New(step)
    }

    /// Whether this is the first new call since the agent began again.
    pub(super) const fn is_first_new(&self) -> bool {
        self.begun > 1 && self.fresh == 1
    }

    /// Calls from before that the agent has not asked for again, of how many.
    pub(super) const fn unserved(&self) -> (u32, u32) {
        (self.earlier.saturating_sub(self.served), self.earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_questions_get_the_same_calls_in_their_order() {
        let mut ledger = Ledger::default();
        assert!(!ledger.begin());
        let first = ["a", "b", "a", "a", "c"].map(|hash| ledger.ask(hash));
        assert_eq!(first, [0, 1, 2, 3, 4].map(Found::New));
        assert!(ledger.begin());
        // In another order, and one of them not at all: each occurrence has its own.
        let again = ["b", "a", "a", "c"].map(|hash| ledger.ask(hash));
        assert_eq!(again, [1, 0, 2, 4].map(Found::Earlier));
        assert_eq!((ledger.unserved(), ledger.is_first_new()), ((1, 5), false));
        assert_eq!((ledger.ask("d"), ledger.is_first_new()), (Found::New(5), true));
        assert_eq!((ledger.ask("b"), ledger.is_first_new()), (Found::New(6), false));
        assert!(ledger.begin());
        assert_eq!(["b", "b", "a"].map(|hash| ledger.ask(hash)), [1, 6, 0].map(Found::Earlier));
        assert_eq!(ledger.unserved(), (4, 7));
        assert!(ledger.is_new("e") && ledger.is_new("b") && !ledger.is_new("a"));
    }
}
