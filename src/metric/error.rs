//! What can be wrong with the arguments of a metric. A metric never panics and never guesses: slices of different
//! lengths, an empty sample or a value outside its domain is an error that says where.

/// Why a metric cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// There is nothing to score.
    #[error("no rows to score")]
    Empty,
    /// Truth and predictions differ in length.
    #[error("{predicted} predictions for {truth} true values")]
    LengthMismatch {
        /// Number of true values.
        truth: usize,
        /// Number of predictions.
        predicted: usize,
    },
    /// A matrix row has another width than the first.
    #[error("row {row} has {found} values where {expected} are expected")]
    WidthMismatch {
        /// Row, from 0.
        row: usize,
        /// Width found.
        found: usize,
        /// Width of the other rows.
        expected: usize,
    },
    /// A prediction lies outside the metric's domain.
    #[error("prediction {row} is {value}, outside the domain of {metric} ({domain})")]
    PredictionOutOfDomain {
        /// Name of the metric.
        metric: &'static str,
        /// Row, from 0.
        row: usize,
        /// The value.
        value: f64,
        /// What is allowed.
        domain: &'static str,
    },
    /// A true value lies outside the metric's domain.
    #[error("true value {row} is outside the domain of {metric} ({domain})")]
    TruthOutOfDomain {
        /// Name of the metric.
        metric: &'static str,
        /// Row, from 0.
        row: usize,
        /// What is allowed.
        domain: &'static str,
    },
    /// A row of probabilities sums to zero or to no number, so that it cannot be renormalised.
    #[error("the probabilities of row {row} sum to {sum}")]
    UnusableRowSum {
        /// Row, from 0.
        row: usize,
        /// Their sum.
        sum: f64,
    },
    /// The metric needs more rows.
    #[error("at least {least} rows are needed")]
    TooFewRows {
        /// How many at least.
        least: usize,
    },
    /// `k` is zero.
    #[error("k is zero")]
    ZeroK,
}

/// Checks that there is something to score and that both sides are of one length.
pub(crate) const fn same_length(truth: usize, predicted: usize) -> Result<(), MetricError> {
    if truth != predicted {
        return Err(MetricError::LengthMismatch { truth, predicted });
    }
    if truth == 0 {
        return Err(MetricError::Empty);
    }
    Ok(())
}
