//! What answers taught about a model beyond our estimates: how far its own counts exceed them.
//!
//! The estimate of a prompt is a heuristic, and an output limit is a request. Where the usage that comes back is
//! larger, later worst cases of the same model grow by as much, for the life of the process; they never shrink below
//! the plain estimate. Large excesses of small prompts come from what a server adds to every prompt, so they are
//! added to the next estimate; those of larger ones multiply it.

/// From this many tokens on an excess is a ratio, below it a constant.
const LARGE: u64 = 1_000;

/// The largest excess seen, as a constant and as a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Correction {
    constant: u64,
    used: u64,
    estimated: u64,
}

impl Default for Correction {
    fn default() -> Self {
        Self { constant: 0, used: 1, estimated: 1 }
    }
}

impl Correction {
    /// `estimate`, made larger by what was learnt.
    pub(crate) fn of(self, estimate: u64) -> u64 {
        let scaled =
            (u128::from(estimate) * u128::from(self.used)).div_ceil(u128::from(self.estimated.max(1)));
        let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
        scaled.max(estimate.saturating_add(self.constant))
    }

    /// Remembers that what was estimated at `estimate` was `used`, if that is more.
    pub(crate) fn learn(&mut self, estimate: u64, used: u64) {
        if estimate < LARGE {
            self.constant = self.constant.max(used.saturating_sub(estimate));
        } else if u128::from(used) * u128::from(self.estimated) > u128::from(self.used) * u128::from(estimate)
        {
            (self.used, self.estimated) = (used, estimate);
        }
    }
}

/// The corrections of one model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corrections {
    /// Of prompt estimates.
    pub(crate) input: Correction,
    /// Of output limits.
    pub(crate) output: Correction,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_excesses_are_added_and_large_ones_multiply() {
        let mut correction = Correction::default();
        correction.learn(10, 510);
        assert_eq!(
            (correction.of(10), correction.of(100_000)),
            (510, 100_500),
            "a server's own system prompt"
        );
        correction.learn(2_000, 3_000);
        assert_eq!((correction.of(10), correction.of(100_000)), (510, 150_000));
        correction.learn(2_000, 2_500);
        correction.learn(10, 5);
        assert_eq!((correction.of(10), correction.of(100_000)), (510, 150_000), "it never shrinks");
    }

    proptest! {
        #[test]
        fn what_was_seen_is_covered(seen in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..8), next: u64) {
            let mut correction = Correction::default();
            for (estimate, used) in &seen {
                correction.learn(*estimate, *used);
            }
            prop_assert!(correction.of(next) >= next);
            for (estimate, used) in seen {
                prop_assert!(correction.of(estimate) >= used);
            }
        }
    }
}
