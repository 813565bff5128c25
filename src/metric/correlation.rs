//! Correlations: of ranks, and of labels.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{MetricError, same_length};
use crate::sum::{mean, pairwise_sum};

/// Ranks from 1; equal values share the mean of their ranks. Values that cannot be compared count as equal.
///
/// Source: scipy `rankdata(method="average")`.
pub fn average_ranks<T: PartialOrd>(values: &[T]) -> Vec<f64> {
    let compare = |left: &T, right: &T| left.partial_cmp(right).unwrap_or(Ordering::Equal);
    let mut order: Vec<(usize, &T)> = values.iter().enumerate().collect();
    order.sort_unstable_by(|left, right| compare(left.1, right.1));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tie in order.chunk_by(|left, right| compare(left.1, right.1).is_eq()) {
        let rank = (2 * before + tie.len() + 1) as f64 / 2.0;
        for (row, _) in tie {
            if let Some(slot) = ranks.get_mut(*row) {
                *slot = rank;
            }
        }
        before += tie.len();
    }
    ranks
}

/// Pearson's correlation: `cov(t, p) / (σ_t·σ_p)`, cut to −1 … 1.
///
/// NaN when either side is constant or has one value only. Higher is better. Source: `numpy.corrcoef`.
pub fn pearson(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let (truth, predicted) = (centred(truth), centred(predicted));
    let scale = 1.0 / (truth.len() as f64 - 1.0);
    let product = |left: &[f64], right: &[f64]| {
        let parts: Vec<f64> = left.iter().zip(right).map(|(left, right)| left * right).collect();
        pairwise_sum(&parts) * scale
    };
    let covariance = product(&truth, &predicted);
    let deviations = [product(&truth, &truth).sqrt(), product(&predicted, &predicted).sqrt()];
    if deviations.contains(&0.0) {
        return Ok(f64::NAN);
    }
    let [truth, predicted] = deviations;
    Ok((covariance / truth / predicted).clamp(-1.0, 1.0))
}

fn centred(values: &[f64]) -> Vec<f64> {
    let centre = mean(values);
    values.iter().map(|value| value - centre).collect()
}

/// Spearman's rank correlation: [`pearson`] of the [`average_ranks`].
///
/// NaN when either side is constant or holds a NaN. Range −1 to 1, higher is better. Source: scipy `spearmanr`.
pub fn spearman(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    if truth.iter().chain(predicted).any(|value| value.is_nan()) {
        return Ok(f64::NAN);
    }
    pearson(&average_ranks(truth), &average_ranks(predicted))
}

/// Matthews' correlation coefficient for any number of classes, from the confusion matrix with row sums `t_k`, column
/// sums `p_k`, trace `c` and total `s`: `(c·s − Σ t_k·p_k) / √((s² − Σ p_k²)(s² − Σ t_k²))`.
///
/// 0 when one side holds one class only. Range −1 to 1, higher is better. Source: scikit-learn `matthews_corrcoef`.
pub fn matthews_correlation<T: Ord>(truth: &[T], predicted: &[T]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let count = |labels| -> BTreeMap<&T, f64> {
        let mut counts = BTreeMap::new();
        for label in labels {
            *counts.entry(label).or_insert(0.0) += 1.0;
        }
        counts
    };
    let (truths, guesses) = (count(truth.iter()), count(predicted.iter()));
    let classes: BTreeSet<&T> = truths.keys().chain(guesses.keys()).copied().collect();
    let hits = truth.iter().zip(predicted).filter(|(left, right)| left == right).count() as f64;
    let rows = truth.len() as f64;
    let (mut both, mut truth_squares, mut guess_squares) = (0.0, 0.0, 0.0);
    for class in classes {
        let times = |counts: &BTreeMap<&T, f64>| counts.get(class).copied().unwrap_or_default();
        let (true_rows, guessed_rows) = (times(&truths), times(&guesses));
        both += true_rows * guessed_rows;
        truth_squares += true_rows * true_rows;
        guess_squares += guessed_rows * guessed_rows;
    }
    let spread = (rows * rows - guess_squares) * (rows * rows - truth_squares);
    Ok(if spread == 0.0 { 0.0 } else { (hits * rows - both) / spread.sqrt() })
}
