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
    /// Run time as told last; it never runs back behind that.
    told: Duration,
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
            told: Duration::from_millis(stamp.run_ms),
        })))
    }

    /// Time passes from now on: what was before, a replay of any length, counts in neither clock.
    pub fn begin(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).since = Instant::now();
    }

    fn change<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.advance(Instant::now());
        act(&mut state)
    }

    /// The clocks now.
    pub fn stamp(&self) -> Stamp {
        self.change(|state| {
            state.told = state.run;
            Stamp {
                run_ms: u64::try_from(state.run.as_millis()).unwrap_or(u64::MAX),
                waiting_ms: u64::try_from(state.waiting.as_millis()).unwrap_or(u64::MAX),
            }
        })
    }

    /// An effect is in flight until the guard is dropped.
    pub fn in_flight(&self) -> InFlight {
        self.change(|state| state.in_flight += 1);
        InFlight { clock: self.clone(), since: None, waited: Duration::ZERO }
    }
}

/// An effect in flight, which may say that it waits for a model service.
#[derive(Debug)]
pub struct InFlight {
    clock: Clock,
    since: Option<Instant>,
    waited: Duration,
}

impl InFlight {
    /// It waits for a service, or no longer does.
    pub fn set_waiting(&mut self, waiting: bool) {
        match (waiting, self.since) {
            (true, None) => {
                self.since = Some(Instant::now());
                self.clock.change(|state| state.waiters += 1);
            }
            (false, Some(since)) => {
                self.since = None;
                self.waited += since.elapsed();
                self.clock.change(|state| state.waiters -= 1);
            }
            _ => {}
        }
    }

    /// A try of this length failed: it was waiting after all. Where nothing else was in flight, that time moves from
    /// run time to waiting; beside other work it was run time anyway.
    pub fn try_failed(&mut self, elapsed: Duration) {
        self.waited += elapsed;
        self.clock.change(|state| {
            if state.in_flight == 1 {
                let moved = elapsed.min(state.run.saturating_sub(state.told));
                state.run -= moved;
                state.waiting += moved;
            }
        });
    }

    /// How long it has waited for a service.
    pub const fn waited(&self) -> Duration {
        self.waited
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.set_waiting(false);
        self.clock.change(|state| state.in_flight -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_try_moves_to_waiting_and_the_clock_told_never_runs_back() {
        let clock = Clock::resume(Stamp { run_ms: 1000, waiting_ms: 0 });
        let mut call = clock.in_flight();
        let told = clock.stamp().run_ms;
        call.try_failed(Duration::from_hours(1));
        assert!(clock.stamp().run_ms >= told);
        assert_eq!(call.waited(), Duration::from_hours(1));
        let clock = Clock::resume(Stamp::default());
        clock.change(|state| state.run = Duration::from_secs(5));
        let mut call = clock.in_flight();
        call.try_failed(Duration::from_secs(3));
        let stamp = clock.stamp();
        assert!((2000..2500).contains(&stamp.run_ms) && stamp.waiting_ms == 3000, "{stamp:?}");
    }
}
