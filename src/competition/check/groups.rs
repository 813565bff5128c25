//! Rows of one group on both sides: columns that look as if they named persons, places or sessions, whose rows have like
//! labels. A model then knows test rows by their group, and new groups will be harder.

use std::collections::BTreeSet;

use crate::check::stats::explained;
use crate::check::table::{Column, Tables};
use crate::check::{Fault, Finding, percent};

/// Parts of names that groups have.
const WORDS: [&str; 22] = [
    "patient",
    "person",
    "user",
    "customer",
    "client",
    "household",
    "family",
    "subject",
    "participant",
    "student",
    "group",
    "session",
    "account",
    "member",
    "owner",
    "author",
    "speaker",
    "machine",
    "device",
    "sensor",
    "site",
    "animal",
];
/// From so much of the labels' variance on, rows of one group are alike.
const LEAST_EXPLAINED: f64 = 0.1;
/// From so large a share of the test rows on, it matters.
const LEAST_SHARE: f64 = 0.1;

pub(super) fn look(tables: &Tables, found: &mut Vec<Finding>) {
    let Some(label) = tables.label() else { return };
    for (train, test) in tables.features() {
        let split = format!("group:{}", train.name);
        if tables.split.starts_with(&split) || !looks_like_groups(train) {
            continue;
        }
        let known: BTreeSet<u32> = train.codes.iter().copied().filter(|code| *code > 0).collect();
        let shared = test.codes.iter().filter(|code| known.contains(code)).count() as u64;
        if (shared as f64) < LEAST_SHARE * test.codes.len() as f64 {
            continue;
        }
        let explained = by_group(train, label);
        if explained < LEAST_EXPLAINED {
            continue;
        }
        found.push(Finding::new(
            Fault::GroupOnBothSides,
            &[train.name.as_str()],
            format!(
                "{} of the test rows have a `{name}` that training rows have too, and rows of one `{name}` have like \
                 labels ({:.0} % of the variance of `{}`)",
                percent(shared, test.codes.len() as u64),
                100.0 * explained,
                label.name,
                name = train.name
            ),
            format!("if a new `{name}` is to be predicted, part by it: --split group:{name}", name = train.name),
        ));
    }
}

fn looks_like_groups(column: &Column) -> bool {
    let name = column.name.to_lowercase();
    let parts: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    let named = parts.contains(&"id") || name.ends_with("id") || WORDS.iter().any(|word| name.contains(word));
    let distinct = u64::from(column.distinct);
    let words = column.is_whole() || !column.is_numeric();
    named && words && distinct >= 10 && column.filled * 2 >= distinct * 3 && column.filled >= 50
}

/// The share of the variance of the labels that the groups explain; of words the commonest class's.
fn by_group(column: &Column, label: &Column) -> f64 {
    let value: Box<dyn Fn(usize) -> f64> = if label.is_numeric() {
        Box::new(|place| label.numbers.get(place).copied().unwrap_or(f64::NAN))
    } else {
        let mut codes: Vec<u32> = label.codes.iter().copied().filter(|code| *code > 0).collect();
        codes.sort_unstable();
        let most = codes.chunk_by(|one, other| one == other).max_by_key(|chunk| chunk.len());
        let most = most.and_then(|chunk| chunk.first().copied()).unwrap_or(0);
        Box::new(move |place| f64::from(u8::from(label.codes.get(place) == Some(&most))))
    };
    let rows =
        column.codes.iter().enumerate().filter(|(place, code)| **code > 0 && value(*place).is_finite());
    let (groups, values): (Vec<u32>, Vec<f64>) = rows.map(|(place, code)| (*code, value(place))).unzip();
    explained(&groups, &values)
}
