//! Logarithmic loss of class probabilities. scikit-learn clips to its float epsilon and does not renormalise;
//! Kaggle's older scorers renormalise and clip to 1e-15: both are options here, and none is silent. Matrices are
//! flat, row after row, so that a large one costs one allocation.

use crate::error::{MetricError, same_length};
use crate::sum::mean;

/// Clipping at the machine epsilon of a double: scikit-learn since 1.3.
pub const EPS_SKLEARN: f64 = f64::EPSILON;

/// Clipping at 1e-15: Kaggle's convention and that of the offline competitions.
pub const EPS_KAGGLE: f64 = 1e-15;

/// Mean over rows of `−ln(clip(p_c, eps, 1 − eps))`, where `c` is the true class of the row.
///
/// `probabilities` holds `classes` values per row, renormalised beforehand with [`renormalise`] where the rules ask
/// for it. Range 0 to ∞, lower is better. Source: scikit-learn `log_loss`.
pub fn log_loss(
    truth: &[usize],
    probabilities: &[f64],
    classes: usize,
    eps: f64,
) -> Result<f64, MetricError> {
    check(truth.len(), probabilities, classes)?;
    let mut losses = Vec::with_capacity(truth.len());
    for (row, (class, probabilities)) in truth.iter().zip(rows(probabilities, classes)).enumerate() {
        let probability = probabilities.get(*class).ok_or(MetricError::TruthOutOfDomain {
            metric: "log_loss",
            row,
            domain: "one of the classes",
        })?;
        losses.push(-clipped(*probability, eps).ln());
    }
    Ok(mean(&losses))
}

/// Mean over rows of `−Σ_c weight_c · ln(clip(p_c, eps, 1 − eps))`: [`log_loss`] for true weights of the classes,
/// as a rule one 1 among zeros.
///
/// Both matrices hold `classes` values per row. Range 0 to ∞, lower is better. Source: scikit-learn `log_loss`.
pub fn cross_entropy(
    truth: &[f64],
    probabilities: &[f64],
    classes: usize,
    eps: f64,
) -> Result<f64, MetricError> {
    check(truth.len() / classes.max(1), probabilities, classes)?;
    let losses: Vec<f64> = rows(truth, classes)
        .zip(rows(probabilities, classes))
        .map(|(weights, probabilities)| {
            let cells = weights.iter().zip(probabilities).filter(|(weight, _)| **weight != 0.0);
            -cells.map(|(weight, probability)| weight * clipped(*probability, eps).ln()).sum::<f64>()
        })
        .collect();
    Ok(mean(&losses))
}

/// [`log_loss`] of two classes, given the probability of the positive one.
pub fn binary_log_loss(truth: &[bool], probabilities: &[f64], eps: f64) -> Result<f64, MetricError> {
    check(truth.len(), probabilities, 1)?;
    let hit = |positive: bool, probability: f64| if positive { probability } else { 1.0 - probability };
    let losses: Vec<f64> = truth
        .iter()
        .zip(probabilities)
        .map(|(positive, probability)| -clipped(hit(*positive, *probability), eps).ln())
        .collect();
    Ok(mean(&losses))
}

/// Divides each row of `classes` values by its sum. A row that sums to zero or to no finite number is an error.
pub fn renormalise(probabilities: &mut [f64], classes: usize) -> Result<(), MetricError> {
    for (row, values) in probabilities.chunks_mut(classes.max(1)).enumerate() {
        let sum: f64 = values.iter().sum();
        if !sum.is_finite() || sum <= 0.0 {
            return Err(MetricError::UnusableRowSum { row, sum });
        }
        for value in values {
            *value /= sum;
        }
    }
    Ok(())
}

fn rows(matrix: &[f64], classes: usize) -> std::slice::ChunksExact<'_, f64> {
    matrix.chunks_exact(classes.max(1))
}

fn clipped(probability: f64, eps: f64) -> f64 {
    probability.max(eps).min(1.0 - eps)
}

fn check(truth: usize, probabilities: &[f64], classes: usize) -> Result<(), MetricError> {
    same_length(truth, probabilities.len() / classes.max(1))?;
    if classes == 0 || !probabilities.len().is_multiple_of(classes) {
        let (row, found) = (truth, probabilities.len() % classes.max(1));
        return Err(MetricError::WidthMismatch { row, found, expected: classes });
    }
    match probabilities.iter().position(|probability| !(0.0..=1.0).contains(probability)) {
        None => Ok(()),
        Some(position) => Err(MetricError::PredictionOutOfDomain {
            metric: "log_loss",
            row: position / classes,
            value: probabilities.get(position).copied().unwrap_or(f64::NAN),
            domain: "0 to 1",
        }),
    }
}
