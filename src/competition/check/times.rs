//! Dates: training rows that are later than test rows, rows that end before they begin, tables that run from the latest to
//! the earliest.

use crate::check::table::{Column, Tables};
use crate::check::{Fault, Finding, percent};

/// A column of dates is a time line when so many of its cells differ.
const LINE: f64 = 0.9;
/// Two dates have an order when so many rows keep it.
const ORDERED: f64 = 0.95;

pub(super) fn look(tables: &Tables, found: &mut Vec<Finding>) {
    let dated: Vec<(&Column, &Column)> = tables
        .train
        .columns
        .iter()
        .filter(|column| !tables.targets.contains(&column.name))
        .filter_map(|column| Some((column, tables.test.column(&column.name)?)))
        .collect();
    if let Some(name) = tables.split.strip_prefix("time:").and_then(|rest| rest.split(',').next()) {
        let column = dated.iter().find(|(column, _)| column.name == name);
        if let Some((train, test)) = column {
            parted(train, test, found);
        }
    }
    let lines: Vec<&(&Column, &Column)> = dated.iter().filter(|(column, _)| column.is_dated()).collect();
    for (train, test) in &lines {
        if is_line(train) && !tables.split.starts_with("time:") && !tables.split.starts_with("group:") {
            future(train, test, found);
        }
        backwards(train, found);
    }
    pairs(&lines, found);
}

fn extremes(column: &Column) -> (f64, f64) {
    let numbers = column.numbers.iter().copied().filter(|number| number.is_finite());
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), number| {
        (least.min(number), most.max(number))
    })
}

/// A split by time must have the test rows behind the training rows.
fn parted(train: &Column, test: &Column, found: &mut Vec<Finding>) {
    let (_, last) = extremes(train);
    let early = test.numbers.iter().filter(|number| **number < last).count() as u64;
    if early > 0 {
        found.push(Finding::new(
            Fault::TrainsOnTheFuture,
            &[train.name.as_str()],
            format!(
                "the split is by `{}`, and {early} test rows ({}) are earlier than the last training row",
                train.name,
                percent(early, test.numbers.len() as u64)
            ),
            format!("part the source anew: --split time:{}", train.name),
        ));
    }
}

/// Rows of a time line that were drawn by chance lie among each other.
fn future(train: &Column, test: &Column, found: &mut Vec<Finding>) {
    let (_, last) = extremes(train);
    let early = test.numbers.iter().filter(|number| **number < last).count() as u64;
    let rows = test.numbers.len() as u64;
    if early * 2 > rows && is_sorted(train) != 0 {
        found.push(Finding::new(
            Fault::TrainsOnTheFuture,
            &[train.name.as_str()],
            format!(
                "the table is a time line by `{}`, and {} of the test rows lie before training rows: neighbours in time tell \
                 them",
                train.name,
                percent(early, rows)
            ),
            format!("to predict what comes later, part by time: --split time:{}", train.name),
        ));
    }
}

fn backwards(train: &Column, found: &mut Vec<Finding>) {
    if is_line(train) && is_sorted(train) < 0 {
        found.push(Finding::new(
            Fault::DatesBackwards,
            &[train.name.as_str()],
            format!(
                "the training rows run backwards: the first row has the latest `{}`, the last the earliest",
                train.name
            ),
            "sort the source by time, or folds that follow the order of the rows will train on the future",
        ));
    }
}

/// Two dates of one row of which the second is nearly always the later one.
fn pairs(lines: &[&(&Column, &Column)], found: &mut Vec<Finding>) {
    for (place, (one, _)) in lines.iter().enumerate() {
        for (other, _) in lines.iter().skip(place + 1) {
            let both = one
                .numbers
                .iter()
                .zip(&other.numbers)
                .filter(|(one, other)| one.is_finite() && other.is_finite());
            let (mut rows, mut up, mut down) = (0_u64, 0_u64, 0_u64);
            for (one, other) in both {
                rows += 1;
                up += u64::from(one < other);
                down += u64::from(one > other);
            }
            let (first, second, wrong) = if up >= down { (one, other, down) } else { (other, one, up) };
            if rows >= 20 && wrong > 0 && (rows - wrong) as f64 >= ORDERED * rows as f64 {
                found.push(Finding::new(
                    Fault::DatesBackwards,
                    &[first.name.as_str(), second.name.as_str()],
                    format!(
                        "`{}` is not after `{}` but in {wrong} of {rows} training rows, where the dates run backwards",
                        first.name, second.name
                    ),
                    "mend or drop those rows: days and months may be exchanged",
                ));
            }
        }
    }
}

fn is_line(column: &Column) -> bool {
    column.is_dated() && f64::from(column.distinct) >= LINE * column.filled as f64 && column.filled >= 20
}

/// 1 where the rows run forwards, -1 where they run backwards, 0 where they do neither.
fn is_sorted(column: &Column) -> i8 {
    let numbers: Vec<f64> = column.numbers.iter().copied().filter(|number| number.is_finite()).collect();
    let steps = numbers.len().saturating_sub(1) as f64;
    let share = |up: bool| {
        let goes =
            |pair: &&[f64]| matches!(pair, [one, other] if if up { one <= other } else { one >= other });
        numbers.windows(2).filter(goes).count() as f64 / steps.max(1.0)
    };
    if share(true) >= 0.99 {
        1
    } else if share(false) >= 0.99 {
        -1
    } else {
        0
    }
}
