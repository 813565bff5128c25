//! Logarithmic loss of class probabilities. scikit-learn clips to its float epsilon and does not renormalise;
//! Kaggle's older scorers renormalise and clip to 1e-15: both are options here, and none is silent.

use crate::error::{MetricError, same_length};
use crate::sum::mean;

/// Clipping at the machine epsilon of a double: scikit-learn since 1.3.
pub const EPS_SKLEARN: f64 = f64::EPSILON;

/// Clipping at 1e-15: Kaggle's convention and that of the offline competitions.
pub const EPS_KAGGLE: f64 = 1e-15;

/// Mean over rows of `−Σ_c truth_c · ln(clip(p_c, eps, 1 − eps))`.
///
/// `truth` holds a row of class weights per sample, as a rule one 1 among zeros; `probabilities` a row of the same
/// width, renormalised beforehand with [`renormalise`] where the rules ask for it. Range 0 to ∞, lower is better.
/// Source: scikit-learn `log_loss`.
pub fn log_loss(truth: &[Vec<f64>], probabilities: &[Vec<f64>], eps: f64) -> Result<f64, MetricError> {
    same_length(truth.len(), probabilities.len())?;
    let mut losses = Vec::with_capacity(truth.len());
    for (row, (truth, probabilities)) in truth.iter().zip(probabilities).enumerate() {
        if truth.len() != probabilities.len() {
            return Err(MetricError::WidthMismatch {
                row,
                found: probabilities.len(),
                expected: truth.len(),
            });
        }
        check_probabilities(row, probabilities)?;
        losses.push(row_loss(truth.iter().copied().zip(probabilities.iter().copied()), eps));
    }
    Ok(mean(&losses))
}

/// [`log_loss`] of two classes, given the probability of the positive one.
pub fn binary_log_loss(truth: &[bool], probabilities: &[f64], eps: f64) -> Result<f64, MetricError> {
    same_length(truth.len(), probabilities.len())?;
    let mut losses = Vec::with_capacity(truth.len());
    for (row, (positive, probability)) in truth.iter().zip(probabilities).enumerate() {
        check_probabilities(row, std::slice::from_ref(probability))?;
        let hit = if *positive { *probability } else { 1.0 - probability };
        losses.push(row_loss(std::iter::once((1.0, hit)), eps));
    }
    Ok(mean(&losses))
}

/// Divides each row by its sum. A row that sums to zero or to no finite number is an error.
pub fn renormalise(rows: &mut [Vec<f64>]) -> Result<(), MetricError> {
    for (row, values) in rows.iter_mut().enumerate() {
        let sum: f64 = values.iter().sum();
        if !sum.is_finite() || sum <= 0.0 {
            return Err(MetricError::UnusableRowSum { row, sum });
        }
        values.iter_mut().for_each(|value| *value /= sum);
    }
    Ok(())
}

fn row_loss(cells: impl Iterator<Item = (f64, f64)>, eps: f64) -> f64 {
    let sum: f64 = cells
        .filter(|(weight, _)| *weight != 0.0)
        .map(|(weight, probability)| weight * probability.max(eps).min(1.0 - eps).ln())
        .sum();
    -sum
}

fn check_probabilities(row: usize, probabilities: &[f64]) -> Result<(), MetricError> {
    match probabilities.iter().find(|probability| !(0.0..=1.0).contains(*probability)) {
        None => Ok(()),
        Some(value) => Err(MetricError::PredictionOutOfDomain {
            metric: "log_loss",
            row,
            value: *value,
            domain: "0 to 1",
        }),
    }
}
