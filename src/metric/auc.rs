//! Metrics of a ranking of positives before negatives: areas under the ROC curve and average precision.
//! All treat equal scores as one step, whatever the order of the rows. Areas are summed by trapezoids along
//! scikit-learn's curve, so that they agree with it to the last bit.

use crate::error::{MetricError, same_length};
use crate::sum::{mean, pairwise_sum};

/// Area under the ROC curve: the chance that a positive scores above a negative, ties counting one half.
///
/// NaN when the truth holds one class only (as scikit-learn 1.9 returns, with a warning). Range 0 to 1, higher is
/// better. Source: scikit-learn `roc_auc_score`.
pub fn roc_auc(truth: &[bool], scores: &[f64]) -> Result<f64, MetricError> {
    let curve = Curve::of(truth, scores, "roc_auc")?;
    if curve.positives.is_empty() || curve.negatives.is_empty() {
        return Ok(f64::NAN);
    }
    Ok(trapezoids(curve.points()))
}

/// Mean of [`roc_auc`] over columns; NaN as soon as one column is.
///
/// Range 0 to 1, higher is better. Source: scikit-learn `roc_auc_score(average="macro")` on label indicators.
pub fn mean_column_auc(truth: &[Vec<bool>], scores: &[Vec<f64>]) -> Result<f64, MetricError> {
    same_length(truth.len(), scores.len())?;
    let columns: Result<Vec<f64>, _> =
        truth.iter().zip(scores).map(|(truth, scores)| roc_auc(truth, scores)).collect();
    Ok(mean(&columns?))
}

/// A band of true positive rates with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Lower end, 0 to 1.
    pub from: f64,
    /// Upper end, above the lower one.
    pub to: f64,
    /// Weight of the area in it.
    pub weight: f64,
}

/// Area under the ROC curve with horizontal bands of weights: `Σ w·area / Σ w·height`.
///
/// A band's area is that of the curve's points in it, lowered to the band's foot and closed at false positive rate 1; the
/// curve is interpolated where a band ends between two points. NaN without negatives, 0 without positives. Range 0 to
/// 1, higher is better. Source: the metric of Kaggle's ALASKA2 competition.
pub fn weighted_roc_auc(truth: &[bool], scores: &[f64], bands: &[Band]) -> Result<f64, MetricError> {
    let curve = Curve::of(truth, scores, "weighted_roc_auc")?;
    if curve.positives.is_empty() {
        return Ok(0.0);
    }
    if curve.negatives.is_empty() {
        return Ok(f64::NAN);
    }
    let mut points: Vec<(f64, f64)> = curve.points().collect();
    for height in bands.iter().flat_map(|band| [band.from, band.to]) {
        insert_height(&mut points, height);
    }
    let mut areas = 0.0;
    let mut normal = 0.0;
    for band in bands {
        let mut part: Vec<(f64, f64)> = points
            .iter()
            .filter(|(_, height)| (band.from..=band.to).contains(height))
            .map(|(width, height)| (*width, height - band.from))
            .collect();
        part.push((1.0, band.to - band.from));
        areas += band.weight * trapezoids(part.into_iter());
        normal += band.weight * (band.to - band.from);
    }
    Ok(areas / normal)
}

/// Adds the point of the curve at a height that none of its points has.
fn insert_height(points: &mut Vec<(f64, f64)>, height: f64) {
    let Some(after) = points.iter().position(|point| point.1 >= height) else { return };
    let (Some(upper), Some(lower)) =
        (points.get(after).copied(), after.checked_sub(1).and_then(|before| points.get(before).copied()))
    else {
        return;
    };
    if upper.1 > height {
        let slope = (upper.0 - lower.0) / (upper.1 - lower.1);
        points.insert(after, (lower.0 + slope * (height - lower.1), height));
    }
}

/// Average precision: `Σ (R_k − R_{k−1})·P_k` over the distinct scores from the highest down.
///
/// 0 when there is no positive. Range 0 to 1, higher is better. Source: scikit-learn `average_precision_score`.
pub fn average_precision(truth: &[bool], scores: &[f64]) -> Result<f64, MetricError> {
    let order = descending(truth, scores, "average_precision")?;
    let positives = truth.iter().filter(|positive| **positive).count();
    if positives == 0 {
        return Ok(0.0);
    }
    let (mut total, mut hits_so_far, mut seen) = (0.0, 0u64, 0u64);
    for_each_tie(&order, |hits, misses| {
        hits_so_far += hits;
        seen += hits + misses;
        total += hits as f64 / positives as f64 * (hits_so_far as f64 / seen as f64);
    });
    Ok(total)
}

