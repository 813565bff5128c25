//! How sure one may be of what many runs showed.
//!
//! Pure functions over outcomes, each with its formula. An *outcome* is what one run came to on one competition: 0 or 1
//! (a medal, a valid submission) or a share in \[0, 1\] (a percentile). Runs of one competition differ by their seed.
//!
//! Seeds are replicates, not pairs: run 1 of one arm shares nothing with run 1 of another. What is paired is the
//! competition.
//!
//! - [`rates`]: percentages with their standard error, as MLE-bench tells them
//! - [`difference`]: two arms beside each other, with two intervals
//! - [`exact`]: the p-values of a sign flip and of a permutation of labels
//! - [`holm`]: many comparisons at once
//! - [`verdict`]: the one rule by which something is called better
//! - [`power`]: what could have been seen, and how many seeds it takes
//! - [`chances`]: pass@k, and the best of k by validation
//!
//! Must not know: runs, competitions' files, how anything is printed.

pub mod chances;
pub mod difference;
pub mod exact;
pub mod holm;
pub mod power;
pub mod rates;
pub mod verdict;

pub use difference::{Difference, Interval, Pair, Pairs};
pub use exact::PValue;
pub use rates::{Missing, Rate};
pub use verdict::Verdict;

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The sample variance, with one degree of freedom taken for the mean; 0 of fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}
