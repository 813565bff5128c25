//! A declared limit: so much in any minute.
//!
//! A sliding window keeps what was taken in the last minute, each with its instant. So the limit holds in every
//! minute, whichever way a service cuts its own, and all of it can be used.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

const MINUTE: Duration = Duration::from_mins(1);

/// What was taken in the last minute.
#[derive(Debug, Default)]
pub(super) struct Window {
    limit: Option<u64>,
    taken: VecDeque<(Instant, u64)>,
    sum: u64,
    /// The number of the oldest entry.
    oldest: u64,
}

impl Window {
    /// Sets the limit. What was taken while there was none is not known.
    pub(super) fn set_limit(&mut self, limit: Option<u64>) {
        self.limit = limit;
    }

    fn expire(&mut self, now: Instant) {
        while let Some((at, amount)) = self.taken.front().copied()
            && now.saturating_duration_since(at) >= MINUTE
        {
            self.taken.pop_front();
            self.sum = self.sum.saturating_sub(amount);
            self.oldest += 1;
        }
    }

    /// When `amount` can be taken; `None` is now. More than the limit waits for an empty window.
    pub(super) fn due(&mut self, now: Instant, amount: u64) -> Option<Instant> {
        let limit = self.limit?;
        self.expire(now);
        let fits = |left: u64| left.saturating_add(amount.min(limit)) <= limit;
        let mut left = self.sum;
        if fits(left) {
            return None;
        }
        let freed = self.taken.iter().find(|(_, taken)| {
            left = left.saturating_sub(*taken);
            fits(left)
        });
        freed.map(|(at, _)| *at + MINUTE)
    }

    /// When the last of calls that take `amount` together can be sent, as far as it can be foreseen.
    pub(super) fn outlook(&mut self, now: Instant, amount: u64) -> Option<Instant> {
        let limit = self.limit?;
        let whole = amount.saturating_sub(1) / limit;
        let first = self.due(now, amount - whole * limit);
        if whole == 0 { first } else { Some(first.unwrap_or(now) + minutes(whole)) }
    }

    /// Takes `amount`, whether it is there or not, and returns the entry's number. Without a limit nothing is kept.
    pub(super) fn take(&mut self, now: Instant, amount: u64) -> Option<u64> {
        self.limit?;
        self.expire(now);
        self.taken.push_back((now, amount));
        self.sum = self.sum.saturating_add(amount);
        Some(self.oldest + self.taken.len() as u64 - 1)
    }

    /// The entry `number` came to `amount` in the end. What was less than it counts from the start, what was more
    /// from now on: it was used by now, and nobody knows when.
    pub(super) fn correct(&mut self, now: Instant, number: u64, amount: u64) {
        self.expire(now);
        let index = number.checked_sub(self.oldest).and_then(|index| usize::try_from(index).ok());
        let Some(entry) = index.and_then(|index| self.taken.get_mut(index)) else {
            self.take(now, amount);
            return;
        };
        let charged = entry.1;
        entry.1 = charged.min(amount);
        self.sum = self.sum.saturating_sub(charged - entry.1);
        if amount > charged {
            self.take(now, amount - charged);
        }
    }

    /// The entry `number` never was.
    pub(super) fn undo(&mut self, number: u64) {
        let index = number.checked_sub(self.oldest).and_then(|index| usize::try_from(index).ok());
        if let Some(entry) = index.and_then(|index| self.taken.get_mut(index)) {
            self.sum = self.sum.saturating_sub(entry.1);
            entry.1 = 0;
        }
    }
}

fn minutes(count: u64) -> Duration {
    MINUTE.saturating_mul(u32::try_from(count).unwrap_or(60).min(60))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn window(limit: u64) -> Window {
        Window { limit: Some(limit), ..Window::default() }
    }

    #[test]
    fn an_amount_above_the_limit_waits_for_an_empty_window() {
        let (mut window, now) = (window(10), Instant::now());
        assert_eq!(window.due(now, 100), None, "nothing better can come");
        assert_eq!(window.outlook(now, 100), Some(now + minutes(9)), "as the sum of many calls");
        let later = now + Duration::from_secs(20);
        window.take(now, 1);
        assert_eq!(window.due(later, 100), Some(now + MINUTE));
        assert_eq!(window.due(now + MINUTE, 100), None);
    }

    #[test]
    fn corrections_and_what_never_was_give_room_back() {
        let (mut window, now) = (window(10), Instant::now());
        let entry = window.take(now, 9).unwrap();
        assert_eq!(window.due(now, 2), Some(now + MINUTE));
        window.correct(now, entry, 3);
        assert_eq!(window.due(now, 7), None);
        let later = now + Duration::from_secs(30);
        window.correct(later, entry, 8);
        assert_eq!(window.due(later, 3), Some(now + MINUTE));
        assert_eq!(window.due(now + MINUTE, 6), Some(later + MINUTE), "five were used later");
        window.undo(entry);
        assert_eq!(window.due(later, 5), None);
    }

    proptest! {
        /// Whoever takes when it is due never has more than the limit in any minute.
        #[test]
        fn the_limit_holds_in_every_minute(limit in 1u64..50, amounts in proptest::collection::vec((0u64..60, 0u64..30_000), 1..80)) {
            let (mut window, start) = (window(limit), Instant::now());
            let (mut now, mut taken) = (start, Vec::new());
            for (amount, pause) in amounts {
                let amount = amount.min(limit);
                now += Duration::from_millis(pause);
                if let Some(due) = window.due(now, amount) {
                    prop_assert!(due > now);
                    now = due;
                }
                prop_assert_eq!(window.due(now, amount), None);
                window.take(now, amount);
                taken.push((now, amount));
            }
            for (at, _) in &taken {
                let minute = taken.iter().filter(|(other, _)| other >= at && *other < *at + MINUTE);
                prop_assert!(minute.map(|(_, amount)| amount).sum::<u64>() <= limit);
            }
        }
    }
}
