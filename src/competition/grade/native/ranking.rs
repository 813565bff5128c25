//! Predictions by confidence, in the order of Python's `sorted(…, reverse=True)`.
//!
//! The sort is stable. With NaN among the keys it is no order at all, but still a certain one: for lists that Python
//! sorts by binary insertion (fewer than 64 entries) it is repeated here step by step.

use std::cmp::Ordering;

/// Python merges runs from this length on.
const INSERTION: usize = 64;

/// Positions of the keys, highest first, equal keys in their order. NaN ranks where Python leaves it in lists of fewer
/// than 64 entries, and last in longer ones.
pub(crate) fn descending(keys: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let key = |position: usize| keys.get(position).copied().unwrap_or(f64::NAN);
    if keys.len() < INSERTION && keys.iter().any(|key| key.is_nan()) {
        // Reversed, sorted upwards and reversed again, so that equal keys keep their order.
        order.reverse();
        insertion_sort(&mut order, |left, right| key(left) < key(right));
        order.reverse();
        return order;
    }
    order.sort_by(|left, right| {
        let (left, right) = (key(*left), key(*right));
        right.partial_cmp(&left).unwrap_or_else(|| match (left.is_nan(), right.is_nan()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => Ordering::Equal,
        })
    });
    order
}

/// The ascending sort of Python 3.11 for short lists: the run at the front, reversed where it falls strictly, then
/// binary insertion of the rest.
fn insertion_sort(order: &mut [usize], less: impl Fn(usize, usize) -> bool) {
    let falls = |pair: &[usize]| matches!(pair, [left, right] if less(*right, *left));
    let falling = order.windows(2).take_while(|pair| falls(pair)).count();
    let run = if falling > 0 {
        order.get_mut(..=falling).unwrap_or_default().reverse();
        falling + 1
    } else {
        order.windows(2).take_while(|pair| !falls(pair)).count() + 1
    };
    for start in run..order.len() {
        let (sorted, rest) = order.split_at(start);
        let Some(pivot) = rest.first() else { return };
        let (mut low, mut high) = (0, start);
        while low < high {
            let middle = low + (high - low) / 2;
            if sorted.get(middle).is_some_and(|other| less(*pivot, *other)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        order.get_mut(low..=start).unwrap_or_default().rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `sorted(range(len(keys)), key=keys.__getitem__, reverse=True)` of Python 3.11 gives.
    #[test]
    fn python_agrees() {
        const N: f64 = f64::NAN;
        let table: &[(&[f64], &[usize])] = &[
            (&[], &[]),
            (&[1.0], &[0]),
            (&[0.5, 0.5, 0.9], &[2, 0, 1]),
            (&[N, 1.0, 2.0], &[0, 2, 1]),
            (&[1.0, N, 2.0, 0.5], &[0, 1, 2, 3]),
            (&[3.0, 2.0, N, 5.0, 4.0, 2.0], &[0, 1, 2, 3, 4, 5]),
            (&[0.75, 0.75, 0.0, 0.25, 0.75, 0.5], &[0, 1, 4, 5, 3, 2]),
            (&[0.75, N, 0.5, 0.25], &[0, 1, 2, 3]),
            (&[0.0, 1.0, 0.5, 0.75, 0.75, 0.5], &[1, 3, 4, 2, 5, 0]),
            (&[1.0, 0.0, 0.0, 1.0, 0.0, 0.75, 0.5, 1.0, N], &[0, 3, 7, 5, 6, 1, 2, 4, 8]),
            (&[0.0, 0.75, N, 0.25], &[1, 0, 2, 3]),
            (&[0.25, 0.5, 0.75], &[2, 1, 0]),
            (&[1.0, 0.5, 0.5, 1.0, 0.75, 0.5, 0.0, 0.25, N], &[0, 3, 4, 1, 2, 5, 7, 6, 8]),
            (&[0.0, 0.5, 0.0], &[1, 0, 2]),
            (&[1.0, 0.5, 1.0, 0.25, 0.5, 0.75, 0.5], &[0, 2, 5, 1, 4, 6, 3]),
            (&[0.75, 0.75, 0.5, 0.75, 0.0, 0.25, 1.0, N], &[6, 0, 1, 3, 2, 5, 4, 7]),
            (&[0.75, 1.0, 1.0, 0.0, 1.0, 0.25, 0.75], &[1, 2, 4, 0, 6, 5, 3]),
            (&[1.0, 1.0, 0.0, 1.0], &[0, 1, 3, 2]),
            (&[0.25, N, N, 0.5, 1.0, 0.5, N], &[1, 2, 4, 3, 5, 0, 6]),
            (&[N, 0.5, 0.0, N, 0.25, 0.5, 0.5, N], &[0, 1, 3, 5, 6, 4, 2, 7]),
        ];
        for (keys, order) in table {
            assert_eq!(descending(keys), *order, "{keys:?}");
        }
    }

    #[test]
    fn long_lists_with_nan_are_sorted() {
        let mut keys = vec![0.5; 70];
        keys[3] = f64::NAN;
        keys[69] = 0.75;
        let order = descending(&keys);
        assert_eq!((order.first(), order.get(1), order.last()), (Some(&69), Some(&0), Some(&3)));
    }
}