/// A ROC curve: the scores of positives and those of negatives, highest first. Its steps are told from them and not
/// written down, for they may be as many as the rows.
struct Curve {
    positives: Vec<f64>,
    negatives: Vec<f64>,
}

impl Curve {
    fn of(truth: &[bool], scores: &[f64], metric: &'static str) -> Result<Self, MetricError> {
        comparable(truth, scores, metric)?;
        let positives = truth.iter().filter(|positive| **positive).count();
        let side = |wanted: bool, count: usize| {
            let rows = scores.iter().zip(truth).filter(|(_, positive)| **positive == wanted);
            let mut side = Vec::with_capacity(count);
            side.extend(rows.map(|(score, _)| unsigned_zero(*score)));
            side.sort_unstable_by(|left, right| right.total_cmp(left));
            side
        };
        Ok(Self { positives: side(true, positives), negatives: side(false, truth.len() - positives) })
    }

    /// After each distinct score, false and true positives so far.
    fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        let (mut negatives, mut positives) = (self.negatives.as_slice(), self.positives.as_slice());
        std::iter::from_fn(move || {
            let score = match (negatives, positives) {
                ([], []) => return None,
                ([one, ..], []) | ([], [one, ..]) => *one,
                ([one, ..], [other, ..]) => one.max(*other),
            };
            negatives = below(negatives, score);
            positives = below(positives, score);
            Some((self.negatives.len() - negatives.len(), self.positives.len() - positives.len()))
        })
    }

    /// Points of the curve as rates, from (0, 0). As in scikit-learn, a point is dropped when the steps before and
    /// after it are equal; the first step is always kept.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let rate = |(negatives, positives): (usize, usize)| {
            (negatives as f64 / self.negatives.len() as f64, positives as f64 / self.positives.len() as f64)
        };
        let (mut steps, mut before) = (self.steps().peekable(), None::<(usize, usize)>);
        let bends = std::iter::from_fn(move || {
            loop {
                let here = steps.next()?;
                let straight = before.replace(here).zip(steps.peek()).is_some_and(|(before, after)| {
                    here.0 - before.0 == after.0 - here.0 && here.1 - before.1 == after.1 - here.1
                });
                if !straight {
                    return Some(rate(here));
                }
            }
        });
        std::iter::once((0.0, 0.0)).chain(bends)
    }
}

/// What is left of scores, highest first, behind those that equal the first.
fn below(scores: &[f64], score: f64) -> &[f64] {
    let equal = scores.iter().take_while(|other| other.total_cmp(&score).is_eq()).count();
    scores.get(equal..).unwrap_or_default()
}

/// Area below points that go from left to right.
fn trapezoids(mut points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let Some(mut left) = points.next() else { return 0.0 };
    let parts: Vec<f64> = points
        .map(|right| {
            let left = std::mem::replace(&mut left, right);
            (right.0 - left.0) * (right.1 + left.1) / 2.0
        })
        .collect();
    pairwise_sum(&parts)
}

/// Both sides are of one length, and no score is NaN; infinities are scores.
fn comparable(truth: &[bool], scores: &[f64], metric: &'static str) -> Result<(), MetricError> {
    same_length(truth.len(), scores.len())?;
    match scores.iter().copied().enumerate().find(|(_, score)| score.is_nan()) {
        Some((row, value)) => {
            Err(MetricError::PredictionOutOfDomain { metric, row, value, domain: "numbers" })
        }
        None => Ok(()),
    }
}

/// −0 as +0, which the total order would tell apart.
fn unsigned_zero(score: f64) -> f64 {
    score + 0.0
}

/// Rows as (score, positive), highest score first.
fn descending(truth: &[bool], scores: &[f64], metric: &'static str) -> Result<Vec<(f64, bool)>, MetricError> {
    comparable(truth, scores, metric)?;
    let mut order: Vec<(f64, bool)> =
        scores.iter().zip(truth).map(|(score, positive)| (unsigned_zero(*score), *positive)).collect();
    order.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    Ok(order)
}

fn for_each_tie(order: &[(f64, bool)], mut visit: impl FnMut(u64, u64)) {
    for tie in order.chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq()) {
        let hits = tie.iter().filter(|(_, positive)| *positive).count();
        visit(hits as u64, (tie.len() - hits) as u64);
    }
}
