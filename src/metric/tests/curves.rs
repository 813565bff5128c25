//! Areas under curves, agreement and scaled correlation: against slow formulas, identities, and figures that `numpy`, `scipy`
//! and `scikit-learn` (2.2.6, 1.17.1, 1.9.1) gave for the same numbers.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::float_cmp, reason = "tests may be blunt")]

use podium_metric::{
    Band, kappa_of_ranks, pearson, quadratic_weighted_kappa, roc_auc, scaled_pearson, weighted_roc_auc,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn close(left: f64, right: f64) -> bool {
    (left.is_nan() && right.is_nan()) || (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}

/// Truths with scores that tie often.
fn scored() -> impl Strategy<Value = (Vec<bool>, Vec<f64>)> {
    vec((any::<bool>(), (0u8..8).prop_map(|score| f64::from(score) / 8.0)), 1..60)
        .prop_map(|rows| rows.into_iter().unzip())
}

/// The area to the right of the curve between two heights: `∫ (1 − fpr) d tpr`, step by step.
fn slow_band(truth: &[bool], scores: &[f64], from: f64, to: f64) -> f64 {
    let mut levels = scores.to_vec();
    levels.sort_by(|left, right| right.total_cmp(left));
    levels.dedup();
    let rate = |class: bool, level: f64| {
        let all = truth.iter().filter(|truth| **truth == class).count() as f64;
        let above = truth.iter().zip(scores).filter(|(truth, score)| **truth == class && **score >= level);
        above.count() as f64 / all
    };
    let (mut x, mut y, mut area) = (0.0f64, 0.0f64, 0.0f64);
    for level in levels {
        let (next_x, next_y) = (rate(false, level), rate(true, level));
        let (low, high) = (y.max(from), next_y.min(to));
        if high > low {
            let at = |height: f64| x + (next_x - x) * (height - y) / (next_y - y);
            area += (high - low) * (1.0 - f64::midpoint(at(low), at(high)));
        }
        (x, y) = (next_x, next_y);
    }
    area
}

proptest! {
    #[test]
    fn areas_of_bands((truth, scores) in scored(), cut in 0.05f64..0.95) {
        let whole = [Band { from: 0.0, to: 1.0, weight: 3.0 }];
        let both = truth.contains(&true) && truth.contains(&false);
        if both {
            prop_assert!(close(weighted_roc_auc(&truth, &scores, &whole).unwrap(), roc_auc(&truth, &scores).unwrap()));
            let bands = [Band { from: 0.0, to: cut, weight: 2.0 }, Band { from: cut, to: 1.0, weight: 1.0 }];
            let expected = (2.0 * slow_band(&truth, &scores, 0.0, cut) + slow_band(&truth, &scores, cut, 1.0)) / (1.0 + cut);
            prop_assert!(close(weighted_roc_auc(&truth, &scores, &bands).unwrap(), expected));
        }
    }

    #[test]
    fn many_ratings_cost_no_accuracy(rows in vec((0usize..1400, 0usize..1400), 2..80)) {
        let (truth, guess): (Vec<usize>, Vec<usize>) = rows.into_iter().unzip();
        // Beyond 1024 ratings another formula is used; unused ratings change nothing but the ranks.
        let n = truth.len() as f64;
        let square = |left: usize, right: usize| (left as f64 - right as f64).powi(2);
        let observed: f64 = truth.iter().zip(&guess).map(|(left, right)| square(*left, *right)).sum();
        let expected: f64 =
            truth.iter().map(|left| guess.iter().map(|right| square(*left, *right)).sum::<f64>()).sum::<f64>() / n;
        prop_assert!(close(kappa_of_ranks(&truth, &guess, 1400), 1.0 - observed / expected));
    }

    #[test]
    fn scale_does_not_matter((left, right) in vec((-1e3f64..1e3, -1e3f64..1e3), 3..100).prop_map(|rows| rows.into_iter().unzip::<f64, f64, Vec<f64>, Vec<f64>>())) {
        let plain = pearson(&left, &right).unwrap();
        prop_assert!(close(scaled_pearson(&left, &right).unwrap(), plain));
        for factor in [1e200, 1e-200, -1.0] {
            let scaled: Vec<f64> = left.iter().map(|value| value * factor).collect();
            prop_assert!(close(scaled_pearson(&scaled, &right).unwrap(), plain * factor.signum()));
        }
    }
}

#[test]
fn figures_agree_to_the_last_bit() {
    let series =
        |step: usize, modulus: usize| -> Vec<f64> { (0..300).map(|k| (k * step % modulus) as f64).collect() };
    let truth: Vec<bool> = (0..300).map(|k| k % 7 == 0).collect();
    assert_eq!(roc_auc(&truth, &series(37, 23)).unwrap(), 0.501_855_035_743_371_6);
    let ratings: (Vec<usize>, Vec<usize>) =
        ((0..300).map(|k| k * 37 % 11).collect(), (0..300).map(|k| k * k % 9).collect());
    assert_eq!(quadratic_weighted_kappa(&ratings.1, &ratings.0).unwrap(), 0.005_503_384_131_570_699);
    let left: Vec<f64> = series(37, 101).iter().map(|value| value / 7.0).collect();
    let right: Vec<f64> = series(53, 89).iter().map(|value| value / 3.0).collect();
    assert!((scaled_pearson(&left, &right).unwrap() + 0.005_175_205_705_984_15).abs() < 1e-16);
}

#[test]
fn edges_have_their_values() {
    let bands = [Band { from: 0.0, to: 0.4, weight: 2.0 }, Band { from: 0.4, to: 1.0, weight: 1.0 }];
    assert_eq!(weighted_roc_auc(&[false, false], &[0.1, 0.2], &bands).unwrap(), 0.0);
    assert!(weighted_roc_auc(&[true, true], &[0.1, 0.2], &bands).unwrap().is_nan());
    assert!(close(weighted_roc_auc(&[true, false], &[0.5, 0.5], &bands).unwrap(), 0.82 / 1.4));
    assert!(scaled_pearson(&[1.0], &[2.0]).is_err());
    assert_eq!(scaled_pearson(&[1.0, 2.0], &[5.0, 3.0]).unwrap(), -1.0);
    assert!(scaled_pearson(&[1.0, 2.0], &[5.0, f64::INFINITY]).unwrap().is_nan());
    assert!(scaled_pearson(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]).unwrap().is_nan());
    assert!(quadratic_weighted_kappa(&[3, 3], &[3, 3]).unwrap().is_nan());
}
