//! Metrics of token sequences and of ranked lists. Tokens are anything comparable; splitting a cell into tokens is
//! the grader's work.

use crate::error::{MetricError, same_length};
use crate::sum::mean;

/// Share of sequences that equal the truth: `Σ [truth = predicted] / n`.
///
/// Range 0 to 1, higher is better. Source: our own definition; equals [`accuracy`](crate::accuracy) of whole texts.
pub fn exact_match<T: PartialEq>(truth: &[T], predicted: &[T]) -> Result<f64, MetricError> {
    crate::classification::accuracy(truth, predicted)
}

/// Edit distance: the least number of insertions, deletions and substitutions that turn one sequence into the other.
///
/// Source: Levenshtein 1966. Time `n·m` (after common ends are cut), memory `min(n, m)`.
pub fn levenshtein<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    let prefix = long.iter().zip(short).take_while(|(a, b)| a == b).count();
    let (long, short) = (long.get(prefix..).unwrap_or_default(), short.get(prefix..).unwrap_or_default());
    let suffix = long.iter().rev().zip(short.iter().rev()).take_while(|(a, b)| a == b).count();
    let long = long.get(..long.len() - suffix).unwrap_or_default();
    let short = short.get(..short.len() - suffix).unwrap_or_default();

    let mut distances: Vec<usize> = (1..=short.len()).collect();
    for (row, item) in long.iter().enumerate() {
        let (mut diagonal, mut before) = (row, row + 1);
        for (other, distance) in short.iter().zip(&mut distances) {
            let best = (diagonal + usize::from(item != other)).min(before + 1).min(*distance + 1);
            diagonal = std::mem::replace(distance, best);
            before = best;
        }
    }
    distances.last().copied().unwrap_or(long.len())
}

/// Mean [`levenshtein`] distance, in tokens.
///
/// Range 0 to ∞, lower is better. Source: Kaggle's `levenshtein-mean`, here over tokens.
pub fn mean_levenshtein<T: PartialEq>(truth: &[Vec<T>], predicted: &[Vec<T>]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let distances: Vec<f64> =
        truth.iter().zip(predicted).map(|(left, right)| levenshtein(left, right) as f64).collect();
    Ok(mean(&distances))
}

/// Average precision at k of one ranked list: `Σ_{hits} hits so far / rank ÷ min(|truth|, k)`.
///
/// Only the first k items count, each at its first occurrence; a repeated item still takes up its rank. 0 when the
/// truth is empty. Range 0 to 1. Source: Kaggle's MAP@K.
pub fn average_precision_at_k<T: PartialEq>(truth: &[T], ranking: &[T], k: usize) -> f64 {
    let distinct = distinct(truth);
    let top = ranking.get(..k).unwrap_or(ranking);
    let (mut hits, mut total) = (0u32, 0.0);
    for (position, item) in top.iter().enumerate() {
        let repeated = || top.iter().take(position).any(|earlier| earlier == item);
        // Most items are no hits.
        if distinct.contains(&item) && !repeated() {
            hits += 1;
            total += f64::from(hits) / (position + 1) as f64;
        }
    }
    match distinct.len().min(k) {
        0 => 0.0,
        relevant => total / relevant as f64,
    }
}

/// Mean of [`average_precision_at_k`] over rows.
///
/// Range 0 to 1, higher is better. Source: Kaggle's MAP@K.
pub fn map_at_k<T: PartialEq>(truth: &[Vec<T>], rankings: &[Vec<T>], k: usize) -> Result<f64, MetricError> {
    same_length(truth.len(), rankings.len())?;
    if k == 0 {
        return Err(MetricError::ZeroK);
    }
    let rows: Vec<f64> = truth
        .iter()
        .zip(rankings)
        .map(|(truth, ranking)| average_precision_at_k(truth, ranking, k))
        .collect();
    Ok(mean(&rows))
}

fn distinct<T: PartialEq>(items: &[T]) -> Vec<&T> {
    let mut distinct: Vec<&T> = Vec::with_capacity(items.len());
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}
