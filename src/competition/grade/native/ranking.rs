//! Predictions by confidence, in the order of Python's `sorted(…, reverse=True)`.
//!
//! The sort is stable. With NaN among the keys it is no order at all, but still a certain one: there Python's own sort is
//! repeated.

use std::cmp::Ordering;

use crate::grade::native::timsort;

/// Positions of the keys, highest first, equal keys in their order; NaN ranks where Python leaves it.
pub(crate) fn descending(keys: &[f64]) -> Vec<usize> {
    let key = |position: usize| keys.get(position).copied().unwrap_or(f64::NAN);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    if keys.iter().any(|key| key.is_nan()) {
        // Reversed, sorted upwards and reversed again, so that equal keys keep their order.
        order.reverse();
        timsort::sort(&mut order, |left, right| key(left) < key(right));
        order.reverse();
    } else {
        order.sort_by(|left, right| key(*right).partial_cmp(&key(*left)).unwrap_or(Ordering::Equal));
    }
    order
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

    /// As above, by a checksum: (length, step, every how many a NaN, sum of place times position).
    #[test]
    fn python_agrees_on_long_lists() {
        let table = [
            (64, 7919, 7, 81555),
            (65, 37, 5, 86723),
            (200, 7919, 3, 2_638_760),
            (1000, 31, 11, 333_036_033),
            (1000, 7919, 2, 333_333_000),
            (5000, 13, 97, 41_567_152_776),
        ];
        for (length, step, every, checksum) in table {
            let key = |place: usize| match place % every {
                rest if rest == every - 1 => f64::NAN,
                _ => (place * step % 101) as f64 / 8.0,
            };
            let order = descending(&(0..length).map(key).collect::<Vec<f64>>());
            let found: usize = order.iter().enumerate().map(|(place, position)| (place + 1) * position).sum();
            assert_eq!(found, checksum, "{length} {step} {every}");
        }
    }

    #[test]
    fn keys_with_an_order_are_sorted_as_by_any_stable_sort() {
        for length in [0, 1, 2, 63, 64, 65, 500, 3000] {
            let keys: Vec<u64> = (0..length).map(|place| place * place % 37 + place / 100 % 3).collect();
            let key = |position: usize| keys.get(position);
            let mut order: Vec<usize> = (0..keys.len()).collect();
            timsort::sort(&mut order, |left, right| key(left) < key(right));
            let mut stable: Vec<usize> = (0..keys.len()).collect();
            stable.sort_by_key(|position| key(*position));
            assert_eq!(order, stable, "{length}");
        }
    }
}
