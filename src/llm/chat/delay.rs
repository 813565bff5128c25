//! How long to wait before the next try: exponential with full jitter, never below what the service asks for,
//! never above the cap, never past the deadline; and how long pauses of the service may hold a try up, within the same
//! bounds. The deadline is one of tries and of waits that the service caused: waiting for a turn in a lane is neither
//! (see [`crate::pace`]). The jitter spreads many clients apart; no result depends on it.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use podium_types::rng::Rng;

use crate::pace::Allowance;
use crate::settings::Settings;

/// The waits of one turn.
pub(crate) struct Delays {
    bounds: ExponentialBackoff,
    jitter: Rng,
    cap: Duration,
    deadline: Duration,
    most_tries: u32,
}

impl Delays {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self::seeded(settings, RandomState::new().hash_one(0u8))
    }

    fn seeded(settings: &Settings, seed: u64) -> Self {
        let bounds = ExponentialBuilder::default()
            .with_min_delay(settings.first_delay.min(settings.max_delay))
            .with_max_delay(settings.max_delay)
            .with_max_times(usize::try_from(settings.max_tries.saturating_sub(1)).unwrap_or(usize::MAX))
            .build();
        Self {
            bounds,
            jitter: Rng::new(seed),
            cap: settings.max_delay,
            deadline: settings.total_retry_time,
            most_tries: settings.max_tries,
        }
    }

    /// Tries per turn.
    pub(crate) const fn most_tries(&self) -> u32 {
        self.most_tries
    }

    /// How long pauses of the service may hold up a try, `elapsed` after the turn began.
    pub(crate) fn allowance(&self, elapsed: Duration) -> Allowance {
        Allowance { cap: self.cap, left: self.deadline.saturating_sub(elapsed) }
    }

    /// The next wait, `elapsed` after the turn began; `None` when there is none left that keeps all three bounds.
    pub(crate) fn next(&mut self, elapsed: Duration, retry_after: Option<Duration>) -> Option<Duration> {
        let bound = self.bounds.next()?.min(self.cap);
        let jittered = bound.mul_f64(self.jitter.uniform());
        let delay = jittered.max(retry_after.unwrap_or_default());
        (delay <= self.cap && elapsed.saturating_add(delay) <= self.deadline).then_some(delay)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn waits_keep_all_bounds(
            seed: u64,
            first in 0u64..10_000,
            cap in 1u64..100_000,
            deadline in 0u64..1_000_000,
            tries in 0u32..12,
            failures in proptest::collection::vec((0u64..5_000, proptest::option::of(0u64..120_000)), 0..16),
        ) {
            let millis = Duration::from_millis;
            let settings = Settings {
                first_delay: millis(first),
                max_delay: millis(cap),
                total_retry_time: millis(deadline),
                max_tries: tries,
                ..Settings::default()
            };
            let mut delays = Delays::seeded(&settings, seed);
            let (mut elapsed, mut waits) = (Duration::ZERO, 0);
            for (took, retry_after) in failures {
                elapsed += millis(took);
                let retry_after = retry_after.map(millis);
                let Some(delay) = delays.next(elapsed, retry_after) else { break };
                elapsed += delay;
                waits += 1;
                prop_assert!(delay >= retry_after.unwrap_or_default());
                prop_assert!(delay <= settings.max_delay);
                prop_assert!(elapsed <= settings.total_retry_time);
            }
            prop_assert!(waits <= tries.saturating_sub(1));
        }
    }

    #[test]
    fn the_upper_bound_doubles() {
        let settings = Settings { max_tries: 60, ..Settings::default() };
        let longest = |wait: usize| {
            let waits = (0..200).map(|seed| {
                let mut delays = Delays::seeded(&settings, seed);
                let mut waits = std::iter::repeat_with(|| delays.next(Duration::ZERO, None));
                waits.nth(wait).flatten().unwrap()
            });
            waits.max().unwrap().as_secs_f64()
        };
        for (wait, bound) in [(0, 1.0), (1, 2.0), (3, 8.0), (20, 120.0)] {
            let longest = longest(wait);
            assert!((bound * 0.9..=bound).contains(&longest), "wait {wait}: {longest}");
        }
    }
}
