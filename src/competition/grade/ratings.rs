//! Cohen's kappa of ratings as scikit-learn computes it from columns of different types.
//!
//! It lists the ratings of both sides in one array. Where a column of decimal numbers takes part, or whole numbers within
//! and beyond the signed range meet, that is one of doubles: ratings that are one double stand in it several times, the
//! last of them stands for all, and a row whose rating is not exactly a double is left out.

use std::collections::BTreeSet;

use podium_metric as metric;
use podium_metric::MetricError;

use crate::csv::Column;
use crate::grade::sheet::Label;

/// The kappa of two columns' labels, all of them whole numbers.
pub(crate) fn kappa(
    truth: (&[Label<'_>], &Column),
    guess: (&[Label<'_>], &Column),
) -> Result<f64, MetricError> {
    let exact = |labels: &[Label<'_>]| labels.iter().all(|label| as_double(value(label)).is_some());
    if exact(truth.0) && exact(guess.0) || !in_doubles(truth, guess) {
        return metric::quadratic_weighted_kappa(truth.0, guess.0);
    }
    let ratings: BTreeSet<i128> = truth.0.iter().chain(guess.0).map(value).collect();
    let doubles: Vec<f64> = ratings.into_iter().map(nearest).collect();
    let rank = |label: &Label<'_>| {
        let double = as_double(value(label))?;
        doubles.partition_point(|rating| *rating <= double).checked_sub(1)
    };
    let (truths, guesses): (Vec<usize>, Vec<usize>) =
        truth.0.iter().zip(guess.0).filter_map(|(left, right)| Some((rank(left)?, rank(right)?))).unzip();
    Ok(metric::kappa_of_ranks(&truths, &guesses, doubles.len()))
}

/// Whether scikit-learn lists the ratings as doubles: those of the submission come first, and one that the answers hold
/// as well keeps its type. Booleans become numbers of the other side's type, whichever that is.
fn in_doubles(truth: (&[Label<'_>], &Column), guess: (&[Label<'_>], &Column)) -> bool {
    let known: BTreeSet<&Label<'_>> = guess.0.iter().collect();
    let more = truth.0.iter().any(|label| !known.contains(label));
    let columns: Vec<&Column> = std::iter::once(guess.1).chain(more.then_some(truth.1)).collect();
    let any = |kind: fn(&Column) -> bool| columns.iter().any(|column| kind(column));
    any(|column| matches!(column, Column::Float(_)))
        || any(|column| matches!(column, Column::Unsigned(_)))
            && any(|column| matches!(column, Column::Integer(_)))
}

fn value(label: &Label<'_>) -> i128 {
    match *label {
        Label::Whole(value) => i128::from(value),
        Label::Real(value) => i128::from(value),
        Label::Text(_) => 0,
    }
}

fn nearest(value: i128) -> f64 {
    value as f64
}

/// The double that a whole number is, if it is one.
#[expect(clippy::cast_possible_truncation, reason = "within 65 bits")]
pub(crate) fn as_double(value: i128) -> Option<f64> {
    Some(nearest(value)).filter(|double| *double as i128 == value)
}
