//! Each metric against a slow formula written another way, or against an identity.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::naive_bytecount,
    clippy::print_stdout,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "helpers of tests may be as blunt as tests"
)]

use std::collections::BTreeSet;

use podium_metric::*;
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

fn labels() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    vec((0u8..5, 0u8..6), 1..60).prop_map(|rows| rows.into_iter().unzip())
}

fn numbers() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    vec((0.0f64..100.0, 0.001f64..100.0), 1..300).prop_map(|rows| rows.into_iter().unzip())
}

fn slow_auc(truth: &[bool], scores: &[f64]) -> f64 {
    let of = |class: bool| {
        truth.iter().zip(scores).filter(move |(truth, _)| **truth == class).map(|(_, score)| *score)
    };
    let (mut wins, mut pairs) = (0.0, 0.0);
    for positive in of(true) {
        for negative in of(false) {
            pairs += 1.0;
            wins += if positive > negative { 1.0 } else { f64::from(u8::from(positive == negative)) / 2.0 };
        }
    }
    wins / pairs
}

fn slow_average_precision(truth: &[bool], scores: &[f64]) -> f64 {
    let positives = truth.iter().filter(|truth| **truth).count();
    if positives == 0 {
        return 0.0;
    }
    // Each positive contributes the precision at its own score.
    let precision = |cut: f64| {
        let chosen = truth.iter().zip(scores).filter(|(_, score)| **score >= cut);
        let (hits, all) = chosen
            .fold((0.0, 0.0), |(hits, all), (truth, _)| (hits + f64::from(u8::from(*truth)), all + 1.0));
        hits / all
    };
    let sum: f64 =
        truth.iter().zip(scores).filter(|(truth, _)| **truth).map(|(_, score)| precision(*score)).sum();
    sum / positives as f64
}

fn slow_macro_f1(truth: &[u8], guess: &[u8]) -> f64 {
    let classes: BTreeSet<u8> = truth.iter().chain(guess).copied().collect();
    let f1 = |class: u8| {
        let count = |test: &dyn Fn(u8, u8) -> bool| {
            truth.iter().zip(guess).filter(|(t, g)| test(**t, **g)).count() as f64
        };
        let hits = count(&|t, g| t == class && g == class);
        let (precision, recall) = (hits / count(&|_, g| g == class), hits / count(&|t, _| t == class));
        let f1 = 2.0 * precision * recall / (precision + recall);
        if f1.is_nan() { 0.0 } else { f1 }
    };
    classes.iter().map(|class| f1(*class)).sum::<f64>() / classes.len() as f64
}

fn slow_kappa(truth: &[u8], guess: &[u8]) -> f64 {
    let labels: Vec<u8> = truth.iter().chain(guess).copied().collect::<BTreeSet<_>>().into_iter().collect();
    let (mut observed, mut expected) = (0.0, 0.0);
    for (i, a) in labels.iter().enumerate() {
        for (j, b) in labels.iter().enumerate() {
            let weight = (i as f64 - j as f64).powi(2);
            let both = truth.iter().zip(guess).filter(|(t, g)| (*t, *g) == (a, b)).count();
            let rows = truth.iter().filter(|t| *t == a).count() * guess.iter().filter(|g| *g == b).count();
            observed += weight * both as f64;
            expected += weight * rows as f64 / truth.len() as f64;
        }
    }
    1.0 - observed / expected
}

fn slow_levenshtein(left: &[u8], right: &[u8]) -> usize {
    let mut table = vec![vec![0usize; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substitution = table[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
                substitution.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1)
            };
        }
    }
    table[left.len()][right.len()]
}

fn slow_map(truth: &[u8], ranking: &[u8], k: usize) -> f64 {
    let relevant: BTreeSet<u8> = truth.iter().copied().collect();
    let mut total = 0.0;
    for rank in 1..=ranking.len().min(k) {
        let item = ranking[rank - 1];
        if relevant.contains(&item) && !ranking[..rank - 1].contains(&item) {
            let found: BTreeSet<u8> =
                ranking[..rank].iter().copied().filter(|item| relevant.contains(item)).collect();
            total += found.len() as f64 / rank as f64;
        }
    }
    if relevant.is_empty() { 0.0 } else { total / relevant.len().min(k) as f64 }
}

