//! How often: the limits on checks, and a brake on everything else.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Served at full speed; an honest program has no use for so many.
const FREE: u32 = 1000;
/// What each further one waits, so that a flood costs the harness a few hundredths of a processor.
const WAIT: Duration = Duration::from_millis(4);
const MINUTE: Duration = Duration::from_mins(1);

/// Slows down whoever asks too often.
#[derive(Debug, Default)]
pub(super) struct Brake(u32);

impl Brake {
    /// Counts one more, and says how long it waits.
    pub(super) fn next_wait(&mut self) -> Option<Duration> {
        self.0 = self.0.saturating_add(1);
        (self.0 > FREE).then_some(WAIT)
    }

    /// Counts one more, and waits.
    pub(super) async fn slow_down(&mut self) {
        if let Some(wait) = self.next_wait() {
            tokio::time::sleep(wait).await;
        }
    }
}

/// Counts checks.
#[derive(Debug)]
pub(super) struct Quota {
    per_minute: u32,
    per_execution: u32,
    begun: u32,
    last: VecDeque<Instant>,
}

/// Too many checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// In the last minute; the next may begin in so many seconds.
    Minute { limit: u32, seconds: u64 },
    /// In this execution.
    Execution { limit: u32 },
}

impl Quota {
    pub(super) fn new(per_minute: u32, per_execution: u32) -> Self {
        Self { per_minute, per_execution, begun: 0, last: VecDeque::new() }
    }

    /// Takes one check out of the quota.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Exceeded> {
        if self.begun >= self.per_execution {
            return Err(Exceeded::Execution { limit: self.per_execution });
        }
        while self.last.front().is_some_and(|first| now.duration_since(*first) >= MINUTE) {
            self.last.pop_front();
        }
        if self.last.len() >= usize::try_from(self.per_minute).unwrap_or(usize::MAX) {
            let oldest = self.last.front().map_or(Duration::ZERO, |first| now.duration_since(*first));
            let seconds = MINUTE.saturating_sub(oldest).as_secs() + 1;
            return Err(Exceeded::Minute { limit: self.per_minute, seconds });
        }
        self.begun += 1;
        self.last.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_slides_and_an_execution_ends() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut quota = Quota::new(2, 4);
        assert_eq!(quota.take(at(0)), Ok(()));
        assert_eq!(quota.take(at(30)), Ok(()));
        assert_eq!(quota.take(at(31)), Err(Exceeded::Minute { limit: 2, seconds: 30 }));
        assert_eq!(quota.take(at(60)), Ok(()));
        assert_eq!(quota.take(at(61)), Err(Exceeded::Minute { limit: 2, seconds: 30 }));
        assert_eq!(quota.take(at(91)), Ok(()));
        assert_eq!(quota.take(at(500)), Err(Exceeded::Execution { limit: 4 }));
    }

    #[test]
    fn only_a_flood_is_slowed_down() {
        let mut brake = Brake::default();
        assert!((0..FREE).all(|_| brake.next_wait().is_none()));
        assert_eq!(brake.next_wait(), Some(WAIT));
    }
}
