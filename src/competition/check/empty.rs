//! Columns without a value, on both sides or on one, columns with one value only, and classes that only the test set has.

use std::collections::BTreeSet;

use crate::check::table::{Column, Tables};
use crate::check::{Fault, Finding};

pub(super) fn look(tables: &Tables, found: &mut Vec<Finding>) {
    for (train, test) in tables.features() {
        let name = train.name.as_str();
        let rows = (train.codes.len(), test.codes.len());
        let text = match (train.filled, test.filled) {
            (0, 0) => format!("`{name}` has no value in any row"),
            (0, filled) => format!("`{name}` has no value in any training row, and {filled} in test rows"),
            (filled, 0) => format!("`{name}` has no value in any test row, and {filled} in training rows"),
            _ => {
                constant(train, test, found);
                continue;
            }
        };
        if rows.0 > 0 && rows.1 > 0 {
            let advice = format!("leave `{name}` out of the source");
            found.push(Finding::new(Fault::EmptyColumn, &[name], text, advice));
        }
    }
    classes(tables, found);
}

fn constant(train: &Column, test: &Column, found: &mut Vec<Finding>) {
    let whole = train.filled == train.codes.len() as u64 && test.filled == test.codes.len() as u64;
    if train.distinct == 1 && test.distinct == 1 && whole && train.codes.len() > 1 {
        found.push(Finding::new(
            Fault::ConstantColumn,
            &[train.name.as_str()],
            format!("`{}` has one value only", train.name),
            format!("leave `{}` out of the source", train.name),
        ));
    }
}

fn classes(tables: &Tables, found: &mut Vec<Finding>) {
    let (Some(label), Some(truth)) = (tables.label(), &tables.truth) else { return };
    // Every n-th row may miss a rare class.
    if label.distinct > 50 || tables.train.stride() > 1 {
        return;
    }
    let known: BTreeSet<u32> = label.codes.iter().copied().collect();
    let numeric = label.is_numeric() && label.distinct > 20;
    let unknown: BTreeSet<u32> =
        truth.codes.iter().copied().filter(|code| *code > 0 && !known.contains(code)).collect();
    if !unknown.is_empty() && !numeric {
        let rows = truth.codes.iter().filter(|code| unknown.contains(code)).count();
        found.push(Finding::new(
            Fault::UnknownClass,
            &[label.name.as_str()],
            format!(
                "{rows} test rows have one of {} values of `{}` that no training row has",
                unknown.len(),
                label.name
            ),
            "part the source anew with --split stratified, or drop classes of few rows",
        ));
    }
}
