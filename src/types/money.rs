//! Dollars as integers, so that sums do not drift over a three-day run.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

const NANOS: f64 = 1e9;

/// An amount of US dollars in billionths of a dollar. Never used for an unknown price: that is `Option::None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(i64);

impl Usd {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// From billionths of a dollar.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// From dollars, rounded up to the next billionth; saturates at the range of the integer.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float to integer cast saturates, which is what is wanted"
    )]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * NANOS).ceil() as i64)
    }

    /// The price of `tokens` at `dollars_per_million`, rounded up.
    pub fn of_tokens(tokens: u64, dollars_per_million: f64) -> Self {
        Self::from_dollars(tokens as f64 * dollars_per_million / 1e6)
    }

    /// In dollars, for display and reports.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / NANOS
    }

    /// In billionths of a dollar.
    pub const fn nanos(self) -> i64 {
        self.0
    }
}

impl Add for Usd {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Usd {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl std::fmt::Display for Usd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dollars = self.dollars();
        // The less it is, the more places: what was paid never reads as nothing.
        let places = match self.0.unsigned_abs() {
            0 | 100_000_000.. => 2,
            100_000.. => 4,
            1_000.. => 6,
            _ => 9,
        };
        write!(f, "${dollars:.places$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_paid_never_reads_as_nothing() {
        for (nanos, text) in [
            (0, "$0.00"),
            (1, "$0.000000001"),
            (29_000, "$0.000029"),
            (4_000_000, "$0.0040"),
            (99_000_000, "$0.0990"),
            (100_000_000, "$0.10"),
            (12_345_000_000, "$12.35"),
        ] {
            assert_eq!(Usd::from_nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn prices_round_up_and_add_exactly() {
        let third = Usd::of_tokens(1, 0.000_333);
        assert_eq!(third.nanos(), 1);
        let sum: Usd = std::iter::repeat_n(Usd::from_dollars(0.1), 10).sum();
        assert_eq!(sum, Usd::from_dollars(1.0));
    }
}
