//! Rates the MLE-bench way: one percentage per seed over all competitions, then mean and standard error over seeds.

use std::collections::BTreeMap;

use super::{mean, variance};

/// A rate over seeds, in percent.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Rate {
    /// Mean over seeds, 0 to 100.
    pub mean: f64,
    /// Standard error of the mean over seeds (sample deviation / √seeds); 0 with one seed, where nothing is known of it.
    /// No confidence interval: with 3 seeds that takes 4.3 of it on either side, and other competitions are not in it.
    pub sem: f64,
    /// Seeds that went in.
    pub seeds: usize,
}

/// Runs that a plan names and nobody has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// A competition without any run.
    #[error("competition `{0}` has no run")]
    Competition(String),
    /// Nothing at all.
    #[error("there are no runs")]
    Everything,
}

/// The rate as MLE-bench's default aggregation tells it: each competition is cut to the smallest number of seeds that
/// one has. Outcomes are in the order of their seeds.
///
/// # Errors
/// A competition without runs.
pub fn strict(outcomes: &BTreeMap<String, Vec<f64>>) -> Result<Rate, Missing> {
    if let Some((name, _)) = outcomes.iter().find(|(_, seeds)| seeds.is_empty()) {
        return Err(Missing::Competition(name.clone()));
    }
    let seeds = outcomes.values().map(Vec::len).min().ok_or(Missing::Everything)?;
    Ok(over(outcomes, seeds))
}

/// The rate where a missing run counts as 0 (`--pad-missing` there): the number of seeds is the largest that a
/// competition has, or `planned` where that is more.
///
/// # Errors
/// Without any run.
pub fn padded(outcomes: &BTreeMap<String, Vec<f64>>, planned: usize) -> Result<Rate, Missing> {
    let seeds = outcomes.values().map(Vec::len).max().unwrap_or(0).max(planned);
    if seeds == 0 {
        return Err(Missing::Everything);
    }
    Ok(over(outcomes, seeds))
}

fn over(outcomes: &BTreeMap<String, Vec<f64>>, seeds: usize) -> Rate {
    let rate = |seed: usize| {
        let of_seed: Vec<f64> =
            outcomes.values().map(|runs| runs.get(seed).copied().unwrap_or(0.0)).collect();
        100.0 * mean(&of_seed)
    };
    let rates: Vec<f64> = (0..seeds).map(rate).collect();
    Rate { mean: mean(&rates), sem: (variance(&rates) / seeds as f64).sqrt(), seeds }
}
