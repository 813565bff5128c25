//! A limit as the service tells it with its answers: how much it allows, how much is left, when all is left again.
//!
//! Between two answers it fills at the pace at which the service says it will be full. That is right for a bucket that
//! fills steadily, whatever its period (a limit for a day shows itself by a late reset), and near enough for a window
//! that empties at once, because every answer corrects it. What was told long ago is not believed: a limit that
//! changed, or a number that never was true, delays a call for a while and not for ever.

use std::time::Duration;

use tokio::time::Instant;

use super::limits::Told;

/// How long a service's word is believed.
const TRUST: Duration = Duration::from_mins(2);

/// The period of a limit that does not tell when it is full.
const PERIOD: Duration = Duration::from_mins(1);

/// One limit, as told last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learnt(Option<Bucket>);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    limit: f64,
    level: f64,
    /// By how much it fills in a second.
    pace: f64,
    filled: Instant,
    told: Instant,
}

impl Bucket {
    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.level = (self.level + passed * self.pace).min(self.limit);
        self.filled = now;
    }
}

impl Learnt {
    /// Takes in what the service told. `alone` says that no other call of ours is on its way; otherwise those calls
    /// may not be in the number yet, and it can only lower ours.
    pub(super) fn tell(&mut self, now: Instant, told: Told, alone: bool) {
        // A limit of nothing cannot have answered.
        if told.limit == 0 {
            return;
        }
        let (limit, remaining) = (told.limit as f64, told.remaining.min(told.limit) as f64);
        let before = self.fresh(now).map(|bucket| bucket.level);
        let level = before.filter(|_| !alone).map_or(remaining, |level| level.min(remaining));
        let period = told.reset.filter(|reset| !reset.is_zero() && remaining < limit);
        let pace =
            period.map_or(limit / PERIOD.as_secs_f64(), |reset| (limit - remaining) / reset.as_secs_f64());
        self.0 = Some(Bucket { limit, level, pace, filled: now, told: now });
    }

    /// The bucket, filled up to now, while it is believed.
    fn fresh(&mut self, now: Instant) -> Option<&mut Bucket> {
        if self.0.is_some_and(|bucket| now.saturating_duration_since(bucket.told) >= TRUST) {
            self.0 = None;
        }
        let bucket = self.0.as_mut()?;
        bucket.fill(now);
        Some(bucket)
    }

    /// When `amount` can be taken; `None` is now. More than the whole limit waits until it is full.
    pub(super) fn due(&mut self, now: Instant, amount: u64) -> Option<Instant> {
        let bucket = self.fresh(now)?;
        let missing = (amount as f64).min(bucket.limit) - bucket.level;
        // A rounding error must not make a call wait for a zero time again and again.
        if missing <= 1e-6 * bucket.limit {
            return None;
        }
        let wait = Duration::try_from_secs_f64(missing / bucket.pace).unwrap_or(TRUST);
        Some((now + wait.min(TRUST)).min(bucket.told + TRUST))
    }

    /// Takes `amount` (gives it back, where it is negative), whether it is there or not.
    pub(super) fn take(&mut self, now: Instant, amount: i64) {
        if let Some(bucket) = self.fresh(now) {
            bucket.level = (bucket.level - amount as f64).min(bucket.limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(limit: u64, remaining: u64, reset_ms: u64) -> Told {
        Told { limit, remaining, reset: Some(Duration::from_millis(reset_ms)) }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn what_is_left_is_taken_and_fills_at_the_pace_that_was_told() {
        let (mut learnt, now) = (Learnt::default(), Instant::now());
        assert_eq!(learnt.due(now, 1_000_000), None, "nothing was told");
        learnt.tell(now, told(60, 2, 58_000), true);
        learnt.take(now, 2);
        assert_eq!(learnt.due(now, 1), Some(now + seconds(1)));
        assert_eq!(learnt.due(now, 10), Some(now + seconds(10)));
        assert_eq!(learnt.due(now + seconds(10), 10), None);
        assert_eq!(
            learnt.due(now + seconds(10), 1_000),
            Some(now + seconds(60)),
            "more than all: when it is full"
        );
    }

    #[test]
    fn a_late_reset_is_a_longer_period_and_an_old_word_is_not_believed() {
        let (mut learnt, now) = (Learnt::default(), Instant::now());
        // Two hundred a day, of which all are used.
        learnt.tell(now, told(200, 0, 86_400_000), true);
        assert_eq!(learnt.due(now, 1), Some(now + TRUST), "it would be 432 s");
        assert_eq!(learnt.due(now + TRUST, 1), None);
        for nonsense in [told(0, 0, 0), told(0, 7, u64::MAX)] {
            learnt.tell(now, nonsense, true);
            assert_eq!(learnt.due(now, 1), None);
        }
        learnt.tell(now, told(1, u64::MAX, 1), true);
        assert_eq!(learnt.due(now, 1), None);
    }

    #[test]
    fn other_calls_on_their_way_are_not_forgotten() {
        let (mut learnt, now) = (Learnt::default(), Instant::now());
        learnt.tell(now, told(60, 10, 50_000), true);
        learnt.take(now, 8);
        learnt.tell(now, told(60, 9, 51_000), false);
        assert!(learnt.due(now, 3).is_some() && learnt.due(now, 2).is_none());
        learnt.tell(now, told(60, 9, 51_000), true);
        assert_eq!(learnt.due(now, 9), None);
    }
}
