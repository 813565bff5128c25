//! Pearson's correlation in the form that withstands very large and very small numbers.

use crate::error::{MetricError, same_length};
use crate::sum::{mean, pairwise_sum};

/// [`pearson`](crate::pearson), computed so that its sums can neither overflow nor vanish: both columns centred and divided by their Euclidean norm, then multiplied and summed.
///
/// The norm is taken of values scaled by the largest, so that very large and very small data work. NaN when a column is
/// constant or holds a value that is not finite. Two rows give exactly 1 or −1; one row is an error. Range −1 to 1,
/// higher is better. Source: `scipy.stats.pearsonr`.
pub fn scaled_pearson(truth: &[f64], predicted: &[f64]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    if truth.len() < 2 {
        return Err(MetricError::TooFewRows { least: 2 });
    }
    let constant = |values: &[f64]| values.iter().all(|value| Some(value) == values.first());
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    if constant(truth) || constant(predicted) || !finite(truth) || !finite(predicted) {
        return Ok(f64::NAN);
    }
    if let ([x0, x1], [y0, y1]) = (truth, predicted) {
        return Ok((x1 - x0).signum() * (y1 - y0).signum());
    }
    let (left, right) = (directions(truth), directions(predicted));
    let products: Vec<f64> = left.iter().zip(&right).map(|(left, right)| left * right).collect();
    let correlation = pairwise_sum(&products);
    Ok(if correlation.is_nan() { correlation } else { correlation.clamp(-1.0, 1.0) })
}

/// Values minus their mean, divided by their norm.
fn directions(values: &[f64]) -> Vec<f64> {
    let centre = mean(values);
    let centred: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let largest = centred.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    let squares: Vec<f64> = centred.iter().map(|value| (value / largest) * (value / largest)).collect();
    let norm = largest * pairwise_sum(&squares).sqrt();
    centred.into_iter().map(|value| value / norm).collect()
}
