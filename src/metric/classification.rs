//! Metrics of single labels and of label sets. Labels are anything that can be ordered, so that results do not
//! depend on hashing: numbers, text, or codes the caller made.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{MetricError, same_length};
use crate::sum::mean;

/// Share of equal labels: `Σ [truth = predicted] / n`.
///
/// Range 0 to 1, higher is better. Source: scikit-learn `accuracy_score`.
pub fn accuracy<T: PartialEq>(truth: &[T], predicted: &[T]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let hits = truth.iter().zip(predicted).filter(|(left, right)| left == right).count();
    Ok(hits as f64 / truth.len() as f64)
}

/// Unweighted mean over the classes of `2·TP / (2·TP + FP + FN)`.
///
/// The classes are all that occur in the truth or the predictions; a class is 0 when it is never hit, also when it
/// occurs on one side only. Range 0 to 1, higher is better. Source: scikit-learn `f1_score(average="macro")`.
pub fn macro_f1<T: Ord>(truth: &[T], predicted: &[T]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let mut classes: BTreeMap<&T, (usize, usize)> = BTreeMap::new();
    for (left, right) in truth.iter().zip(predicted) {
        let hit = usize::from(left == right);
        for label in [left, right] {
            let (hits, seen) = classes.entry(label).or_default();
            *hits += hit;
            *seen += 1;
        }
    }
    // `hits` counts each hit twice and `seen` is (TP + FN) + (TP + FP), so the quotient is the F1 itself.
    let scores: Vec<f64> = classes.values().map(|(hits, seen)| *hits as f64 / *seen as f64).collect();
    Ok(mean(&scores))
}

/// F1 over all labels of all rows: `2·Σ|truth ∩ predicted| / Σ(|truth| + |predicted|)`.
///
/// Repeated labels in one row count once; 0 when both sides are empty everywhere. Range 0 to 1, higher is better.
/// Source: scikit-learn `f1_score(average="micro")` on label indicators.
pub fn micro_f1<T: Ord>(truth: &[Vec<T>], predicted: &[Vec<T>]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let (mut hits, mut total) = (0usize, 0usize);
    for (left, right) in truth.iter().zip(predicted) {
        let left: BTreeSet<&T> = left.iter().collect();
        let right: BTreeSet<&T> = right.iter().collect();
        hits += left.intersection(&right).count();
        total += left.len() + right.len();
    }
    Ok(if total == 0 { 0.0 } else { 2.0 * hits as f64 / total as f64 })
}

/// Cohen's kappa with quadratic weights: `1 − Σ w·O / Σ w·E`, with `w = (i − j)²`.
///
/// `i` and `j` are *ranks* of the labels among those that occur on either side, as scikit-learn has it: a rating
/// that nobody used leaves no gap. NaN when one rating is all there is. Range −1 to 1, higher is better.
/// Source: scikit-learn `cohen_kappa_score(weights="quadratic")`.
pub fn quadratic_weighted_kappa<T: Ord>(truth: &[T], predicted: &[T]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let labels: BTreeSet<&T> = truth.iter().chain(predicted).collect();
    let ranks: BTreeMap<&T, usize> =
        labels.into_iter().enumerate().map(|(rank, label)| (label, rank)).collect();
    let rank = |label: &T| ranks.get(label).copied().unwrap_or_default() as f64;
    let n = truth.len() as f64;
    let mut observed = 0.0;
    let (mut truth_sum, mut truth_squares, mut predicted_sum, mut predicted_squares) = (0.0, 0.0, 0.0, 0.0);
    for (left, right) in truth.iter().zip(predicted) {
        let (left, right) = (rank(left), rank(right));
        observed += (left - right) * (left - right);
        truth_sum += left;
        truth_squares += left * left;
        predicted_sum += right;
        predicted_squares += right * right;
    }
    // Σ_ij (i − j)² t_i p_j / n, expanded; all sums are of integers and exact far beyond any test set's size.
    let expected = truth_squares + predicted_squares - 2.0 * truth_sum * predicted_sum / n;
    Ok(if expected == 0.0 { f64::NAN } else { 1.0 - observed / expected })
}
