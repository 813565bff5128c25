//! Texts, orders, label sets and correlations against slow formulas written another way.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::naive_bytecount,
    reason = "helpers of tests may be as blunt as tests"
)]

use std::collections::BTreeSet;

use podium_metric::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn close(left: f64, right: f64) -> bool {
    (left.is_nan() && right.is_nan()) || (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}

/// Characters that repeat often, of one and of several bytes.
fn text(longest: usize) -> impl Strategy<Value = String> {
    vec(prop::sample::select(vec!['a', 'b', 'c', ' ', 'é', 'è', '\u{a9}', 'क', '𝔸', '\0']), 0..longest)
        .prop_map(|characters| characters.into_iter().collect())
}

fn characters(text: &str) -> Vec<char> {
    text.chars().collect()
}

/// How often each pair of labels meets, by definition of the multi-class coefficient over indicator columns.
fn slow_matthews(truth: &[u8], guess: &[u8]) -> f64 {
    let classes: BTreeSet<u8> = truth.iter().chain(guess).copied().collect();
    let covariance = |left: &[u8], right: &[u8]| -> f64 {
        let share = |labels: &[u8], class: u8| {
            labels.iter().filter(|label| **label == class).count() as f64 / labels.len() as f64
        };
        classes
            .iter()
            .map(|class| {
                let both = left.iter().zip(right).filter(|(l, r)| **l == *class && **r == *class).count();
                both as f64 / left.len() as f64 - share(left, *class) * share(right, *class)
            })
            .sum()
    };
    let spread = covariance(truth, truth) * covariance(guess, guess);
    if spread <= 1e-15 { 0.0 } else { covariance(truth, guess) / spread.sqrt() }
}

fn slow_ranking_precision(truth: &[bool], scores: &[f64], classes: usize) -> f64 {
    let (mut total, mut labels) = (0.0, 0.0);
    for row in 0..truth.len() / classes {
        let of = |class: usize| (truth[row * classes + class], scores[row * classes + class]);
        for class in (0..classes).filter(|class| of(*class).0) {
            let above: Vec<usize> = (0..classes).filter(|other| of(*other).1 >= of(class).1).collect();
            total += above.iter().filter(|other| of(**other).0).count() as f64 / above.len() as f64;
            labels += 1.0;
        }
    }
    total / labels
}

proptest! {
    #[test]
    fn texts(left in text(150), right in text(150), middle in text(150)) {
        let mut distance = TextDistance::new();
        let found = distance.between(&left, &right);
        prop_assert_eq!(found, levenshtein(&characters(&left), &characters(&right)));
        prop_assert_eq!(found, distance.between(&right, &left));
        let (one, two) = (distance.between(&left, &middle), distance.between(&middle, &right));
        prop_assert!(found <= one + two);
        let mean = mean_text_distance(&[&left, &left], &[&right, &left]).unwrap();
        prop_assert!(close(mean, found as f64 / 2.0));
        let rate = edit_rate(&[characters(&left)], &[characters(&right)]).unwrap();
        prop_assert!(close(rate * left.chars().count() as f64, found as f64) || left.is_empty());
    }

    #[test]
    fn small_edits_of_long_texts(left in text(400), cut in 0usize..400, put in text(4)) {
        let mut right = characters(&left);
        let cut = cut.min(right.len());
        right.splice(cut..(cut + 2).min(left.chars().count()), put.chars());
        let right: String = right.into_iter().collect();
        let expected = levenshtein(&characters(&left), &characters(&right));
        prop_assert_eq!(TextDistance::new().between(&left, &right), expected);
    }

    #[test]
    fn orders(values in vec(0usize..30, 0..40), other in vec(0usize..30, 0..40)) {
        let slow = |values: &[usize]| -> u64 {
            (0..values.len())
                .map(|i| values[i + 1..].iter().filter(|later| values[i] > **later).count() as u64)
                .sum()
        };
        prop_assert_eq!(inversions(&values), slow(&values));
        let pairs = |values: &[usize]| (values.len() * values.len().saturating_sub(1)) as f64;
        let expected = 1.0 - 4.0 * (slow(&values) + slow(&other)) as f64 / (pairs(&values) + pairs(&other));
        prop_assert!(close(pooled_kendall_tau(&[values, other]).unwrap(), expected));
    }

    #[test]
    fn word_sets(left in vec(0u8..8, 0..10), right in vec(0u8..8, 0..10)) {
        let has = |items: &[u8], item: u8| items.contains(&item);
        let both = (0..8).filter(|item| has(&left, *item) && has(&right, *item)).count();
        let either = (0..8).filter(|item| has(&left, *item) || has(&right, *item)).count();
        prop_assert_eq!(jaccard(&left, &right), (either > 0).then(|| both as f64 / either as f64));
        let sets: Vec<BTreeSet<u8>> = [&left, &right].map(|items| items.iter().copied().collect()).to_vec();
        let counted = f1_from_counts(both as u64, sets[0].len() as u64, sets[1].len() as u64);
        prop_assert!(close(counted, micro_f1(&[left], &[right]).unwrap()));
    }

    #[test]
    fn ranked_labels(rows in vec((vec(any::<bool>(), 5), vec(0u8..4, 5)), 1..12)) {
        let truth: Vec<bool> = rows.iter().flat_map(|(truth, _)| truth.clone()).collect();
        let scores: Vec<f64> =
            rows.iter().flat_map(|(_, scores)| scores.iter().map(|score| f64::from(*score))).collect();
        let found = label_weighted_ranking_precision(&truth, &scores, 5).unwrap();
        prop_assert!(close(found, slow_ranking_precision(&truth, &scores, 5)));
    }

    #[test]
    fn label_correlation(rows in vec((0u8..4, 0u8..4), 1..60)) {
        let (truth, guess): (Vec<u8>, Vec<u8>) = rows.into_iter().unzip();
        prop_assert!(close(matthews_correlation(&truth, &guess).unwrap(), slow_matthews(&truth, &guess)));
    }

    #[test]
    fn rank_correlation(rows in vec((0u8..6, -5i8..5), 2..60)) {
        let truth: Vec<f64> = rows.iter().map(|(truth, _)| f64::from(*truth)).collect();
        let guess: Vec<f64> = rows.iter().map(|(_, guess)| f64::from(*guess)).collect();
        for values in [&truth, &guess] {
            let slow: Vec<f64> = values
                .iter()
                .map(|value| {
                    let below = values.iter().filter(|other| *other < value).count() as f64;
                    let same = values.iter().filter(|other| *other == value).count() as f64;
                    below + f64::midpoint(same, 1.0)
                })
                .collect();
            prop_assert_eq!(average_ranks(values), slow);
        }
        let found = spearman(&truth, &guess).unwrap();
        // A monotone change of either side leaves the ranks alone; a reversed one turns the sign.
        let stretched: Vec<f64> = guess.iter().map(|value| value.exp()).collect();
        let turned: Vec<f64> = guess.iter().map(|value| -value).collect();
        prop_assert!(close(spearman(&truth, &stretched).unwrap(), found));
        prop_assert!(close(spearman(&truth, &turned).unwrap(), -found));
        // Kendall's form: the signed differences of all pairs, for Pearson on ranks.
        let (left, right) = (average_ranks(&truth), average_ranks(&guess));
        let (mut both, mut lefts, mut rights) = (0.0, 0.0, 0.0);
        for i in 0..left.len() {
            for j in 0..left.len() {
                both += (left[i] - left[j]) * (right[i] - right[j]);
                lefts += (left[i] - left[j]).powi(2);
                rights += (right[i] - right[j]).powi(2);
            }
        }
        prop_assert!(close(found, both / (lefts * rights).sqrt()));
    }
}

#[test]
fn edges() {
    assert_eq!(TextDistance::new().between("", "naïve"), 5);
    // Characters that share their first or their last byte are different all the same.
    assert_eq!(TextDistance::new().between("é", "è"), 1);
    assert_eq!(TextDistance::new().between("aé", "a\u{a9}"), 1);
    assert!(pooled_kendall_tau(&[[0usize]]).unwrap().is_nan());
    assert!(pooled_kendall_tau::<Vec<usize>>(&[]).is_err());
    assert_eq!(jaccard::<u8>(&[], &[]), None);
    assert!(label_weighted_ranking_precision(&[false; 4], &[0.5; 4], 2).unwrap().is_nan());
    assert_eq!(
        label_weighted_ranking_precision(&[true; 3], &[0.5; 3], 2),
        Err(MetricError::WidthMismatch { row: 1, found: 1, expected: 2 })
    );
    assert!(spearman(&[1.0, 2.0], &[f64::NAN, 1.0]).unwrap().is_nan());
    assert!(spearman(&[1.0], &[1.0]).unwrap().is_nan());
    assert!(spearman(&[1.0, 2.0], &[3.0, 3.0]).unwrap().is_nan());
    assert_eq!(matthews_correlation(&[1, 1], &[0, 1]), Ok(0.0));
}
