//! Does the name of a row, or its place in the file, tell its target? Looked at among the test rows, for only there does it
//! help a cheat; among the training rows where there are no answers.
//!
//! A split by time keeps the order of time, in which neighbours are alike by nature: there only the name is no question.

use crate::check::stats::{alike, rank_correlation};
use crate::check::table::{Column, Tables};
use crate::check::{Fault, Finding};

/// A correlation of ranks is told from here on, if chance does not make it.
const LEAST_CORRELATION: f64 = 0.1;
/// And an excess of like neighbours from here on.
const LEAST_EXCESS: f64 = 0.05;
/// Standard deviations beyond chance.
const DEVIATIONS: f64 = 6.0;
/// Fewer rows say nothing.
const LEAST_ROWS: usize = 50;
/// With more classes a target is not looked at as classes.
const MOST_CLASSES: u32 = 50;

pub(super) fn look(tables: &Tables, found: &mut Vec<Finding>) {
    let (Some(label), false) = (tables.label(), tables.split.starts_with("time:")) else { return };
    let (table, target, side) = match &tables.truth {
        Some(truth) => (&tables.test, truth, "test"),
        None => (&tables.train, label, "training"),
    };
    for key in &tables.keys {
        if let Some(column) = table.column(key)
            && let Some(how) = tells(&sorted(column), target)
        {
            found.push(Finding::new(
                Fault::OrderTells,
                &[key.as_str(), target.name.as_str()],
                format!("`{key}` tells `{}`: {how} when the {side} rows are sorted by it", target.name),
                format!(
                    "leave `{key}` out of the source, so that rows are named by numbers that mean nothing, or shuffle it"
                ),
            ));
            return;
        }
    }
    let places: Vec<usize> = (0..table.rows).collect();
    if let Some(how) = tells(&places, target) {
        found.push(Finding::new(
            Fault::OrderTells,
            &[target.name.as_str()],
            format!("the order of the {side} rows tells `{}`: {how} in the order of the file", target.name),
            format!("shuffle the rows of the {side} table"),
        ));
    }
}

/// Places of the rows in the order of a column's numbers, of a word that at its end; where it has none, as they are.
fn sorted(column: &Column) -> Vec<usize> {
    let mut places: Vec<usize> = (0..column.codes.len()).collect();
    let number = |place: &usize| column.numbers.get(*place).copied().unwrap_or(f64::NAN);
    if column.numbers.iter().all(|number| number.is_finite()) {
        places.sort_by(|one, other| number(one).total_cmp(&number(other)));
    }
    places
}

/// How the order of these places tells the target, if it does.
fn tells(places: &[usize], target: &Column) -> Option<String> {
    let filled: Vec<usize> = places
        .iter()
        .copied()
        .filter(|place| target.codes.get(*place).is_some_and(|code| *code > 0))
        .collect();
    if filled.len() < LEAST_ROWS {
        return None;
    }
    if target.is_numeric() {
        let values: Vec<f64> =
            filled.iter().filter_map(|place| target.numbers.get(*place).copied()).collect();
        let order: Vec<f64> = (0..values.len()).map(|place| place as f64).collect();
        let correlation = rank_correlation(&order, &values);
        let deviations = correlation.abs() * (values.len() as f64).sqrt();
        if correlation.abs() >= LEAST_CORRELATION && deviations >= DEVIATIONS {
            return Some(format!("a rank correlation of {correlation:.2}"));
        }
    }
    let classes: Vec<u32> = filled.iter().filter_map(|place| target.codes.get(*place).copied()).collect();
    let mut distinct = classes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let (excess, deviations) = alike(&classes);
    let told = distinct.len() <= MOST_CLASSES as usize && excess >= LEAST_EXCESS && deviations >= DEVIATIONS;
    told.then(|| format!("neighbours are alike {:.0} % more often than by chance", 100.0 * excess))
}
