//! How far a run that goes on has come, made from its event stream: for whoever shows it.

use std::collections::BTreeMap;

use podium_scaffold::Effect;
use podium_types::key::EffectKey;
use podium_types::money::Usd;

use crate::run::events::RunEvent;
use crate::run::journal::Record;
use crate::run::limits::Limits;
use crate::run::tally::Tally;

/// How far it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Steps begun.
    pub steps: u32,
    /// Their limit.
    pub step_limit: Option<u32>,
    /// Tokens used.
    pub tokens: u64,
    /// Dollars spent; none: unknown.
    pub cost: Option<Usd>,
    /// Whom it waits for, and why.
    pub waiting: Option<String>,
}

/// Follows one run.
#[derive(Debug)]
pub struct Follower {
    tally: Tally,
    waiting: BTreeMap<EffectKey, String>,
}

impl Follower {
    /// Of a run with these limits.
    pub const fn new(limits: Limits) -> Self {
        Self { tally: Tally::new(limits), waiting: BTreeMap::new() }
    }

    /// Takes an event in; where there is something new to show, how the run stands.
    pub fn see(&mut self, event: &RunEvent) -> Option<Standing> {
        match event {
            RunEvent::Entry { entry, .. } => {
                self.tally.apply(entry);
                let Record::Result { effect, .. } = &entry.record else { return None };
                matches!(**effect, Effect::BeginStep | Effect::Chat { .. }).then(|| self.standing())
            }
            RunEvent::Waiting { key, why, .. } => {
                self.waiting.insert(key.clone(), why.clone());
                Some(self.standing())
            }
            RunEvent::WaitingOver { key } => {
                self.waiting.remove(key);
                Some(self.standing())
            }
            RunEvent::Begun { .. } | RunEvent::Draining { .. } | RunEvent::Reported { .. } => None,
        }
    }

    fn standing(&self) -> Standing {
        Standing {
            steps: self.tally.steps,
            step_limit: self.tally.limits.steps,
            tokens: self.tally.usage.total_tokens(),
            cost: self.tally.usage.cost,
            waiting: self.waiting.values().next().cloned(),
        }
    }
}
