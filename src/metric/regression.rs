//! Metrics of numbers. Infinite predictions are not refused here: an infinite score is a score, and the grader
//! decides what a submission may hold.

use crate::error::{MetricError, same_length};
use crate::sum::mean;

fn mean_of(truth: &[f64], predicted: &[f64], part: impl Fn(f64, f64) -> f64) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let parts: Vec<f64> = truth.iter().zip(predicted).map(|(left, right)| part(*left, *right)).collect();
    Ok(mean(&parts))
}

fn check(
    truth: &[f64],
    predicted: &[f64],
    metric: &'static str,
    (truth_ok, truth_domain): (impl Fn(f64) -> bool, &'static str),
    (predicted_ok, predicted_domain): (impl Fn(f64) -> bool, &'static str),
) -> Result<(), MetricError> {
    if let Some(row) = truth.iter().position(|value| !truth_ok(*value)) {
        return Err(MetricError::TruthOutOfDomain { metric, row, domain: truth_domain });
    }
    match predicted.iter().copied().enumerate().find(|(_, value)| !predicted_ok(*value)) {
        None => Ok(()),
        Some((row, value)) => {
            Err(MetricError::PredictionOutOfDomain { metric, row, value, domain: predicted_domain })
        }
    }
}

/// Root mean squared error: `√(Σ (t − p)² / n)`.
///
/// Range 0 to ∞, lower is better. Source: scikit-learn `root_mean_squared_error`.
pub fn rmse(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    Ok(mean_of(truth, predicted, |t, p| (t - p) * (t - p))?.sqrt())
}

/// Mean absolute error: `Σ |t − p| / n`.
///
/// Range 0 to ∞, lower is better. Source: scikit-learn `mean_absolute_error`.
pub fn mae(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    mean_of(truth, predicted, |t, p| (t - p).abs())
}

/// Root mean squared logarithmic error: `√(Σ (ln(1 + t) − ln(1 + p))² / n)`.
///
/// Values must exceed −1. Range 0 to ∞, lower is better. Source: scikit-learn `root_mean_squared_log_error`.
pub fn rmsle(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    let domain = (|value: f64| value > -1.0, "greater than -1");
    check(truth, predicted, "rmsle", domain, domain)?;
    Ok(mean_of(truth, predicted, |t, p| (t.ln_1p() - p.ln_1p()).powi(2))?.sqrt())
}

/// Mean absolute percentage error: `Σ |t − p| / max(|t|, ε) / n`, a share and no percentage.
///
/// `ε` is the machine epsilon, so a true zero makes it huge. Range 0 to ∞, lower is better.
/// Source: scikit-learn `mean_absolute_percentage_error`.
pub fn mape(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    mean_of(truth, predicted, |t, p| (t - p).abs() / t.abs().max(f64::EPSILON))
}

/// Mean Poisson deviance: `2·Σ (t·ln(t / p) − t + p) / n`, with `0·ln 0 = 0`.
///
/// True values must be at least 0, predictions greater than 0. Range 0 to ∞, lower is better.
/// Source: scikit-learn `mean_poisson_deviance`.
pub fn mean_poisson_deviance(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    let at_least_zero = (|value: f64| value >= 0.0, "at least 0");
    let positive = (|value: f64| value > 0.0, "greater than 0");
    check(truth, predicted, "mean_poisson_deviance", at_least_zero, positive)?;
    mean_of(truth, predicted, |t, p| {
        let log = if t == 0.0 { 0.0 } else { t * (t / p).ln() };
        2.0 * (log - t + p)
    })
}
