//! Metrics as pure functions over slices.
//!
//! Each function says its formula, range, direction and source, returns a typed error where its arguments make no
//! sense, and knows nothing of files, submissions or competitions. Scores may be NaN or infinite: those are values
//! here, and what they mean is the grader's business. Where scikit-learn has the metric, the function agrees with
//! version 1.9 of it, sums included ([`pairwise_sum`]).
//!
//! - classification: [`accuracy`], [`macro_f1`], [`micro_f1`], [`quadratic_weighted_kappa`]
//! - ranking of positives: [`roc_auc`], [`mean_column_auc`], [`weighted_roc_auc`], [`average_precision`]
//! - probabilities: [`log_loss`], [`cross_entropy`], [`binary_log_loss`]
//! - regression: [`rmse`], [`mae`], [`rmsle`], [`mape`], [`mean_poisson_deviance`]
//! - sequences and ranked lists: [`exact_match`], [`levenshtein`], [`mean_levenshtein`], [`map_at_k`]
//! - texts: [`TextDistance`], [`mean_text_distance`], [`edit_rate`]
//! - orders: [`pooled_kendall_tau`]; correlations: [`pearson`], [`scaled_pearson`], [`spearman`], [`matthews_correlation`]
//! - sets of labels: [`jaccard`], [`f1_from_counts`], [`label_weighted_ranking_precision`]
//! - probabilities beyond the losses: [`probabilistic_f1`], [`mean_kl_divergence`], [`weighted_log_loss`]
//! - directions and places: [`mean_angular_error`], [`haversine`], [`quantile`]
//! - masks: [`Mask`] and its [`decode_rle`], [`dice`], [`mask_iou`], [`mask_f_beta`], [`precision_over_thresholds`]; volumes:
//!   [`hausdorff`]
//! - boxes: [`box_iou`], [`match_boxes`], [`points_in_boxes`], [`envelope_average_precision`],
//!   [`coco_mean_average_precision`]; in space: [`Cuboid`]
//! - numbers as Python reads them: [`literal`]
//! - unintended bias: [`group_auc`], [`power_mean`]

mod auc;
mod bias;
mod boxes;
mod classification;
mod coco;
mod correlation;
mod cuboid;
mod distance;
mod edit_distance;
mod error;
mod few_edits;
mod hausdorff;
mod kappa;
pub mod literal;
mod log_loss;
mod mask;
mod multi_label;
mod order;
mod probabilistic;
mod regression;
mod rle;
mod scaled_pearson;
mod sequence;
mod sum;

pub use auc::{Band, average_precision, mean_column_auc, roc_auc, weighted_roc_auc};
pub use bias::{GroupAuc, group_auc, power_mean};
pub use boxes::{
    Corners, Counts, LabelledBox, LabelledPoint, box_iou, envelope_average_precision, harmonic_f1,
    match_boxes, points_in_boxes,
};
pub use classification::{accuracy, macro_f1, micro_f1};
pub use coco::{CocoDetection, CocoOptions, CocoTruth, coco_mean_average_precision};
pub use correlation::{average_ranks, matthews_correlation, pearson, spearman};
pub use cuboid::{Cuboid, CuboidError};
pub use distance::{
    Angles, Direction3, EARTH_RADIUS, Place, angle_between, haversine, mean_angular_error, quantile,
};
pub use edit_distance::{TextDistance, edit_rate, mean_text_distance};
pub use error::MetricError;
pub use hausdorff::{Volume, hausdorff};
pub use kappa::{kappa_of_ranks, quadratic_weighted_kappa};
pub use log_loss::{EPS_KAGGLE, EPS_SKLEARN, binary_log_loss, cross_entropy, log_loss, renormalise};
pub use mask::{
    IOU_THRESHOLDS, Mask, Run, dice, dice_of_counts, mask_f_beta, mask_iou, precision_over_thresholds,
};
pub use multi_label::{f1_from_counts, jaccard, label_weighted_ranking_precision};
pub use order::{inversions, pooled_kendall_tau};
pub use podium_types::direction::Direction;
pub use probabilistic::{ColumnWeight, mean_kl_divergence, probabilistic_f1, weighted_log_loss};
pub use regression::{mae, mape, mean_poisson_deviance, rmse, rmsle};
pub use rle::{RleError, RleQuirks, decode_rle, decode_rle_noting};
pub use scaled_pearson::scaled_pearson;
pub use sequence::{average_precision_at_k, exact_match, levenshtein, map_at_k, mean_levenshtein};
pub use sum::{mean, pairwise_sum};
