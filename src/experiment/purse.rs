//! What the caps of an experiment leave. A run is reserved at its worst case before it begins, so that no cap can be
//! passed; what it did not use comes back at its end.
//!
//! `left = cap − what runs that stand still have spent − the worst case of those that go on`, at any time. A run that
//! was killed has spent what its journal says, and needs only the rest of its worst case to go on. So a cap holds over
//! any number of kills. Must not know: which run comes next, what a run does.

use std::collections::BTreeMap;

use podium_types::money::Usd;

use crate::experiment::plan::PlannedRun;

/// What a run has used so far. `None`: unknown, its worst case stands for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Dollars.
    pub cost: Option<Usd>,
    /// Tokens.
    pub tokens: Option<u64>,
}

impl Spent {
    /// Nothing, of a run that has not begun.
    pub const NOTHING: Self = Self { cost: Some(Usd::ZERO), tokens: Some(0) };
}

/// Dollars and tokens that may be spent together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Dollars; none: no cap.
    pub cost: Option<Usd>,
    /// Tokens; none: no cap.
    pub tokens: Option<u64>,
}

/// What is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purse {
    cost: Option<Usd>,
    tokens: Option<i128>,
    spent: BTreeMap<usize, Amount>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount {
    cost: Usd,
    tokens: i128,
}

impl Purse {
    /// Of these caps, before anything was spent.
    pub fn new(caps: Caps) -> Self {
        Self { cost: caps.cost, tokens: caps.tokens.map(i128::from), spent: BTreeMap::new() }
    }

    fn add(&mut self, amount: Amount) {
        self.cost = self.cost.map(|left| left + amount.cost);
        self.tokens = self.tokens.map(|left| left + amount.tokens);
    }

    fn take(&mut self, amount: Amount) {
        self.cost = self.cost.map(|left| left - amount.cost);
        self.tokens = self.tokens.map(|left| left - amount.tokens);
    }

    /// What a run has spent that stands still: before this sitting, or in a try that has ended.
    pub fn settle(&mut self, place: usize, run: &PlannedRun, spent: Spent) {
        let worst = worst(run);
        let amount = Amount {
            cost: spent.cost.unwrap_or(worst.cost),
            tokens: spent.tokens.map_or(worst.tokens, i128::from),
        };
        let before = self.spent.insert(place, amount).unwrap_or_default();
        self.add(before);
        self.take(amount);
    }

    /// The rest of a run's worst case.
    fn need(&self, place: usize, run: &PlannedRun) -> Amount {
        let (worst, spent) = (worst(run), self.spent.get(&place).copied().unwrap_or_default());
        Amount {
            cost: (worst.cost - spent.cost).max(Usd::ZERO),
            tokens: (worst.tokens - spent.tokens).max(0),
        }
    }

    /// Whether a run could go on to its limits.
    pub fn pays(&self, place: usize, run: &PlannedRun) -> bool {
        let need = self.need(place, run);
        // What needs nothing is paid from an empty purse too.
        let cost = self.cost.is_none_or(|left| run.worst_cost.is_some() && need.cost <= left.max(Usd::ZERO));
        cost && self.tokens.is_none_or(|left| run.worst_tokens.is_some() && need.tokens <= left.max(0))
    }

    /// The run begins or goes on: its worst case is reserved until it is settled.
    pub fn reserve(&mut self, place: usize, run: &PlannedRun) {
        let need = self.need(place, run);
        self.take(need);
        let spent = self.spent.entry(place).or_default();
        spent.cost += need.cost;
        spent.tokens += need.tokens;
    }
}

fn worst(run: &PlannedRun) -> Amount {
    Amount {
        cost: run.worst_cost.unwrap_or_default(),
        tokens: i128::from(run.worst_tokens.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::spec::Arm;

    fn run() -> PlannedRun {
        PlannedRun {
            worst_cost: Some(Usd::from_dollars(1.0)),
            worst_tokens: Some(100),
            ..PlannedRun::of(Arm::new(), "x", 1)
        }
    }

    #[test]
    fn a_killed_run_needs_the_rest_of_its_worst_case() {
        let caps = Caps { cost: Some(Usd::from_dollars(1.5)), tokens: Some(1000) };
        let (mut purse, run) = (Purse::new(caps), run());
        let spent = |cost: f64, tokens| Spent { cost: Some(Usd::from_dollars(cost)), tokens: Some(tokens) };
        purse.settle(0, &run, spent(0.75, 70));
        assert!(!purse.pays(1, &run), "0.75 are left");
        assert!(purse.pays(0, &run), "and it needs 0.25");
        purse.reserve(0, &run);
        assert_eq!((purse.cost, purse.tokens), (Some(Usd::from_dollars(0.5)), Some(900)));
        // Its end is told: what it did not use comes back, and it can be told twice.
        for _ in 0..2 {
            purse.settle(0, &run, spent(0.5, 80));
            assert_eq!((purse.cost, purse.tokens), (Some(Usd::from_dollars(1.0)), Some(920)));
        }
        assert!(purse.pays(1, &run));
        purse.settle(1, &run, Spent { cost: None, tokens: None });
        assert_eq!((purse.cost, purse.tokens), (Some(Usd::ZERO), Some(820)), "unknown is the worst case");
        let unbounded = PlannedRun { worst_cost: None, ..run };
        assert!(!purse.pays(2, &unbounded) && Purse::new(Caps::default()).pays(2, &unbounded));
        // More than its limit: a service that counted otherwise than we did.
        purse.settle(3, &unbounded, spent(2.0, 900));
        assert_eq!(purse.tokens, Some(-80), "nothing wraps around");
    }
}
