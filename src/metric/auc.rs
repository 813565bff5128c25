//! Metrics of a ranking of positives before negatives: the area under the ROC curve and average precision.
//! Both treat equal scores as one step, whatever the order of the rows.

use crate::error::{MetricError, same_length};
use crate::sum::mean;

/// Area under the ROC curve: the chance that a positive scores above a negative, ties counting one half.
///
/// NaN when the truth holds one class only (as scikit-learn 1.9 returns, with a warning). Range 0 to 1, higher is
/// better. Source: scikit-learn `roc_auc_score`.
pub fn roc_auc(truth: &[bool], scores: &[f64]) -> Result<f64, MetricError> {
    let order = descending(truth, scores, "roc_auc")?;
    let positives = truth.iter().filter(|positive| **positive).count() as u128;
    let negatives = truth.len() as u128 - positives;
    if positives == 0 || negatives == 0 {
        return Ok(f64::NAN);
    }
    // Twice the Mann-Whitney U of the positives, in integers: exact.
    let (mut twice, mut positives_above) = (0u128, 0u128);
    for_each_tie(&order, |hits, misses| {
        twice += u128::from(misses) * (2 * positives_above + u128::from(hits));
        positives_above += u128::from(hits);
    });
    Ok(twice as f64 / (2 * positives * negatives) as f64)
}

/// Mean of [`roc_auc`] over columns; NaN as soon as one column is.
///
/// Range 0 to 1, higher is better. Source: scikit-learn `roc_auc_score(average="macro")` on label indicators.
pub fn mean_column_auc(truth: &[Vec<bool>], scores: &[Vec<f64>]) -> Result<f64, MetricError> {
    same_length(truth.len(), scores.len())?;
    let columns: Result<Vec<f64>, _> =
        truth.iter().zip(scores).map(|(truth, scores)| roc_auc(truth, scores)).collect();
    Ok(mean(&columns?))
}

/// Average precision: `Σ (R_k − R_{k−1})·P_k` over the distinct scores from the highest down.
///
/// 0 when there is no positive. Range 0 to 1, higher is better. Source: scikit-learn `average_precision_score`.
pub fn average_precision(truth: &[bool], scores: &[f64]) -> Result<f64, MetricError> {
    let order = descending(truth, scores, "average_precision")?;
    let positives = truth.iter().filter(|positive| **positive).count();
    if positives == 0 {
        return Ok(0.0);
    }
    let (mut total, mut hits_so_far, mut seen) = (0.0, 0u64, 0u64);
    for_each_tie(&order, |hits, misses| {
        hits_so_far += hits;
        seen += hits + misses;
        total += hits as f64 / positives as f64 * (hits_so_far as f64 / seen as f64);
    });
    Ok(total)
}

/// Rows as (score, positive), highest score first; infinities are scores, NaN is refused.
fn descending(truth: &[bool], scores: &[f64], metric: &'static str) -> Result<Vec<(f64, bool)>, MetricError> {
    same_length(truth.len(), scores.len())?;
    if let Some((row, value)) = scores.iter().copied().enumerate().find(|(_, score)| score.is_nan()) {
        return Err(MetricError::PredictionOutOfDomain { metric, row, value, domain: "numbers" });
    }
    // Adding 0 turns −0 into +0, which the total order would tell apart.
    let mut order: Vec<(f64, bool)> =
        scores.iter().zip(truth).map(|(score, positive)| (score + 0.0, *positive)).collect();
    order.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    Ok(order)
}

fn for_each_tie(order: &[(f64, bool)], mut visit: impl FnMut(u64, u64)) {
    for tie in order.chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq()) {
        let hits = tie.iter().filter(|(_, positive)| *positive).count();
        visit(hits as u64, (tie.len() - hits) as u64);
    }
}
