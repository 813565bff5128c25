//! Probabilistic scores, distances and bias against slow formulas written another way, or against an identity.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::naive_bytecount,
    reason = "helpers of tests may be as blunt as tests"
)]

use std::f64::consts::PI;

use podium_metric::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn close(left: f64, right: f64) -> bool {
    (left.is_nan() && right.is_nan()) || (left - right).abs() <= 1e-9 * right.abs().max(1.0)
}

/// A point on the unit sphere.
fn point(azimuth: f64, zenith: f64) -> [f64; 3] {
    [zenith.sin() * azimuth.cos(), zenith.sin() * azimuth.sin(), zenith.cos()]
}

/// Length of the straight line between two points.
fn chord(left: [f64; 3], right: [f64; 3]) -> f64 {
    left.iter().zip(right).map(|(left, right)| (left - right).powi(2)).sum::<f64>().sqrt()
}

proptest! {
    #[test]
    fn soft_f1(rows in vec((any::<bool>(), 0.0f64..=1.0), 1..60)) {
        let (truth, guess): (Vec<bool>, Vec<f64>) = rows.into_iter().unzip();
        let found = probabilistic_f1(&truth, &guess).unwrap();
        // 2·Σ p·t / (Σ t + Σ p), the Dice form of the same number.
        let hits: f64 = truth.iter().zip(&guess).filter(|(truth, _)| **truth).map(|(_, guess)| guess).sum();
        let all = truth.iter().filter(|truth| **truth).count() as f64 + guess.iter().sum::<f64>();
        let dice = if hits == 0.0 { 0.0 } else { 2.0 * hits / all };
        prop_assert!(close(found, dice));
        let hard: Vec<f64> = guess.iter().map(|guess| guess.round()).collect();
        let positives = |row: &[bool]| row.iter().filter(|positive| **positive).count() as u64;
        let guessed: Vec<bool> = hard.iter().map(|guess| *guess == 1.0).collect();
        let both: Vec<bool> = truth.iter().zip(&guessed).map(|(truth, guess)| *truth && *guess).collect();
        let counted = f1_from_counts(positives(&both), positives(&truth), positives(&guessed));
        prop_assert!(close(probabilistic_f1(&truth, &hard).unwrap(), counted));
    }

    #[test]
    fn information(rows in vec(vec((0u8..5, 0.01f64..1.0), 4), 1..20)) {
        let normal = |row: Vec<f64>| -> Vec<f64> {
            let sum: f64 = row.iter().sum();
            row.iter().map(|value| if sum == 0.0 { 0.25 } else { value / sum }).collect()
        };
        let truth: Vec<f64> =
            rows.iter().flat_map(|row| normal(row.iter().map(|(vote, _)| f64::from(*vote)).collect())).collect();
        let guess: Vec<f64> =
            rows.iter().flat_map(|row| normal(row.iter().map(|(_, guess)| *guess).collect())).collect();
        let found = mean_kl_divergence(&truth, &guess, 4).unwrap();
        // Cross entropy less entropy.
        let log = |t: f64, p: f64| if t == 0.0 { 0.0 } else { -t * p.ln() };
        let sum: f64 = truth.iter().zip(&guess).map(|(t, p)| log(*t, *p) - log(*t, *t)).sum();
        prop_assert!(close(found, sum / rows.len() as f64));
        prop_assert!(found > -1e-12);
        prop_assert_eq!(mean_kl_divergence(&truth, &truth, 4), Ok(0.0));
    }

    #[test]
    fn weighted_losses(rows in vec(vec((any::<bool>(), 0.0f64..=1.0), 3), 1..20)) {
        let cells: Vec<(bool, f64)> = rows.iter().flatten().copied().collect();
        let truth: Vec<f64> = cells.iter().map(|(truth, _)| f64::from(u8::from(*truth))).collect();
        let guess: Vec<f64> = cells.iter().map(|(_, guess)| *guess).collect();
        let even = [ColumnWeight { positive: 3.0, negative: 3.0 }; 3];
        let hard: Vec<bool> = cells.iter().map(|(truth, _)| *truth).collect();
        let plain = binary_log_loss(&hard, &guess, EPS_KAGGLE).unwrap();
        let found = weighted_log_loss(&truth, &guess, &even, EPS_KAGGLE).unwrap();
        prop_assert!((found - plain).abs() < 1e-6 * plain.max(1.0));
        let weights = [(14.0, 7.0), (2.0, 1.0), (5.0, 0.5)];
        let slow: f64 = rows
            .iter()
            .map(|row| {
                // A row is the logarithm of a weighted geometric mean of the chances of what happened.
                let parts: Vec<(f64, f64)> = row
                    .iter()
                    .zip(weights)
                    .map(|((truth, guess), (positive, negative))| {
                        let chance = if *truth { *guess } else { 1.0 - guess };
                        (chance.max(1e-15), if *truth { positive } else { negative })
                    })
                    .collect();
                let weight: f64 = parts.iter().map(|(_, weight)| weight).sum();
                -parts.iter().map(|(chance, share)| chance.powf(share / weight)).product::<f64>().ln()
            })
            .sum();
        let columns = weights.map(|(positive, negative)| ColumnWeight { positive, negative });
        let found = weighted_log_loss(&truth, &guess, &columns, EPS_KAGGLE).unwrap();
        let slow = slow / rows.len() as f64;
        prop_assert!((found - slow).abs() < 1e-3 * slow.max(1.0), "{} {}", found, slow);
    }

    #[test]
    fn directions(a in -7.0f64..7.0, b in 0.0..PI, c in -7.0f64..7.0, d in 0.0..PI) {
        let truth = Direction3 { azimuth: a, zenith: b };
        let guess = Direction3 { azimuth: c, zenith: d };
        let expected = 2.0 * (chord(point(a, b), point(c, d)) / 2.0).min(1.0).asin();
        let found = angle_between(truth, guess);
        prop_assert!((found - expected).abs() < 1e-6);
        let turn = Direction3 { azimuth: c + 2.0 * PI, zenith: d };
        prop_assert!((angle_between(truth, turn) - found).abs() < 1e-6);
        let opposite = Direction3 { azimuth: a + PI, zenith: PI - b };
        prop_assert!((angle_between(guess, opposite) - (PI - found)).abs() < 1e-6);
        let mean = mean_angular_error(&[truth, truth], &[guess, opposite]).unwrap();
        prop_assert!((mean - f64::midpoint(found, PI)).abs() < 1e-6);
    }

    #[test]
    fn places(a in -90.0f64..90.0, b in -180.0f64..180.0, c in -90.0f64..90.0, d in -180.0f64..180.0) {
        let place = |latitude: f64, longitude: f64| Place { latitude, longitude };
        let on_sphere = |p: Place| point(p.longitude.to_radians(), (90.0 - p.latitude).to_radians());
        let (left, right) = (place(a, b), place(c, d));
        let expected = 2.0 * (chord(on_sphere(left), on_sphere(right)) / 2.0).min(1.0).asin();
        prop_assert!((haversine(left, right, 1.0) - expected).abs() < 1e-6);
        prop_assert_eq!(haversine(left, left, EARTH_RADIUS), 0.0);
    }

    #[test]
    fn quantiles(values in vec(-1e3f64..1e3, 1..50), q in 0.0f64..=1.0) {
        let mut sorted = values.clone();
        sorted.sort_by(|left, right| left.partial_cmp(right).unwrap());
        // The point of the broken line through (k / (n − 1), x_k).
        let steps = sorted.len().max(2) - 1;
        let broken: f64 = (0..sorted.len())
            .map(|k| sorted[k] * (1.0 - (q * steps as f64 - k as f64).abs()).max(0.0))
            .sum();
        prop_assert!(sorted.len() == 1 || close(quantile(&values, q), broken));
        prop_assert_eq!(quantile(&values, 0.0), sorted[0]);
        prop_assert_eq!(quantile(&values, 1.0), sorted[sorted.len() - 1]);
    }

    #[test]
    fn bias(rows in vec((any::<bool>(), 0u8..5, any::<bool>()), 1..60)) {
        let truth: Vec<bool> = rows.iter().map(|(truth, _, _)| *truth).collect();
        let scores: Vec<f64> = rows.iter().map(|(_, score, _)| f64::from(*score)).collect();
        let group: Vec<bool> = rows.iter().map(|(_, _, group)| *group).collect();
        let wins = |positive_in: bool, negative_in: bool| {
            let (mut wins, mut pairs) = (0.0, 0.0);
            for (_, high, _) in rows.iter().filter(|(truth, _, group)| *truth && *group == positive_in) {
                for (_, low, _) in rows.iter().filter(|(truth, _, group)| !truth && *group == negative_in) {
                    pairs += 1.0;
                    wins += if high > low { 1.0 } else { f64::from(u8::from(high == low)) / 2.0 };
                }
            }
            wins / pairs
        };
        if let Ok(found) = group_auc(&truth, &scores, &group) {
            prop_assert!(close(found.subgroup, wins(true, true)));
            prop_assert!(close(found.background_positive, wins(false, true)));
            prop_assert!(close(found.background_negative, wins(true, false)));
        }
    }

    #[test]
    fn power_means(values in vec(0.1f64..10.0, 1..10)) {
        let n = values.len() as f64;
        prop_assert!(close(power_mean(&values, 1.0), values.iter().sum::<f64>() / n));
        prop_assert!(close(power_mean(&values, -1.0), n / values.iter().map(|value| 1.0 / value).sum::<f64>()));
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let low = power_mean(&values, -5.0);
        prop_assert!(least * 0.999_999 <= low && low <= power_mean(&values, -1.0) * 1.000_001);
    }
}

