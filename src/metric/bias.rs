//! Unintended bias: how well positives are ranked before negatives among the rows that mention a group, and against
//! the rows that do not.

use crate::auc::roc_auc;
use crate::error::{MetricError, same_length};

/// Generalised mean: `(Σ x^p / n)^(1/p)`. Negative powers lean towards the worst value; with one, a 0 gives 0.
///
/// NaN where a value is one, and of nothing. Source: Hardy, Littlewood and Pólya.
pub fn power_mean(values: &[f64], power: f64) -> f64 {
    let sum: f64 = values.iter().fold(0.0, |sum, value| sum + value.powf(power));
    (sum / values.len() as f64).powf(power.recip())
}

/// The three areas of one group. Each is [`roc_auc`] of a part of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupAuc {
    /// Of the rows that mention the group.
    pub subgroup: f64,
    /// Of the negatives that mention it and the positives that do not.
    pub background_positive: f64,
    /// Of the positives that mention it and the negatives that do not.
    pub background_negative: f64,
}

/// The areas of a group; an error where one of the parts has no row.
///
/// Range 0 to 1 each, higher is better, NaN where a part holds one class only. Source: Borkan et al. 2019.
pub fn group_auc(truth: &[bool], scores: &[f64], group: &[bool]) -> Result<GroupAuc, MetricError> {
    same_length(truth.len(), scores.len())?;
    same_length(truth.len(), group.len())?;
    let part = |chosen: &dyn Fn(bool, bool) -> bool| {
        let rows = truth.iter().zip(scores).zip(group).filter(|((truth, _), group)| chosen(**truth, **group));
        let (truth, scores): (Vec<bool>, Vec<f64>) = rows.map(|((truth, score), _)| (*truth, *score)).unzip();
        roc_auc(&truth, &scores)
    };
    Ok(GroupAuc {
        subgroup: part(&|_, group| group)?,
        background_positive: part(&|truth, group| truth != group)?,
        background_negative: part(&|truth, group| truth == group)?,
    })
}
