//! Columns that by themselves tell the target: its copies under other names, and features that predict it better than an
//! honest measurement would, which usually were written down after the fact.

use std::collections::BTreeMap;

use crate::check::stats::{class_skill, correlation, neighbour_skill, rank_correlation};
use crate::check::table::{Column, Tables};
use crate::check::{Fault, Finding};

/// A numeric target is told from this correlation of ranks on.
const LEAST_CORRELATION: f64 = 0.995;
/// And a class from this share of what can be told.
const LEAST_SKILL: f64 = 0.97;
/// Fewer rows say nothing.
const LEAST_ROWS: usize = 30;
/// More classes are looked at as numbers.
const MOST_CLASSES: u32 = 50;

pub(super) fn look(tables: &Tables, found: &mut Vec<Finding>) {
    let Some(label) = tables.label() else { return };
    for (column, _) in tables.features() {
        let both = rows(column, label);
        if both.len() < LEAST_ROWS || column.distinct < 2 {
            continue;
        }
        let (name, target) = (column.name.as_str(), label.name.as_str());
        if is_copy(column, label, &both) {
            found.push(Finding::new(
                Fault::TargetCopy,
                &[name, target],
                format!("`{name}` is `{target}` under another name: each value of one goes with one value of the other"),
                format!("leave `{name}` out of the source"),
            ));
        } else if let Some(how) = tells(column, label, &both) {
            found.push(Finding::new(
                Fault::PredictsTooWell,
                &[name, target],
                format!("`{name}` alone tells `{target}`: {how}"),
                format!("leave `{name}` out unless it is really known when a prediction is made"),
            ));
        }
    }
}

/// Rows in which both have a value.
fn rows(column: &Column, label: &Column) -> Vec<usize> {
    let filled = |codes: &[u32], place: usize| codes.get(place).is_some_and(|code| *code > 0);
    (0..column.codes.len())
        .filter(|place| filled(&column.codes, *place) && filled(&label.codes, *place))
        .collect()
}

fn pick<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().filter_map(|place| values.get(*place).copied()).collect()
}

/// Whether the values of both go together one to one, or along a straight line.
fn is_copy(column: &Column, label: &Column, both: &[usize]) -> bool {
    if column.is_numeric() && label.is_numeric() && label.distinct > 2 {
        let [left, right] = [column, label].map(|one| pick(&one.numbers, both));
        return correlation(&left, &right).abs() > 0.999_999;
    }
    // One value a row goes with anything one to one.
    if u64::from(column.distinct) * 2 > both.len() as u64 || column.distinct > MOST_CLASSES {
        return false;
    }
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    let [left, right] = [column, label].map(|one| pick(&one.codes, both));
    left.iter().zip(&right).all(|(left, right)| {
        *there.entry(*left).or_insert(*right) == *right && *back.entry(*right).or_insert(*left) == *left
    })
}

fn tells(column: &Column, label: &Column, both: &[usize]) -> Option<String> {
    if label.is_numeric() && label.distinct > MOST_CLASSES {
        if !column.has_order() {
            return None;
        }
        let [left, right] = [column, label].map(|one| pick(&one.numbers, both));
        let correlation = rank_correlation(&left, &right);
        return (correlation.abs() >= LEAST_CORRELATION)
            .then(|| format!("the correlation of their ranks is {correlation:.4}"));
    }
    let classes = pick(&label.codes, both);
    let skill = if column.has_order() && column.distinct > MOST_CLASSES {
        neighbour_skill(&pick(&column.numbers, both), &classes)
    } else {
        class_skill(&pick(&column.codes, both), &classes)
    };
    (skill >= LEAST_SKILL).then(|| {
        format!("it leaves {:.1} % of the errors of always saying the commonest value", 100.0 * (1.0 - skill))
    })
}
