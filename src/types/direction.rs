//! Which way a score improves. Every metric has one direction, fixed by its definition and never by who reads it.

use serde::{Deserialize, Serialize};

/// Which way a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Smaller is better.
    Lower,
    /// Larger is better.
    Higher,
}

impl Direction {
    /// Whether `left` is strictly better than `right`. NaN is never better; any other number is better than NaN.
    pub fn better(self, left: f64, right: f64) -> bool {
        match (left.is_nan(), right.is_nan()) {
            (true, _) => false,
            (false, true) => true,
            (false, false) => match self {
                Self::Lower => left < right,
                Self::Higher => left > right,
            },
        }
    }

    /// By how much `left` is better than `right`: negative where it is worse, NaN where either is.
    pub fn lead(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Lower => right - left,
            Self::Higher => left - right,
        }
    }

    /// `lower` or `higher`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_is_positive_whichever_way_is_better() {
        assert_eq!((Direction::Lower.lead(1.0, 3.0), Direction::Higher.lead(3.0, 1.0)), (2.0, 2.0));
        assert!(Direction::Lower.lead(3.0, 1.0) < 0.0 && Direction::Higher.lead(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn nan_is_worst() {
        assert!(Direction::Lower.better(1.0, f64::NAN) && Direction::Higher.better(-1.0, f64::NAN));
        assert!(!Direction::Lower.better(f64::NAN, 1.0) && !Direction::Lower.better(f64::NAN, f64::NAN));
        assert!(Direction::Lower.better(1.0, 2.0) && !Direction::Higher.better(1.0, 1.0));
    }
}
