//! Agreement of orders: how far two orders of the same items are apart.

use crate::error::MetricError;

/// Number of pairs that stand in the wrong order: `#{(i, j): i < j, a_i > a_j}`. Equal values are in order.
///
/// Time `n·log n`.
pub fn inversions<T: PartialOrd + Copy>(values: &[T]) -> u64 {
    let mut sorted = values.to_vec();
    let mut spare = Vec::with_capacity(values.len());
    let (mut total, mut width) = (0, 1);
    while width < sorted.len() {
        spare.clear();
        for pair in sorted.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            total += merge(left, right, &mut spare);
        }
        std::mem::swap(&mut sorted, &mut spare);
        width *= 2;
    }
    total
}

/// Merges two sorted runs behind `merged` and counts the pairs that change places.
fn merge<T: PartialOrd + Copy>(left: &[T], right: &[T], merged: &mut Vec<T>) -> u64 {
    let mut crossings = 0;
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(first), Some(second)) if first > second => {
                crossings += left.len() as u64;
                merged.extend(right.next());
            }
            (Some(_), _) => merged.extend(left.next()),
            (None, Some(_)) => merged.extend(right.next()),
            (None, None) => return crossings,
        }
    }
}

/// Kendall's tau over many lists at once: `1 − 4·Σ inversions / Σ n·(n − 1)`.
///
/// Each list holds, in the true order, the predicted position of each item. One ratio of sums, not a mean of ratios,
/// so that long lists weigh more; a list of one item has no weight. NaN when no list has two items. Range −1 to 1,
/// higher is better. Source: Kaggle's `AI4Code`.
pub fn pooled_kendall_tau<L: AsRef<[usize]>>(lists: &[L]) -> Result<f64, MetricError> {
    if lists.is_empty() {
        return Err(MetricError::Empty);
    }
    let (mut wrong, mut most) = (0u64, 0u64);
    for list in lists.iter().map(AsRef::as_ref) {
        wrong += inversions(list);
        let items = list.len() as u64;
        most += items * items.saturating_sub(1);
    }
    Ok(1.0 - (4 * wrong) as f64 / most as f64)
}