proptest! {
    #[test]
    fn rankings_of_positives((truth, scores) in scored()) {
        prop_assert!(close(roc_auc(&truth, &scores).unwrap(), slow_auc(&truth, &scores)));
        prop_assert!(close(average_precision(&truth, &scores).unwrap(), slow_average_precision(&truth, &scores)));
        let reversed: Vec<f64> = scores.iter().map(|score| -score).collect();
        let sum = roc_auc(&truth, &scores).unwrap() + roc_auc(&truth, &reversed).unwrap();
        prop_assert!(sum.is_nan() || close(sum, 1.0));
        let columns = mean_column_auc(&[truth.clone(), truth.clone()], &[scores.clone(), reversed]).unwrap();
        prop_assert!(columns.is_nan() || close(columns, 0.5));
    }

    #[test]
    fn single_labels((truth, guess) in labels()) {
        let hits = truth.iter().zip(&guess).filter(|(t, g)| t == g).count();
        prop_assert_eq!(accuracy(&truth, &guess).unwrap(), hits as f64 / truth.len() as f64);
        prop_assert!(close(macro_f1(&truth, &guess).unwrap(), slow_macro_f1(&truth, &guess)));
        prop_assert!(close(quadratic_weighted_kappa(&truth, &guess).unwrap(), slow_kappa(&truth, &guess)));
        let sets = |labels: &[u8]| -> Vec<Vec<u8>> { labels.iter().map(|label| vec![*label]).collect() };
        prop_assert!(close(micro_f1(&sets(&truth), &sets(&guess)).unwrap(), accuracy(&truth, &guess).unwrap()));
        prop_assert_eq!(accuracy(&truth, &guess), exact_match(&truth, &guess));
    }

    #[test]
    fn label_sets(rows in vec((vec(0u8..6, 0..5), vec(0u8..6, 0..5)), 1..20)) {
        let (truth, guess): (Vec<Vec<u8>>, Vec<Vec<u8>>) = rows.into_iter().unzip();
        let (mut hits, mut wrong) = (0, 0);
        for (t, g) in truth.iter().zip(&guess) {
            for label in 0..6 {
                hits += usize::from(t.contains(&label) && g.contains(&label));
                wrong += usize::from(t.contains(&label) != g.contains(&label));
            }
        }
        let expected = if hits + wrong == 0 { 0.0 } else { 2.0 * hits as f64 / (2 * hits + wrong) as f64 };
        prop_assert!(close(micro_f1(&truth, &guess).unwrap(), expected));
    }

    #[test]
    fn regression((truth, guess) in numbers()) {
        let n = truth.len() as f64;
        let sum = |part: &dyn Fn(f64, f64) -> f64| truth.iter().zip(&guess).map(|(t, g)| part(*t, *g)).sum::<f64>();
        prop_assert!(close(rmse(&truth, &guess).unwrap().powi(2) * n, sum(&|t, g| (t - g).powi(2))));
        prop_assert!(close(mae(&truth, &guess).unwrap() * n, sum(&|t, g| (t - g).abs())));
        let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| (1.0 + value).ln()).collect() };
        prop_assert!(close(rmsle(&truth, &guess).unwrap(), rmse(&logs(&truth), &logs(&guess)).unwrap()));
        let share = |t: f64, g: f64| if t == 0.0 { g / f64::EPSILON } else { (t - g).abs() / t };
        prop_assert!(close(mape(&truth, &guess).unwrap() * n, sum(&share)));
        let likelihood = |t: f64, g: f64| if t == 0.0 { -g } else { t * g.ln() - g };
        let deviance = 2.0 * (sum(&|t, _| likelihood(t, t)) - sum(&likelihood));
        prop_assert!((mean_poisson_deviance(&truth, &guess).unwrap() * n - deviance).abs() < 1e-6);
        prop_assert!(mean_poisson_deviance(&guess, &guess).unwrap().abs() < 1e-9);
    }

    #[test]
    fn probabilities(rows in vec((0usize..3, [0.0f64..1.0, 0.0f64..1.0, 0.001f64..1.0]), 1..40)) {
        let truth: Vec<usize> = rows.iter().map(|(class, _)| *class).collect();
        let mut matrix: Vec<f64> = rows.iter().flat_map(|(_, row)| *row).collect();
        renormalise(&mut matrix, 3).unwrap();
        let product: f64 = rows.iter().map(|(class, row)| (row[*class] / row.iter().sum::<f64>()).max(1e-15).ln()).sum();
        let loss = log_loss(&truth, &matrix, 3, EPS_KAGGLE).unwrap();
        prop_assert!(close(loss, -product / rows.len() as f64));
        let hot: Vec<f64> = truth.iter().flat_map(|class| [0, 1, 2].map(|c| f64::from(u8::from(c == *class)))).collect();
        prop_assert!(close(cross_entropy(&hot, &matrix, 3, EPS_KAGGLE).unwrap(), loss));
        let binary: Vec<bool> = truth.iter().map(|class| *class == 1).collect();
        let two: Vec<f64> = rows.iter().flat_map(|(_, row)| [1.0 - row[0], row[0]]).collect();
        let positive: Vec<f64> = rows.iter().map(|(_, row)| row[0]).collect();
        let classes: Vec<usize> = binary.iter().map(|positive| usize::from(*positive)).collect();
        prop_assert_eq!(
            binary_log_loss(&binary, &positive, EPS_SKLEARN).unwrap(),
            log_loss(&classes, &two, 2, EPS_SKLEARN).unwrap()
        );
    }

    #[test]
    fn edit_distances(left in vec(0u8..4, 0..12), right in vec(0u8..4, 0..12), third in vec(0u8..4, 0..12)) {
        let distance = levenshtein(&left, &right);
        prop_assert_eq!(distance, slow_levenshtein(&left, &right));
        prop_assert_eq!(distance, levenshtein(&right, &left));
        prop_assert!(distance <= levenshtein(&left, &third) + levenshtein(&third, &right));
        let mean = mean_levenshtein(&[left.clone(), left.clone()], &[right, left]).unwrap();
        prop_assert!(close(mean, distance as f64 / 2.0));
    }

    #[test]
    fn ranked_lists(truth in vec(0u8..6, 0..4), ranking in vec(0u8..8, 0..8), k in 1usize..6) {
        let found = map_at_k(std::slice::from_ref(&truth), std::slice::from_ref(&ranking), k).unwrap();
        prop_assert!(close(found, slow_map(&truth, &ranking, k)));
    }

    #[test]
    fn sums(values in vec(-1e6f64..1e6, 0..1000)) {
        prop_assert!((pairwise_sum(&values) - values.iter().sum::<f64>()).abs() < 1e-3);
    }
}

