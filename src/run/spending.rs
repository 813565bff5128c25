//! Caps on tokens and dollars that hold while many calls are in flight.
//!
//! The worst case of a try is reserved before it is sent and settled when it is known; what is reserved counts as
//! spent for everybody else. So a cap holds as far as the worst case does: it rests on an upper estimate of the
//! prompt's tokens and on the service keeping to the output limit that is sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use podium_types::key::EffectKey;
use podium_types::money::Usd;
use podium_types::usage::Usage;

use crate::run::limits::Limits;
use crate::run::stop::{Stop, StoppedBy};

/// What was spent and what is reserved.
#[derive(Clone, Debug)]
pub struct Spending(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    limits: Limits,
    spent: Usage,
    reserved: BTreeMap<(EffectKey, u32), Usage>,
    /// The run stops: no try is allowed any more, for this reason.
    refused: Option<Stop>,
    /// Billed tries of calls that have no record yet.
    unrecorded: BTreeMap<EffectKey, Usage>,
}

impl Spending {
    /// Goes on from what the journal says was spent.
    pub fn resume(limits: Limits, spent: Usage) -> Self {
        let state =
            State { limits, spent, reserved: BTreeMap::new(), refused: None, unrecorded: BTreeMap::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Starts again from what the journal says: a sitting begins.
    pub fn restart(&self, limits: Limits, spent: Usage) {
        self.with(|state| {
            state.limits = limits;
            state.spent = spent;
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the worst case of a try aside.
    ///
    /// # Errors
    /// The stop it would cause, when a cap could be exceeded.
    pub fn reserve(&self, key: &EffectKey, attempt: u32, worst: Usage) -> Result<(), Stop> {
        self.with(|state| {
            if let Some(stop) = &state.refused {
                return Err(stop.clone());
            }
            state.check(&worst)?;
            state.reserved.insert((key.clone(), attempt), worst);
            Ok(())
        })
    }

    /// Allows no further try: the run stops.
    pub fn refuse(&self, stop: Stop) {
        self.with(|state| state.refused = Some(stop));
    }

    /// The try was not billed.
    pub fn release(&self, key: &EffectKey, attempt: u32) {
        self.with(|state| state.reserved.remove(&(key.clone(), attempt)));
    }

    /// The try was billed and gave no answer of its own: `None` charges its worst case.
    pub fn bill(&self, key: &EffectKey, attempt: u32, used: Option<Usage>) {
        self.with(|state| {
            if let Some(worst) = state.reserved.remove(&(key.clone(), attempt)) {
                let usage = used.unwrap_or(worst);
                let sum = state.unrecorded.entry(key.clone()).or_insert(Usage::NOTHING);
                *sum = sum.plus(&usage);
            }
        });
    }

    /// The effect ended: nothing is reserved for it any more, and what it was billed comes back to be recorded.
    pub fn close(&self, key: &EffectKey) -> Usage {
        self.with(|state| {
            state.reserved.retain(|(reserved, _), _| reserved != key);
            let usage = state.unrecorded.remove(key).unwrap_or(Usage::NOTHING);
            state.spent = state.spent.plus(&usage);
            usage
        })
    }

    /// The call was given up: everything reserved for it is charged at its worst case. `None` when nothing was.
    pub fn abandon(&self, key: &EffectKey) -> Option<Usage> {
        self.with(|state| {
            let mut usage = state.unrecorded.remove(key);
            state.reserved.retain(|(reserved, _), worst| {
                if reserved == key {
                    usage = Some(usage.unwrap_or(Usage::NOTHING).plus(worst));
                }
                reserved != key
            });
            if let Some(usage) = &usage {
                state.spent = state.spent.plus(usage);
            }
            usage
        })
    }
}

impl State {
    fn check(&self, worst: &Usage) -> Result<(), Stop> {
        let ahead = self
            .reserved
            .values()
            .chain(self.unrecorded.values())
            .fold(self.spent, |sum, part| sum.plus(part));
        let total = ahead.plus(worst);
        if let Some(limit) = self.limits.tokens
            && total.total_tokens() > limit
        {
            let detail = format!(
                "token limit ({limit}) reached: {} used or reserved, the next call may take {}",
                ahead.total_tokens(),
                worst.total_tokens()
            );
            return Err(Stop::new(StoppedBy::Tokens, detail));
        }
        if let Some(limit) = self.limits.cost {
            let within = total.cost.is_some_and(|cost| cost <= limit);
            if !within {
                let known = |cost: Option<Usd>| {
                    cost.map_or_else(|| "an unknown sum".to_owned(), |cost| cost.to_string())
                };
                let detail = format!(
                    "dollar limit ({limit}) reached: {} spent or reserved, the next call may cost {}",
                    known(ahead.cost),
                    known(worst.cost)
                );
                return Err(Stop::new(StoppedBy::Dollars, detail));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(tokens: u64, cents: f64) -> Usage {
        Usage { input_tokens: tokens, cost: Some(Usd::from_dollars(cents / 100.0)), ..Usage::NOTHING }
    }

    #[test]
    fn a_cap_holds_with_calls_in_flight_and_cut_streams() {
        let limits = Limits {
            steps: None,
            run_ms: None,
            execution_ms: 1,
            tokens: None,
            cost: Some(Usd::from_dollars(0.10)),
        };
        let spending = Spending::resume(limits, Usage::NOTHING);
        let (a, b) = (EffectKey::node(0, "draft", 0), EffectKey::node(1, "draft", 0));
        spending.reserve(&a, 1, usage(10, 6.0)).unwrap();
        assert_eq!(spending.reserve(&b, 1, usage(10, 6.0)).unwrap_err().by, StoppedBy::Dollars);
        spending.bill(&a, 1, None);
        spending.reserve(&a, 2, usage(10, 4.0)).unwrap();
        spending.bill(&a, 2, Some(usage(5, 1.0)));
        assert_eq!(spending.close(&a), usage(15, 7.0));
        spending.reserve(&b, 1, usage(10, 3.0)).unwrap();
        assert_eq!(spending.abandon(&b), Some(usage(10, 3.0)));
        assert_eq!(spending.abandon(&b), None);
    }
}
