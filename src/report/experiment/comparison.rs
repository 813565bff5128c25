//! Two arms beside each other: never a bare difference, never "tied".

use serde::Serialize;

use super::run::Run;
use super::table::outcomes;
use super::terms::Terms;
use crate::statistics::difference::{Difference, Pair, Pairs, difference};
use crate::statistics::exact::{PValue, label_permutation, sign_flip};
use crate::statistics::holm::holm;
use crate::statistics::power::{SeedsNeeded, detectable, seeds_needed};
use crate::statistics::verdict::{Verdict, verdict};

/// Seed of the arrangements that are drawn where they cannot be counted.
const DRAWS_SEED: u64 = 1;
/// Competitions that are named as those that differ most.
const MOST: usize = 5;

/// Two arms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// Competitions that both ran.
    pub competitions: usize,
    /// Competitions that only one of both ran: they are in no number here.
    pub left_out: Vec<String>,
    /// How they differ in medals of any kind, first less second.
    pub difference: Difference,
    /// For competitions like these.
    pub sign_flip: PValue,
    /// For exactly these competitions.
    pub label_permutation: PValue,
    /// The first p-value, corrected for all comparisons of the table.
    pub holm: f64,
    /// The second, corrected in the same way.
    pub label_permutation_holm: f64,
    /// What it is called.
    pub verdict: Verdict,
    /// The smallest true difference that would have been found four times out of five, in shares; none where the
    /// competitions show no spread, one alone for example: then nothing is known of it.
    pub detectable: Option<f64>,
    /// The difference for which the number of seeds is told, in shares: declared beforehand.
    pub declared: f64,
    /// Seeds per competition that it takes.
    pub seeds_for_declared: SeedsNeeded,
    /// Where they differ most: competition and difference.
    pub differs_most: Vec<(String, f64)>,
}

/// Each two arms of a table, corrected for their number.
pub(super) fn comparisons(arms: &[(&str, Vec<&Run>)], terms: &Terms) -> Vec<Comparison> {
    let mut found = Vec::new();
    for (place, a) in arms.iter().enumerate() {
        for b in arms.iter().skip(place + 1) {
            found.extend(comparison(a, b, terms));
        }
    }
    correct(&mut found, terms.equal_within);
    found
}

/// Corrects p-values for how many there are, and calls each comparison.
fn correct(comparisons: &mut [Comparison], equal_within: f64) {
    let corrected =
        |of: fn(&Comparison) -> f64, all: &[Comparison]| holm(&all.iter().map(of).collect::<Vec<f64>>());
    let flips = corrected(|comparison| comparison.sign_flip.p, comparisons);
    let labels = corrected(|comparison| comparison.label_permutation.p, comparisons);
    for ((comparison, flip), label) in comparisons.iter_mut().zip(flips).zip(labels) {
        comparison.holm = flip;
        comparison.label_permutation_holm = label;
        comparison.verdict = verdict(&comparison.difference, flip, equal_within);
    }
}

fn comparison(
    (a, a_runs): &(&str, Vec<&Run>),
    (b, b_runs): &(&str, Vec<&Run>),
    terms: &Terms,
) -> Option<Comparison> {
    let medals = |runs: &[&Run]| {
        outcomes(runs, terms.strict, &|run| {
            f64::from(u8::from(run.end.as_ref().is_some_and(|end| end.medal)))
        })
    };
    let (first, second) = (medals(a_runs), medals(b_runs));
    let only = |one: &std::collections::BTreeMap<String, Vec<f64>>,
                other: &std::collections::BTreeMap<_, _>| {
        one.keys().filter(|name| !other.contains_key(*name)).cloned().collect::<Vec<String>>()
    };
    let mut left_out = only(&first, &second);
    left_out.extend(only(&second, &first));
    let pairs = first.into_iter().filter_map(|(competition, a)| {
        let b = second.get(&competition)?.clone();
        Some(Pair { competition, a, b })
    });
    let pairs = Pairs::new(pairs)?;
    let difference = difference(&pairs);
    let mut most: Vec<(String, f64)> =
        pairs.iter().map(|pair| (pair.competition.clone(), pair.difference())).collect();
    most.retain(|(_, difference)| *difference != 0.0);
    most.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    most.truncate(MOST);
    Some(Comparison {
        a: (*a).to_owned(),
        b: (*b).to_owned(),
        competitions: pairs.len(),
        left_out,
        difference,
        sign_flip: sign_flip(&pairs, DRAWS_SEED),
        label_permutation: label_permutation(&pairs, DRAWS_SEED),
        holm: 1.0,
        label_permutation_holm: 1.0,
        verdict: Verdict::Undecided,
        detectable: (difference.se > 0.0).then(|| detectable(difference.se)),
        declared: terms.declared,
        seeds_for_declared: if difference.se > 0.0 {
            seeds_needed(&pairs, terms.declared)
        } else {
            SeedsNeeded::Unknown
        },
        differs_most: most,
    })
}