#[test]
fn wrong_arguments_are_named() {
    let message = |result: Result<f64, MetricError>| result.unwrap_err().to_string();
    assert_eq!(message(rmse(&[], &[])), "no rows to score");
    assert_eq!(message(mae(&[1.0], &[1.0, 2.0])), "2 predictions for 1 true values");
    assert_eq!(
        message(mean_poisson_deviance(&[1.0], &[0.0])),
        "prediction 0 is 0, outside the domain of mean_poisson_deviance (greater than 0)"
    );
    assert_eq!(
        message(rmsle(&[-1.0], &[0.0])),
        "true value 0 is outside the domain of rmsle (greater than -1)"
    );
    assert_eq!(
        message(log_loss(&[0, 0], &[0.5, 0.5, 1.5, 0.0], 2, EPS_KAGGLE)),
        "prediction 1 is 1.5, outside the domain of log_loss (0 to 1)"
    );
    assert_eq!(
        message(log_loss(&[2], &[0.5, 0.5], 2, EPS_KAGGLE)),
        "true value 0 is outside the domain of log_loss (one of the classes)"
    );
    assert!(log_loss(&[0], &[0.5, 0.5, 0.5], 2, EPS_KAGGLE).is_err());
    assert!(log_loss(&[0], &[], 0, EPS_KAGGLE).is_err());
    assert_eq!(message(map_at_k(&[vec![1]], &[vec![1]], 0)), "k is zero");
    assert!(message(roc_auc(&[true], &[f64::NAN])).contains("NaN"));
    assert!(roc_auc(&[true, true], &[0.1, 0.2]).unwrap().is_nan());
    assert_eq!(renormalise(&mut [0.0, 0.0], 2), Err(MetricError::UnusableRowSum { row: 0, sum: 0.0 }));
}
