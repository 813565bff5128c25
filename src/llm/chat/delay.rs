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

    /// The next wait, `elapsed` after the turn began, or which of the three bounds leaves none.
    pub(crate) fn next(
        &mut self,
        elapsed: Duration,
        retry_after: Option<Duration>,
    ) -> Result<Duration, NoWait> {
        let bound = self.bounds.next().ok_or(NoWait::Tries(self.most_tries))?.min(self.cap);
        let jittered = bound.mul_f64(self.jitter.uniform());
        let delay = jittered.max(retry_after.unwrap_or_default());
        if delay > self.cap {
            return Err(NoWait::TooLong { asked: delay, cap: self.cap });
        }
        if elapsed.saturating_add(delay) > self.deadline {
            return Err(NoWait::Deadline(self.deadline));
        }
        Ok(delay)
    }
}

/// The bound that ended the waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoWait {
    /// All tries are made.
    Tries(u32),
    /// The service asks for a longer wait than any.
    TooLong {
        /// What it asks for.
        asked: Duration,
        /// The longest wait.
        cap: Duration,
    },
    /// The turn would take longer than it may.
    Deadline(Duration),
}

impl std::fmt::Display for NoWait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tries(most) => write!(f, "the limit of tries ({most}) is reached"),
            Self::TooLong { asked, cap } => write!(
                f,
                "it asks for a wait of {:.0} s, which is beyond the limit of a wait ({:.0} s)",
                asked.as_secs_f64(),
                cap.as_secs_f64()
            ),
            Self::Deadline(deadline) => write!(
                f,
                "another wait would pass the limit of a call's tries and waits ({:.0} s)",
                deadline.as_secs_f64()
            ),
        }
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
                let Ok(delay) = delays.next(elapsed, retry_after) else { break };
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
    fn the_bound_that_ends_the_waiting_names_itself_and_its_value() {
        let seconds = Duration::from_secs;
        let settings = Settings {
            max_tries: 2,
            max_delay: seconds(9),
            total_retry_time: seconds(60),
            ..Settings::default()
        };
        let told = |elapsed, asked| {
            let mut delays = Delays::seeded(&settings, 1);
            let told = delays.next(elapsed, asked).unwrap_err().to_string();
            (told, delays.next(Duration::ZERO, None).unwrap_err())
        };
        let (too_long, tries) = told(Duration::ZERO, Some(seconds(200)));
        assert!(too_long.contains("200 s") && too_long.contains("(9 s)"), "{too_long}");
        assert!(told(seconds(61), None).0.contains("(60 s)"));
        assert_eq!((tries, tries.to_string().contains("(2)")), (NoWait::Tries(2), true));
    }

    #[test]
    fn the_upper_bound_doubles() {
        let settings = Settings { max_tries: 60, ..Settings::default() };
        let longest = |wait: usize| {
            let waits = (0..200).map(|seed| {
                let mut delays = Delays::seeded(&settings, seed);
                let mut waits = std::iter::repeat_with(|| delays.next(Duration::ZERO, None));
                waits.nth(wait).unwrap().unwrap()
            });
            waits.max().unwrap().as_secs_f64()
        };
        for (wait, bound) in [(0, 1.0), (1, 2.0), (3, 8.0), (20, 120.0)] {
            let longest = longest(wait);
            assert!((bound * 0.9..=bound).contains(&longest), "wait {wait}: {longest}");
        }
    }
}
