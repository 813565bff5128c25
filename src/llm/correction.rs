//! What answers taught about a model beyond our estimates: how far its own counts exceed them.
//!
//! The estimate of a prompt is a heuristic, and an output limit is a request. Where the usage that comes back is
//! larger, later worst cases of the same model grow by as much, for the life of the process; they never shrink below
//! the plain estimate. Large excesses of small prompts come from what a server adds to every prompt, so they are
//! added to the next estimate; those of larger ones multiply it.
//!
//! A usage that cannot be true teaches nothing and is not charged: one number out of a broken server would make every
//! later call of the model too dear for any budget.

use podium_types::money::Usd;
use podium_types::usage::Usage;

use crate::ledger::WorstCase;

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

/// The window of a model whose window is not known, from above: ten times the longest that there is.
const WIDEST: u64 = 10_000_000;

/// Dollars for a million tokens that no service takes: a dozen times the dearest price that there is.
const DEAREST: f64 = 10_000.0;

/// Dollars that a call may cost beside its tokens.
const FEE: f64 = 1.0;

/// What to settle instead of `told`, where that cannot be true; `None` where it can.
///
/// No prompt and no answer is longer than the window. Entries grow stale and are written by hand, so twice a known
/// window is still believed, and so is what was reserved. The part that cannot be true is taken at its worst case, and
/// the usage counts as an estimate. Its cost is then ours to reckon, as it is where the service's own is beyond all
/// prices. Of tokens that are said to be among others but outnumber them, none are believed to be cheaper.
pub(crate) fn mended(told: &Usage, window: Option<u64>, worst: &WorstCase) -> Option<Usage> {
    let ceiling = window.map_or(WIDEST, |window| window.saturating_mul(2));
    let true_input = told.input_tokens <= ceiling.max(worst.input_tokens);
    let true_output = told.output_tokens <= ceiling.max(worst.output_tokens);
    let true_cache = told.cached_input_tokens.saturating_add(told.cache_write_tokens) <= told.input_tokens;
    let most = Usd::of_tokens(told.total_tokens(), DEAREST) + Usd::from_dollars(FEE);
    let true_cost = told.cost.is_none_or(|cost| cost <= most);
    if true_input && true_output && true_cache && true_cost {
        return None;
    }
    let cost = told.cost.filter(|_| true_input && true_output && true_cost);
    let mut settled = Usage { estimated: true, cost, ..*told };
    if !true_cache {
        (settled.cached_input_tokens, settled.cache_write_tokens) = (0, 0);
    }
    if !true_input {
        settled.input_tokens = worst.input_tokens;
        (settled.cached_input_tokens, settled.cache_write_tokens) = (0, 0);
    }
    if !true_output {
        settled.output_tokens = worst.output_tokens;
        settled.reasoning_tokens = settled.reasoning_tokens.min(worst.output_tokens);
    }
    Some(settled)
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

    #[test]
    fn a_usage_beyond_any_window_becomes_an_estimate() {
        let worst = WorstCase { input_tokens: 40, output_tokens: 100, cost: None };
        let told = |input: u64, output: u64| Usage {
            input_tokens: input,
            cached_input_tokens: input / 2,
            output_tokens: output,
            ..Usage::default()
        };
        let huge = 1_000_000_000_000_000_000;
        let estimate = |usage: Usage| Some(Usage { estimated: true, ..usage });
        for (name, usage, window, expected) in [
            ("what was reserved", told(40, 100), Some(10), None),
            ("a stale window", told(4_000, 3_000), Some(2_000), None),
            ("an unknown window", told(WIDEST, WIDEST), None, None),
            (
                "a prompt",
                told(4_001, 7),
                Some(2_000),
                estimate(Usage { cached_input_tokens: 0, ..told(40, 7) }),
            ),
            ("an answer", told(9, huge), Some(2_000), estimate(told(9, 100))),
            (
                "more cached than sent",
                Usage { cached_input_tokens: 41, ..told(40, 7) },
                None,
                estimate(Usage { cached_input_tokens: 0, ..told(40, 7) }),
            ),
            (
                "as much cached and written as sent",
                Usage { cached_input_tokens: 30, cache_write_tokens: 10, ..told(40, 7) },
                None,
                None,
            ),
            ("a high cost", Usage { cost: Some(Usd::from_dollars(1.2)), ..told(40, 7) }, None, None),
            (
                "a cost beyond all prices",
                Usage { cost: Some(Usd::from_dollars(1e12)), ..told(40, 7) },
                None,
                estimate(told(40, 7)),
            ),
            (
                "an answer too long, at any cost",
                Usage { cost: Some(Usd::ZERO), ..told(9, huge) },
                None,
                estimate(told(9, 100)),
            ),
            ("both", told(huge, huge), None, estimate(Usage { cached_input_tokens: 0, ..told(40, 100) })),
        ] {
            assert_eq!(mended(&usage, window, &worst), expected, "{name}");
        }
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
