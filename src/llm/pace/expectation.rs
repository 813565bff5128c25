//! What a call of a model is expected to use, learnt from what its calls used before.
//!
//! The worst case is for budgets. A limit of tokens in a minute that were charged with worst cases would be used to a
//! small part: our estimate of a prompt lies at twice its count, and an output limit at many times the usual answer.

/// How much an older call counts against the next one.
const FADING: f64 = 0.9;

/// Sums over the model's calls, fading.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expectation {
    calls: f64,
    estimated: f64,
    input: f64,
    output: f64,
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Tokens {
    pub(super) const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Expectation {
    /// What a call will use whose prompt is estimated at `estimate`. The first call is taken at its worst.
    pub(super) fn of(self, estimate: u64, output_limit: u64) -> Tokens {
        if self.calls <= 0.0 {
            return Tokens { input: estimate, output: output_limit };
        }
        let ratio = self.input / self.estimated.max(1.0);
        Tokens {
            input: whole(estimate as f64 * ratio),
            output: whole(self.output / self.calls).min(output_limit),
        }
    }

    /// A call with a prompt estimated at `estimate` used this much.
    pub(super) fn learn(&mut self, estimate: u64, used: Tokens) {
        let sum = |before: f64, next: u64| before * FADING + next as f64;
        self.calls = sum(self.calls, 1);
        self.estimated = sum(self.estimated, estimate);
        self.input = sum(self.input, used.input);
        self.output = sum(self.output, used.output);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float to integer cast saturates, which is what is wanted"
)]
fn whole(tokens: f64) -> u64 {
    tokens.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_is_taken_at_its_worst_and_later_ones_as_they_came() {
        let mut expectation = Expectation::default();
        assert_eq!(expectation.of(200, 1000), Tokens { input: 200, output: 1000 });
        expectation.learn(200, Tokens { input: 100, output: 50 });
        assert_eq!(expectation.of(300, 1000), Tokens { input: 150, output: 50 });
        assert_eq!(expectation.of(300, 20), Tokens { input: 150, output: 20 });
        for _ in 0..50 {
            expectation.learn(100, Tokens { input: 300, output: 0 });
        }
        let later = expectation.of(100, 1000);
        assert!((295..=300).contains(&later.input) && later.output <= 1, "{later:?}");
        expectation.learn(u64::MAX, Tokens { input: u64::MAX, output: u64::MAX });
        assert!(expectation.of(u64::MAX, u64::MAX).total() > 0);
    }
}
