//! The two clocks of a run: run time, and time in which everything in flight waited for a model service.
//!
//! The time limit counts run time only. A back-off, or a try that failed, is waiting; a model that is generating is
//! run time. When one worker waits and another computes, run time passes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::run::journal::Stamp;

/// The clocks of one sitting, continued from a stamp.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    run: Duration,
    waiting: Duration,
    since: Instant,
    in_flight: usize,
    waiters: usize,
}

impl State {
    fn advance(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if self.waiters > 0 && self.waiters >= self.in_flight {
            self.waiting += passed;
        } else {
            self.run += passed;
        }
        self.since = now;
    }
}

impl Clock {
    /// Goes on from `stamp`.
    pub fn resume(stamp: Stamp) -> Self {
        Self(Arc::new(Mutex::new(State {
            run: Duration::from_millis(stamp.run_ms),
            waiting: Duration::from_millis(stamp.waiting_ms),
            since: Instant::now(),
            in_flight: 0,
            waiters: 0,
        })))
    }

    fn change<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.advance(Instant::now());
        act(&mut state)
    }

    /// The clocks now.
    pub fn stamp(&self) -> Stamp {
        self.change(|state| Stamp {
            run_ms: u64::try_from(state.run.as_millis()).unwrap_or(u64::MAX),
            waiting_ms: u64::try_from(state.waiting.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// An effect is in flight until the guard is dropped.
    pub fn in_flight(&self) -> InFlight {
        self.change(|state| state.in_flight += 1);
        InFlight { clock: self.clone(), waiting: false }
    }
}

/// An effect in flight, which may say that it waits for a model service.
#[derive(Debug)]
pub struct InFlight {
    clock: Clock,
    waiting: bool,
}

impl InFlight {
    /// It waits for a service, or no longer does.
    pub fn set_waiting(&mut self, waiting: bool) {
        if waiting != self.waiting {
            self.waiting = waiting;
            self.clock.change(|state| if waiting { state.waiters += 1 } else { state.waiters -= 1 });
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.set_waiting(false);
        self.clock.change(|state| state.in_flight -= 1);
    }
}