#[test]
fn edges() {
    assert_eq!(probabilistic_f1(&[true, false], &[f64::NAN, 0.5]), Ok(0.0));
    assert_eq!(probabilistic_f1(&[true, false], &[0.0, 0.0]), Ok(0.0));
    assert_eq!(probabilistic_f1(&[false], &[0.5]), Ok(0.0));
    assert_eq!(mean_kl_divergence(&[1.0, 0.0], &[0.0, 1.0], 2), Ok(f64::INFINITY));
    assert_eq!(mean_kl_divergence(&[0.5, 0.5], &[f64::NAN, 0.5], 2), Ok(0.0));
    assert!(mean_kl_divergence(&[0.5; 3], &[0.5; 3], 2).is_err());
    assert!(mean_kl_divergence(&[0.5], &[0.5], 0).is_err());
    let one = [ColumnWeight { positive: 1.0, negative: 1.0 }];
    assert!(weighted_log_loss(&[1.0], &[f64::NAN], &one, 1e-15).unwrap().is_nan());
    let far = Place { latitude: f64::INFINITY, longitude: 0.0 };
    assert!(haversine(far, far, 1.0).is_nan());
    assert!(quantile(&[], 0.5).is_nan() && quantile(&[1.0, f64::NAN], 0.5).is_nan());
    assert_eq!(quantile(&[2.0], 0.95), 2.0);
    assert_eq!(power_mean(&[0.0, 1.0], -5.0), 0.0);
    assert_eq!(group_auc(&[true], &[0.5], &[true]), Err(MetricError::Empty));
}
