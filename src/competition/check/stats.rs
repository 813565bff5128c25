//! The few figures that the checks need. All are of pairs in which nothing is missing.

use std::collections::BTreeMap;

/// Ranks from 0, ties sharing their mean.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut ranks = vec![0.0; values.len()];
    for (start, end) in runs(&order) {
        let mean = (start + end - 1) as f64 / 2.0;
        for (_, place) in order.get(start..end).unwrap_or_default() {
            if let Some(rank) = ranks.get_mut(*place) {
                *rank = mean;
            }
        }
    }
    ranks
}

/// Stretches of equal values.
fn runs(order: &[(f64, usize)]) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = 0;
    for place in 1..=order.len() {
        let differs =
            order.get(place).map(|next| next.0.to_bits()) != order.get(start).map(|first| first.0.to_bits());
        if differs {
            runs.push((start, place));
            start = place;
        }
    }
    runs
}

/// Pearson's correlation; 0 where one of them does not vary.
pub(super) fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let n = left.len().min(right.len()).max(1) as f64;
    let (mean_left, mean_right) = (left.iter().sum::<f64>() / n, right.iter().sum::<f64>() / n);
    let (mut both, mut one, mut other) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (left - mean_left, right - mean_right);
        both += left * right;
        one += left * left;
        other += right * right;
    }
    if one > 0.0 && other > 0.0 { both / (one * other).sqrt() } else { 0.0 }
}

/// The correlation of ranks.
pub(super) fn rank_correlation(left: &[f64], right: &[f64]) -> f64 {
    correlation(&ranks(left), &ranks(right))
}

/// How often neighbours have the same class, in excess of chance: the excess as a share, and in standard deviations.
pub(super) fn alike(classes: &[u32]) -> (f64, f64) {
    let n = classes.len();
    if n < 3 {
        return (0.0, 0.0);
    }
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for class in classes {
        *counts.entry(*class).or_default() += 1;
    }
    let chance: f64 = counts.values().map(|count| (*count as f64 / n as f64).powi(2)).sum();
    let pairs = (n - 1) as f64;
    let same = classes.windows(2).filter(|pair| pair.first() == pair.last()).count() as f64;
    let deviation = (pairs * chance * (1.0 - chance)).sqrt().max(1e-9);
    (same / pairs - chance, (same - pairs * chance) / deviation)
}

/// The share of a number's variance that its group explains, corrected for the number of groups.
pub(super) fn explained(groups: &[u32], values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (group, value) in groups.iter().zip(values) {
        let entry = sums.entry(*group).or_default();
        entry.0 += value;
        entry.1 += 1.0;
    }
    let total: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let between: f64 = sums.values().map(|(sum, count)| count * (sum / count - mean).powi(2)).sum();
    let free = n - sums.len() as f64;
    if total <= 0.0 || free < 1.0 {
        return 0.0;
    }
    1.0 - (total - between) / free / (total / (n - 1.0))
}

/// How often the most frequent class of a cell, learnt from every other row, is right on the rest, beyond always saying
/// the most frequent class of all: 1 is always, 0 no better.
pub(super) fn class_skill(cells: &[u32], classes: &[u32]) -> f64 {
    let mut counts: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut all: BTreeMap<u32, u64> = BTreeMap::new();
    let rows = || cells.iter().zip(classes).enumerate();
    for (_, (cell, class)) in rows().filter(|(place, _)| place % 2 == 0) {
        *counts.entry(*cell).or_default().entry(*class).or_default() += 1;
        *all.entry(*class).or_default() += 1;
    }
    let most =
        |counts: &BTreeMap<u32, u64>| counts.iter().max_by_key(|(_, count)| **count).map(|(class, _)| *class);
    let usual = most(&all);
    let (mut right, mut plain, mut judged) = (0.0, 0.0, 0.0);
    for (_, (cell, class)) in rows().filter(|(place, _)| place % 2 == 1) {
        let guess = counts.get(cell).and_then(most).or(usual);
        right += f64::from(u8::from(guess == Some(*class)));
        plain += f64::from(u8::from(usual == Some(*class)));
        judged += 1.0;
    }
    if judged > plain { (right - plain) / (judged - plain) } else { 0.0 }
}

/// The same for a number: how often the row with the next smaller number has the same class.
pub(super) fn neighbour_skill(values: &[f64], classes: &[u32]) -> f64 {
    let mut order: Vec<(f64, u32)> = values.iter().copied().zip(classes.iter().copied()).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for class in classes {
        *counts.entry(*class).or_default() += 1;
    }
    let pairs = order.len().saturating_sub(1) as f64;
    let alike = |pair: &&[(f64, u32)]| matches!(pair, [one, other] if one.1 == other.1);
    let right = order.windows(2).filter(alike).count() as f64;
    let usual = counts.values().copied().max().unwrap_or(0) as f64;
    let plain = usual / classes.len().max(1) as f64 * pairs;
    if pairs > plain { (right - plain) / (pairs - plain) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_what_they_are() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 10.0, 100.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert!(correlation(&[1.0, 1.0], &[2.0, 4.0]).abs() < 1e-12);
        let (excess, deviations) = alike(&[1, 1, 1, 1, 2, 2, 2, 2]);
        assert!(excess > 0.3 && deviations > 1.5);
        assert!(explained(&[1, 1, 2, 2, 3, 3], &[1.0, 1.0, 5.0, 5.0, 9.0, 9.0]) > 0.999);
        assert!(class_skill(&[1, 1, 2, 2, 1, 1, 2, 2], &[5, 5, 6, 6, 5, 5, 6, 6]) > 0.999);
        let classes: Vec<u32> = (0..100).map(|row| u32::from(row < 40)).collect();
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(neighbour_skill(&values, &classes) > 0.97);
        assert!(
            neighbour_skill(
                &classes.iter().map(|class| f64::from(*class)).collect::<Vec<_>>(),
                &[1, 0].repeat(50)
            ) < 0.1
        );
    }
}
