//! The budget as a pure function of the journal: what the records so far say was used, and the limits in force.

use podium_scaffold::{Budget, Effect};
use podium_types::usage::Usage;

use crate::run::journal::{Entry, Record, Stamp};
use crate::run::limits::Limits;

/// A running sum over journal entries.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Steps granted.
    pub steps: u32,
    /// The clocks at the entry seen last.
    pub stamp: Stamp,
    /// Tokens and dollars.
    pub usage: Usage,
    /// Model calls with an answer.
    pub calls: u32,
    /// Limits in force.
    pub limits: Limits,
}

impl Tally {
    /// Nothing used yet.
    pub const fn new(limits: Limits) -> Self {
        Self { steps: 0, stamp: Stamp { run_ms: 0, waiting_ms: 0 }, usage: Usage::NOTHING, calls: 0, limits }
    }

    /// The sum over a whole journal.
    pub fn of(limits: Limits, entries: &[Entry]) -> Self {
        let mut tally = Self::new(limits);
        for entry in entries {
            tally.apply(entry);
        }
        tally
    }

    /// Takes one entry in.
    pub fn apply(&mut self, entry: &Entry) {
        self.stamp = entry.stamp;
        match &entry.record {
            Record::Limits(limits) => self.limits = *limits,
            Record::Result { effect, usage, .. } => {
                self.usage = self.usage.plus(usage);
                match **effect {
                    Effect::BeginStep => self.steps += 1,
                    Effect::Chat { .. } => self.calls += 1,
                    _ => {}
                }
            }
            Record::Charge { usage, .. } => self.usage = self.usage.plus(usage),
            Record::Started { .. }
            | Record::Downgrade { .. }
            | Record::SessionEnded { .. }
            | Record::Stopped(_) => {}
        }
    }

    /// What a strategy is told.
    pub const fn budget(&self) -> Budget {
        Budget {
            steps: self.steps,
            step_limit: self.limits.steps,
            run_ms: self.stamp.run_ms,
            run_limit_ms: self.limits.run_ms,
            waiting_ms: self.stamp.waiting_ms,
            execution_limit_ms: self.limits.execution_ms,
            tokens: self.usage.total_tokens(),
            token_limit: self.limits.tokens,
            cost: self.usage.cost,
            cost_limit: self.limits.cost,
        }
    }
}
