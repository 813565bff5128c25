//! What a comparison could have shown, and how many seeds a difference takes that was declared beforehand.
//!
//! 2.80 = 1.96 + 0.84: a two-sided test at 5 % finds a true difference of 2.80 standard errors four times out of five.

use super::difference::Pairs;
use super::{mean, variance};

/// Standard errors in the smallest difference that is found four times out of five.
const DETECTED: f64 = 2.80;

/// The smallest true difference that this comparison would have found four times out of five.
pub const fn detectable(se: f64) -> f64 {
    DETECTED * se
}

/// How many seeds per competition a declared difference takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", content = "seeds", rename_all = "snake_case")]
pub enum SeedsNeeded {
    /// This many, in each arm.
    Seeds(u64),
    /// No number of seeds settles it: the competitions differ too much among themselves. More competitions do.
    MoreCompetitions,
    /// Nothing is known of the noise between seeds: no competition has two runs in both arms.
    Unknown,
}

/// Seeds needed to find a difference `declared` (in shares, set before looking; never the one observed) four times out of
/// five: `n = σw² / (C · (Δ / 2.80)² − σb²)`, with `σw² = mean(s²a + s²b)` between seeds and `σb² = max(0, var d − σw² /
/// n now)` between competitions.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded up, above 0, and capped"
)]
pub fn seeds_needed(pairs: &Pairs, declared: f64) -> SeedsNeeded {
    let replicated: Vec<_> = pairs.iter().filter(|pair| pair.a.len() > 1 && pair.b.len() > 1).collect();
    if replicated.is_empty() {
        return SeedsNeeded::Unknown;
    }
    let within: Vec<f64> = replicated.iter().map(|pair| variance(&pair.a) + variance(&pair.b)).collect();
    let within = mean(&within);
    let seeds: Vec<f64> =
        pairs.iter().flat_map(|pair| [pair.a.len(), pair.b.len()]).map(|seeds| seeds as f64).collect();
    let between = (variance(&pairs.differences()) - within / mean(&seeds)).max(0.0);
    let room = pairs.len() as f64 * (declared / DETECTED).powi(2) - between;
    if room <= 0.0 {
        return SeedsNeeded::MoreCompetitions;
    }
    SeedsNeeded::Seeds(((within / room).ceil().clamp(1.0, 1e9)) as u64)
}
