//! Agreement of two raters beyond chance.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{MetricError, same_length};
use crate::sum::pairwise_sum;

/// Up to so many ratings the chance agreement is summed over the whole matrix, to agree with scikit-learn to the last
/// bit; beyond, by the expanded formula, which needs no matrix.
const MATRIX: usize = 1024;

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
    let rank = |label: &T| ranks.get(label).copied().unwrap_or_default();
    let truth: Vec<usize> = truth.iter().map(rank).collect();
    let predicted: Vec<usize> = predicted.iter().map(rank).collect();
    Ok(kappa_of_ranks(&truth, &predicted, ranks.len()))
}

/// [`quadratic_weighted_kappa`] of ranks below `ranks`, some of which need not occur; NaN of no rows.
///
/// Both slices are of one length; rows beyond the shorter one do not count.
pub fn kappa_of_ranks(truth: &[usize], predicted: &[usize], ranks: usize) -> f64 {
    let rows = truth.len().min(predicted.len()) as f64;
    let mut observed = 0.0;
    for (left, right) in truth.iter().zip(predicted) {
        // Sums of integers are exact far beyond any test set's size.
        observed += square(*left, *right);
    }
    let (truths, guesses) = (counts(truth, ranks), counts(predicted, ranks));
    let expected = if ranks <= MATRIX {
        let mut cells = Vec::with_capacity(ranks * ranks);
        for (row, left) in truths.iter().enumerate() {
            cells.extend(
                guesses.iter().enumerate().map(|(column, right)| square(row, column) * (left * right / rows)),
            );
        }
        pairwise_sum(&cells)
    } else {
        let moments = |counts: &[f64]| {
            counts.iter().enumerate().fold((0.0, 0.0), |(first, second), (rank, count)| {
                (first + rank as f64 * count, second + (rank as f64).powi(2) * count)
            })
        };
        let ((truth_sum, truth_squares), (guess_sum, guess_squares)) = (moments(&truths), moments(&guesses));
        truth_squares + guess_squares - 2.0 * truth_sum * guess_sum / rows
    };
    if expected == 0.0 { f64::NAN } else { 1.0 - observed / expected }
}

fn square(left: usize, right: usize) -> f64 {
    (left.abs_diff(right) as f64).powi(2)
}

fn counts(ranks: &[usize], size: usize) -> Vec<f64> {
    let mut counts = vec![0.0; size];
    for rank in ranks {
        if let Some(count) = counts.get_mut(*rank) {
            *count += 1.0;
        }
    }
    counts
}
