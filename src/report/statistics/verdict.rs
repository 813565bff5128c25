//! One rule by which a comparison is called. An interval that holds 0 is no tie.

use super::difference::Difference;

/// Differences within this are practically none, unless the user set another before: 3 points.
pub const EQUAL_WITHIN: f64 = 0.03;
/// The level of the tests.
pub const LEVEL: f64 = 0.05;

/// What a comparison came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first arm is better.
    FirstBetter,
    /// The second is better.
    SecondBetter,
    /// The difference is smaller than what matters, and one may be sure of it.
    PracticallyEqual,
    /// Neither is shown.
    Undecided,
}

/// Calls a comparison: *better* when the corrected p-value is below [`LEVEL`] and the interval for competitions like these
/// excludes 0; *practically equal* when that interval lies within ± `equal_within`; else *undecided*. An interval without
/// width, of competitions that all came out alike (both arms at the ceiling, for example), is no sign of being equal: there
/// was nothing to tell them apart by.
pub fn verdict(difference: &Difference, corrected_p: f64, equal_within: f64) -> Verdict {
    let Some(interval) = difference.like_these else { return Verdict::Undecided };
    if corrected_p < LEVEL && !interval.holds(0.0) {
        return if difference.mean > 0.0 { Verdict::FirstBetter } else { Verdict::SecondBetter };
    }
    if interval.low < interval.high && interval.low >= -equal_within && interval.high <= equal_within {
        return Verdict::PracticallyEqual;
    }
    Verdict::Undecided
}

/// The smallest p-value that a sign flip over `competitions` can give: 2^(1 − C). Above [`LEVEL`] nothing can be
/// significant, whatever is seen.
pub fn smallest_p(competitions: usize) -> f64 {
    let exponent = i32::try_from(competitions).unwrap_or(i32::MAX);
    2.0_f64.powi(1_i32.saturating_sub(exponent)).min(1.0)
}
