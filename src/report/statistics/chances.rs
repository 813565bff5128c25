//! What more tries would have brought: pass@k, and the best of k by validation.

use super::difference::{Interval, t_quantile};
use super::exact::choose;
use super::{mean, variance};

/// The chance that at least one of `k` runs drawn from `runs` has a medal, where `medals` of them have: `1 − C(n − s, k) /
/// C(n, k)`. None where there are fewer than `k` runs.
///
/// Chen et al., Evaluating Large Language Models Trained on Code (2021), section 2.1.
pub fn pass_at_k(runs: usize, medals: usize, k: usize) -> Option<f64> {
    if k == 0 || k > runs || medals > runs {
        return None;
    }
    Some(1.0 - choose(runs - medals, k) / choose(runs, k))
}

/// One point of the curve of pass@k.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PassAtK {
    /// Runs drawn per competition.
    pub k: usize,
    /// Mean over competitions.
    pub mean: f64,
    /// 95 % interval over competitions; none with one.
    pub interval: Option<Interval>,
    /// Competitions that have `k` runs.
    pub competitions: usize,
}

/// Pass@k over competitions, each `(runs, medals)`, for each `k` up to half of the smallest number of runs: beyond it the
/// estimate leans on few draws. Always at least `k = 1`. Empty where no competition has a run.
pub fn pass_curve(competitions: &[(usize, usize)]) -> Vec<PassAtK> {
    let fewest = competitions.iter().map(|(runs, _)| *runs).filter(|runs| *runs > 0).min().unwrap_or(0);
    (1..=(fewest / 2).max(fewest.min(1)))
        .map(|k| {
            let chances: Vec<f64> =
                competitions.iter().filter_map(|(runs, medals)| pass_at_k(*runs, *medals, k)).collect();
            let se = (variance(&chances) / chances.len().max(1) as f64).sqrt();
            let centre = mean(&chances);
            let interval = t_quantile(chances.len()).map(|t| Interval::around(centre, t * se));
            PassAtK { k, mean: centre, interval, competitions: chances.len() }
        })
        .collect()
}

/// One run: its validation metric, made so that more is better, and what it came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Validated {
    /// None where the run has no valid node: it is chosen last, and counts 0.
    pub validation: Option<f64>,
    /// Its outcome.
    pub outcome: f64,
}

/// The expected outcome of the run with the best validation among `k` drawn from `runs`: with runs sorted best first, `Σ
/// y(i) · C(n − i, k − 1) / C(n, k)`, where runs that are level share their places. None where there are fewer than `k`.
pub fn best_of_k(runs: &[Validated], k: usize) -> Option<f64> {
    if k == 0 || k > runs.len() {
        return None;
    }
    let value = |run: &Validated| run.validation.filter(|value| !value.is_nan());
    let mut sorted: Vec<(Option<f64>, f64)> =
        runs.iter().map(|run| (value(run), if value(run).is_some() { run.outcome } else { 0.0 })).collect();
    let rank = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
    sorted.sort_by(|a, b| b.0.is_some().cmp(&a.0.is_some()).then(rank(b.0).total_cmp(&rank(a.0))));
    let ways = choose(sorted.len(), k);
    let mut expected = 0.0;
    let mut place = 0;
    for level in sorted.chunk_by(|a, b| a.0 == b.0) {
        let outcomes: Vec<f64> = level.iter().map(|(_, outcome)| *outcome).collect();
        let share: f64 =
            (place..place + level.len()).map(|before| choose(sorted.len() - before - 1, k - 1)).sum();
        expected += mean(&outcomes) * share / ways;
        place += level.len();
    }
    Some(expected)
}
