//! Metrics as pure functions over slices.
//!
//! Each function says its formula, range, direction and source, returns a typed error where its arguments make no
//! sense, and knows nothing of files, submissions or competitions. Scores may be NaN or infinite: those are values
//! here, and what they mean is the grader's business. Where scikit-learn has the metric, the function agrees with
//! version 1.9 of it, sums included ([`pairwise_sum`]).
//!
//! - classification: [`accuracy`], [`macro_f1`], [`micro_f1`], [`quadratic_weighted_kappa`]
//! - ranking of positives: [`roc_auc`], [`mean_column_auc`], [`average_precision`]
//! - probabilities: [`log_loss`], [`cross_entropy`], [`binary_log_loss`]
//! - regression: [`rmse`], [`mae`], [`rmsle`], [`mape`], [`mean_poisson_deviance`]
//! - correlation: [`pearson`]
//! - sequences and ranked lists: [`exact_match`], [`levenshtein`], [`mean_levenshtein`], [`map_at_k`]

mod auc;
mod classification;
mod correlation;
mod error;
mod log_loss;
mod regression;
mod sequence;
mod sum;

pub use auc::{average_precision, mean_column_auc, roc_auc};
pub use classification::{accuracy, macro_f1, micro_f1, quadratic_weighted_kappa};
pub use correlation::pearson;
pub use error::MetricError;
pub use log_loss::{EPS_KAGGLE, EPS_SKLEARN, binary_log_loss, cross_entropy, log_loss, renormalise};
pub use podium_types::direction::Direction;
pub use regression::{mae, mape, mean_poisson_deviance, rmse, rmsle};
pub use sequence::{average_precision_at_k, exact_match, levenshtein, map_at_k, mean_levenshtein};
pub use sum::{mean, pairwise_sum};
