//! Metrics of probabilities against labels and against shares of votes. Unlike the logarithmic losses of `log_loss`,
//! these leave clipping to the caller where it is not part of the formula, because graders differ in it.

use crate::error::{MetricError, same_length};
use crate::sum::mean;

/// F1 in which a prediction counts by its probability: with `c = Σ p` over the positives and `f = Σ p` over the
/// negatives, precision `c / (c + f)`, recall `c / positives`, and their harmonic mean.
///
/// Predictions are expected within 0 to 1. 0 when precision or recall is not greater than 0, so a NaN anywhere makes
/// it 0. Range 0 to 1, higher is better. Source: Kaggle's `probabilistic-f-score` with β = 1.
pub fn probabilistic_f1(truth: &[bool], predicted: &[f64]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let (mut hits, mut false_alarms, mut positives) = (0.0, 0.0, 0u64);
    for (positive, probability) in truth.iter().zip(predicted) {
        if *positive {
            positives += 1;
            hits += probability;
        } else {
            false_alarms += probability;
        }
    }
    let (precision, recall) = (hits / (hits + false_alarms), hits / positives as f64);
    if precision > 0.0 && recall > 0.0 {
        return Ok(2.0 * (precision * recall) / (precision + recall));
    }
    Ok(0.0)
}

/// Mean over rows of `Σ_c t_c·ln(t_c / p_c)`, the information lost by `p`; a term with `t_c = 0` is 0.
///
/// Both matrices hold `classes` values per row and are taken as they are: nothing is clipped or normalised, `p_c = 0`
/// makes the score infinite, and a missing (NaN) `p_c` adds nothing. Range 0 to ∞ for rows that sum to 1, lower is
/// better. Source: Kullback and Leibler 1951; Kaggle's metric of this name.
pub fn mean_kl_divergence(truth: &[f64], predicted: &[f64], classes: usize) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    check_width(truth.len(), classes)?;
    let term = |(t, p): (&f64, &f64)| if *t == 0.0 { 0.0 } else { t * (t / p).ln() };
    let row = |(truth, predicted): (&[f64], &[f64])| {
        truth.iter().zip(predicted).map(term).filter(|term| !term.is_nan()).fold(0.0, |sum, term| sum + term)
    };
    let rows: Vec<f64> = truth.chunks_exact(classes).zip(predicted.chunks_exact(classes)).map(row).collect();
    Ok(mean(&rows))
}

/// What a column weighs in [`weighted_log_loss`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnWeight {
    /// Where the truth is 1.
    pub positive: f64,
    /// Where the truth is 0.
    pub negative: f64,
}

/// Mean over rows of the weighted mean over columns of `−(t·ln p + (1 − t)·ln(1 − p))`, `p` clipped to
/// `[eps, 1 − eps]`.
///
/// The weight of a cell depends on its column and on the truth in it: `t·positive + (1 − t)·negative`. Both matrices
/// hold one value per weight and row; a NaN makes the score NaN. Range 0 to ∞, lower is better. Source: the RSNA
/// cervical spine challenge of 2022.
pub fn weighted_log_loss(
    truth: &[f64],
    probabilities: &[f64],
    weights: &[ColumnWeight],
    eps: f64,
) -> Result<f64, MetricError> {
    same_length(truth.len(), probabilities.len())?;
    check_width(truth.len(), weights.len())?;
    let row = |(truth, probabilities): (&[f64], &[f64])| {
        let (mut losses, mut total) = (0.0, 0.0);
        for ((t, p), weight) in truth.iter().zip(probabilities).zip(weights) {
            // A NaN passes, as it does in `numpy.clip`.
            let p = if *p < eps {
                eps
            } else if *p > 1.0 - eps {
                1.0 - eps
            } else {
                *p
            };
            let loss = -(t * p.ln() + (1.0 - t) * (1.0 - p).ln());
            let weight = t * weight.positive + (1.0 - t) * weight.negative;
            losses += loss * weight;
            total += weight;
        }
        losses / total
    };
    let width = weights.len();
    let rows: Vec<f64> = truth.chunks_exact(width).zip(probabilities.chunks_exact(width)).map(row).collect();
    Ok(mean(&rows))
}

const fn check_width(values: usize, width: usize) -> Result<(), MetricError> {
    if width == 0 || !values.is_multiple_of(width) {
        let (row, found) = match (values.checked_div(width), values.checked_rem(width)) {
            (Some(row), Some(found)) => (row, found),
            _ => (0, values),
        };
        return Err(MetricError::WidthMismatch { row, found, expected: width });
    }
    Ok(())
}
