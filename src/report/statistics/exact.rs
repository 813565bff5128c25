//! P-values that assume nothing of a distribution: under the hypothesis that the arms are the same, all arrangements
//! are as likely, and the p-value is the share of those that differ as much as what was seen.
//!
//! Where the outcomes are 0 or 1, sums are integers over one denominator, and all arrangements are counted by dynamic
//! programming. Where they are shares, sums are no integers: with at most [`ENUMERATED`] competitions the signs are all
//! tried, else arrangements are drawn, and the p-value says so.

use std::collections::BTreeMap;

use podium_types::rng::Rng;

use super::difference::{Pair, Pairs};

/// Up to this many competitions all 2^C signs are tried.
pub const ENUMERATED: usize = 20;
/// Arrangements drawn where they cannot be counted.
pub const DRAWS: u32 = 100_000;
/// The longest array of sums; beyond it arrangements are drawn.
const LONGEST: i64 = 4_000_000;

/// A two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PValue {
    /// In (0, 1].
    pub p: f64,
    /// Arrangements that were drawn; none: all were counted.
    pub drawn: Option<u32>,
}

impl PValue {
    const fn exact(p: f64) -> Self {
        // Sums of many chances may pass 1 by rounding.
        Self { p: p.min(1.0), drawn: None }
    }
}

/// Flips the sign of each competition's difference: the test for competitions like these.
pub fn sign_flip(pairs: &Pairs, seed: u64) -> PValue {
    let differences = pairs.differences();
    if let Some(units) = units(pairs) {
        let choices: Vec<Choices> = units
            .iter()
            .map(|unit| {
                Choices::from([(*unit, 0.5), (-*unit, 0.5)].map(|(sum, chance)| Chance { sum, chance }))
            })
            .collect();
        if let Some(p) = counted(&choices, units.iter().sum()) {
            return PValue::exact(p);
        }
    }
    let seen = differences.iter().sum::<f64>().abs();
    if differences.len() <= ENUMERATED {
        return PValue::exact(enumerated(&differences, seen));
    }
    drawn(seed, seen, |rng| {
        differences.iter().map(|value| if rng.next_u64() & 1 == 0 { *value } else { -value }).sum()
    })
}

/// Permutes the labels of the runs within each competition: the test for exactly these competitions.
pub fn label_permutation(pairs: &Pairs, seed: u64) -> PValue {
    if let Some(common) = common_denominator(pairs)
        && let Some(choices) = pairs.iter().map(|pair| relabelled(pair, common)).collect::<Option<Vec<_>>>()
        && let Some(units) = units(pairs)
        && let Some(p) = counted(&choices, units.iter().sum())
    {
        return PValue::exact(p);
    }
    let seen = pairs.differences().iter().sum::<f64>().abs();
    let pooled: Vec<(Vec<f64>, usize)> =
        pairs.iter().map(|pair| ([pair.a.clone(), pair.b.clone()].concat(), pair.a.len())).collect();
    drawn(seed, seen, |rng| {
        pooled.iter().map(|(runs, first)| shuffled_difference(runs.clone(), *first, rng)).sum()
    })
}

/// One outcome of an arrangement on one competition, in units of the common denominator.
#[derive(Clone, Copy, Debug)]
struct Chance {
    sum: i64,
    chance: f64,
}

type Choices = Vec<Chance>;

/// The differences as integers over the common denominator; none where an outcome is neither 0 nor 1.
fn units(pairs: &Pairs) -> Option<Vec<i64>> {
    let common = common_denominator(pairs)?;
    pairs
        .iter()
        .map(|pair| {
            let (first, second) = (ones(&pair.a)?, ones(&pair.b)?);
            Some(share(first, &pair.a, common)? - share(second, &pair.b, common)?)
        })
        .collect()
}

fn share(ones: i64, outcomes: &[f64], common: i64) -> Option<i64> {
    ones.checked_mul(common.checked_div(i64::try_from(outcomes.len()).ok()?)?)
}

