//! The values that a metric can have by its definition, whatever is predicted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A range of values, both ends included; an end that is none is open. Both are in the metric's own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// The greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

/// What sums and means of floats may be off by.
const ROUNDING: f64 = 1e-9;

impl Range {
    /// Any number.
    pub const ANY: Self = Self { least: None, most: None };
    /// 0 or more.
    pub const NOT_NEGATIVE: Self = Self { least: Some(0.0), most: None };
    /// 0 to 1.
    pub const SHARE: Self = Self { least: Some(0.0), most: Some(1.0) };
    /// −1 to 1.
    pub const CORRELATION: Self = Self { least: Some(-1.0), most: Some(1.0) };

    /// Whether it leaves nothing out.
    pub fn is_any(&self) -> bool {
        *self == Self::ANY
    }

    /// Whether a metric can have this value, but for rounding. NaN is none.
    pub fn holds(&self, value: f64) -> bool {
        let above = self.least.is_none_or(|least| value >= least - ROUNDING);
        let below = self.most.is_none_or(|most| value <= most + ROUNDING);
        above && below && !value.is_nan()
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Some(least), Some(most)) => write!(f, "from {least} to {most}"),
            (Some(least), None) => write!(f, "{least} or more"),
            (None, Some(most)) => write!(f, "{most} or less"),
            (None, None) => f.write_str("any number"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_belong_to_it_and_rounding_is_forgiven() {
        let cases = [
            (Range::SHARE, 0.0, true),
            (Range::SHARE, 1.0, true),
            (Range::SHARE, -0.0, true),
            (Range::SHARE, 1.0 + 1e-12, true),
            (Range::SHARE, 81.0, false),
            (Range::SHARE, -0.5, false),
            (Range::SHARE, f64::NAN, false),
            (Range::NOT_NEGATIVE, -0.3, false),
            (Range::NOT_NEGATIVE, f64::INFINITY, true),
            (Range::CORRELATION, -1.0, true),
            (Range::ANY, f64::MIN, true),
            (Range::ANY, f64::NAN, false),
        ];
        for (range, value, expected) in cases {
            assert_eq!(range.holds(value), expected, "{value} {range}");
        }
    }

    #[test]
    fn it_says_itself() {
        let below = Range { least: None, most: Some(2.5) };
        let told = [Range::SHARE, Range::NOT_NEGATIVE, Range::CORRELATION, below, Range::ANY]
            .map(|range| range.to_string());
        assert_eq!(told, ["from 0 to 1", "0 or more", "from -1 to 1", "2.5 or less", "any number"]);
    }
}
