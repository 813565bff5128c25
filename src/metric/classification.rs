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
