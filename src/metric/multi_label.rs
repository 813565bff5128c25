//! Metrics of rows that bear several labels or words at once: overlap of sets, F1 from counts, and the ranking of
//! true labels before false ones.

use std::collections::BTreeSet;

use crate::error::{MetricError, same_length};

/// Jaccard similarity of two sets: `|A ∩ B| / |A ∪ B|`. Repeated items count once; `None` when both are empty.
///
/// Range 0 to 1, higher is better. Source: Jaccard 1901.
pub fn jaccard<T: Ord>(left: &[T], right: &[T]) -> Option<f64> {
    let left: BTreeSet<&T> = left.iter().collect();
    let right: BTreeSet<&T> = right.iter().collect();
    let shared = left.intersection(&right).count();
    let all = left.len() + right.len() - shared;
    (all > 0).then(|| shared as f64 / all as f64)
}

/// F1 from counts: `2·TP / (|truth| + |predicted|)`, where the two are the numbers of true and of predicted labels.
///
/// 0 when there is no label on either side. Range 0 to 1, higher is better. Source: scikit-learn
/// `f1_score(average="micro")`; [`micro_f1`](crate::micro_f1) counts for itself.
pub fn f1_from_counts(hits: u64, truth: u64, predicted: u64) -> f64 {
    let total = truth + predicted;
    if total == 0 { 0.0 } else { (2 * hits) as f64 / total as f64 }
}

/// Label-ranking average precision, each row weighted by the number of its true labels.
///
/// For each true label of a row: the share of true labels among all that score at least as high. A row is worth the
/// mean of these, and 1 when all its labels are true; rows without a true label do not count. Both matrices hold
/// `classes` values per row. NaN when no row has a true label. Range 0 to 1, higher is better.
/// Source: scikit-learn `label_ranking_average_precision_score`; the weights are those of Freesound 2019.
pub fn label_weighted_ranking_precision(
    truth: &[bool],
    scores: &[f64],
    classes: usize,
) -> Result<f64, MetricError> {
    same_length(truth.len(), scores.len())?;
    if classes == 0 || !truth.len().is_multiple_of(classes) {
        let found = truth.len() % classes.max(1);
        return Err(MetricError::WidthMismatch {
            row: truth.len() / classes.max(1),
            found,
            expected: classes,
        });
    }
    let (mut total, mut weights) = (0.0, 0.0);
    let mut relevant = Vec::with_capacity(classes);
    for (truth, scores) in truth.chunks_exact(classes).zip(scores.chunks_exact(classes)) {
        relevant.clear();
        relevant.extend(truth.iter().zip(scores).filter(|(truth, _)| **truth).map(|(_, score)| *score));
        let weight = relevant.len() as f64;
        weights += weight;
        total += weight * row_precision(&relevant, scores);
    }
    Ok(total / weights)
}

fn row_precision(relevant: &[f64], scores: &[f64]) -> f64 {
    if relevant.is_empty() || relevant.len() == scores.len() {
        return 1.0;
    }
    let at_least = |scores: &[f64], bar: f64| scores.iter().filter(|score| **score >= bar).count() as f64;
    let precision = |bar: &f64| at_least(relevant, *bar) / at_least(scores, *bar);
    relevant.iter().map(precision).sum::<f64>() / relevant.len() as f64
}