/// How many outcomes are 1; none where one is neither 0 nor 1.
#[expect(clippy::float_cmp, reason = "outcomes of runs are exactly 0 or 1, or they are no such outcomes")]
fn ones(outcomes: &[f64]) -> Option<i64> {
    let binary = outcomes.iter().all(|outcome| *outcome == 0.0 || *outcome == 1.0);
    let ones = outcomes.iter().filter(|outcome| **outcome == 1.0).count();
    i64::try_from(ones).ok().filter(|_| binary)
}

/// The least common multiple of all numbers of seeds.
fn common_denominator(pairs: &Pairs) -> Option<i64> {
    let mut common: i64 = 1;
    for seeds in pairs.iter().flat_map(|pair| [pair.a.len(), pair.b.len()]) {
        let seeds = i64::try_from(seeds).ok()?;
        common = (common / divisor(common, seeds)).checked_mul(seeds)?;
    }
    (common <= LONGEST).then_some(common)
}

const fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How many of the first arm's runs would be 1 if labels were dealt at random: hypergeometric.
fn relabelled(pair: &Pair, common: i64) -> Option<Choices> {
    let (first, second) = (pair.a.len(), pair.b.len());
    let good = usize::try_from(ones(&pair.a)? + ones(&pair.b)?).ok()?;
    let all = first + second;
    let ways = choose(all, first);
    (good.saturating_sub(second)..=good.min(first))
        .map(|taken| {
            let chance = choose(good, taken) * choose(all - good, first - taken) / ways;
            let left = good - taken;
            let sum = share(i64::try_from(taken).ok()?, &pair.a, common)?
                - share(i64::try_from(left).ok()?, &pair.b, common)?;
            Some(Chance { sum, chance })
        })
        .collect()
}

/// The binomial coefficient.
pub(super) fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    (0..k.min(n - k)).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64)
}

/// The chance of a sum at least as far from 0 as `seen`, over independent choices. None where there are too many sums.
fn counted(choices: &[Choices], seen: i64) -> Option<f64> {
    let reach = |choices: &Choices| choices.iter().map(|chance| chance.sum.abs()).max().unwrap_or(0);
    if choices.iter().map(reach).sum::<i64>() > LONGEST {
        return None;
    }
    // Most sums cannot be reached where denominators are large: an ordered map holds those that can.
    let mut sums = BTreeMap::from([(0_i64, 1.0_f64)]);
    for choices in choices {
        let mut next = BTreeMap::new();
        for (sum, so_far) in &sums {
            for Chance { sum: step, chance } in choices {
                *next.entry(sum + step).or_insert(0.0) += so_far * chance;
            }
        }
        sums = next;
    }
    Some(sums.iter().filter(|(sum, _)| sum.abs() >= seen.abs()).map(|(_, chance)| chance).sum())
}

/// Sums that are as far as what was seen but for rounding count as such.
fn as_far(sum: f64, seen: f64) -> bool {
    sum.abs() >= seen - 1e-9 * seen.max(1.0)
}

fn enumerated(differences: &[f64], seen: f64) -> f64 {
    let arrangements = 1_u32 << differences.len();
    let sum = |signs: u32| -> f64 {
        let signed = |(place, value): (usize, &f64)| if signs >> place & 1 == 0 { *value } else { -value };
        differences.iter().enumerate().map(signed).sum()
    };
    let far = (0..arrangements).filter(|signs| as_far(sum(*signs), seen)).count();
    far as f64 / f64::from(arrangements)
}

fn drawn(seed: u64, seen: f64, mut arrangement: impl FnMut(&mut Rng) -> f64) -> PValue {
    let mut rng = Rng::new(seed);
    let far = (0..DRAWS).filter(|_| as_far(arrangement(&mut rng), seen)).count();
    // What was seen is one of the arrangements: a p-value of 0 would claim too much.
    PValue { p: (far + 1) as f64 / f64::from(DRAWS + 1), drawn: Some(DRAWS) }
}

fn shuffled_difference(mut runs: Vec<f64>, first: usize, rng: &mut Rng) -> f64 {
    for place in (1..runs.len()).rev() {
        runs.swap(place, rng.below(place + 1));
    }
    let (a, b) = runs.split_at(first.min(runs.len()));
    super::mean(a) - super::mean(b)
}
