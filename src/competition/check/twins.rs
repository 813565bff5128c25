//! Rows of the test set that the training set has too: the same cells, or the same once numbers are rounded and texts are
//! made plain. Columns that name a row (all of their cells differ) are left out, so that a row number hides nothing.
//!
//! In a table of a few categories rows are alike by chance. How many would be is estimated from how often two rows agree in
//! each column, and from how often two training rows agree: only what is beyond it is told.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::check::table::{Column, Tables};
use crate::check::{Fault, Finding, percent};
use crate::csv::{Row, float64};
use crate::own::OwnError;
use crate::own::rows;

/// Below these shares of the test rows nothing is told.
const LEAST_SHARE: f64 = 0.005;
/// Rows that agree by chance: so many at most for each test row, by the estimate.
const MOST_BY_CHANCE: f64 = 0.001;

pub(super) fn look(
    tables: &Tables,
    train: &Path,
    test: &Path,
    found: &mut Vec<Finding>,
) -> Result<(), OwnError> {
    let names: Vec<&str> = tables
        .features()
        .filter(|(column, _)| !names_rows(column) && column.filled > 0)
        .map(|(column, _)| column.name.as_str())
        .collect();
    let chance: f64 = tables
        .features()
        .filter(|(column, _)| names.contains(&column.name.as_str()))
        .map(|(column, _)| agreement(column))
        .product();
    if names.is_empty() || chance * tables.train.all_rows as f64 > MOST_BY_CHANCE {
        return Ok(());
    }
    let exact = shared(train, test, &names, false)?;
    let near = shared(train, test, &names, true)?;
    let rows = tables.test.all_rows;
    let much = |count: u64| count >= 2 && count as f64 >= LEAST_SHARE * rows as f64;
    if much(exact) {
        found.push(Finding::new(
            Fault::Duplicates,
            &[],
            format!(
                "{exact} test rows ({}) are also training rows, cell by cell: a model that remembers them scores too well",
                percent(exact, rows)
            ),
            "drop the doubles from the source before it is parted, or part it by what they share: --split group:COLUMN",
        ));
    }
    let rest = near.saturating_sub(exact);
    if much(rest) {
        found.push(Finding::new(
            Fault::NearDuplicates,
            &[],
            format!(
                "{rest} more test rows ({}) are training rows but for rounding, letter case or blanks",
                percent(rest, rows)
            ),
            "drop the doubles from the source before it is parted, or part it by what they share: --split group:COLUMN",
        ));
    }
    Ok(())
}

/// A column whose cells all differ, and that is no measurement: whole numbers or words.
fn names_rows(column: &Column) -> bool {
    let differ = u64::from(column.distinct) == column.filled && column.filled > 10;
    differ && (column.is_whole() || column.is_dated() || (!column.is_numeric() && column.length() < 12.0))
}

/// How often two rows agree in a column.
fn agreement(column: &Column) -> f64 {
    let mut codes = column.codes.clone();
    codes.sort_unstable();
    let n = codes.len().max(1) as f64;
    let shares = codes.chunk_by(|one, other| one == other).map(|chunk| (chunk.len() as f64 / n).powi(2));
    shares.sum()
}

/// How many test rows have the cells of a training row.
fn shared(train: &Path, test: &Path, names: &[&str], near: bool) -> Result<u64, OwnError> {
    let mut known = Vec::new();
    each_hash(train, names, near, |hash| known.push(hash))?;
    known.sort_unstable();
    let mut count = 0;
    each_hash(test, names, near, |hash| count += u64::from(known.binary_search(&hash).is_ok()))?;
    Ok(count)
}

fn each_hash(path: &Path, names: &[&str], near: bool, mut each: impl FnMut(u64)) -> Result<(), OwnError> {
    let mut places = Vec::new();
    rows::each(path, &rows::plain(), |number, row| {
        if number == 0 {
            let header: Vec<&str> = row.cells().collect();
            places = names.iter().filter_map(|name| header.iter().position(|known| known == name)).collect();
        } else {
            each(hash(row, &places, near));
        }
        Ok(())
    })
}

fn hash(row: &Row<'_>, places: &[usize], near: bool) -> u64 {
    let mut hasher = Sha256::new();
    for place in places {
        let cell = row.cell(*place).trim();
        match float64(cell.as_bytes()) {
            Some(number) if near => hasher.update(format!("{number:.2e}")),
            Some(number) => hasher.update(number.to_bits().to_le_bytes()),
            None if near => {
                let plain: String = cell.chars().filter(|c| c.is_alphanumeric()).collect();
                hasher.update(plain.to_lowercase());
            }
            None => hasher.update(cell),
        }
        hasher.update([0x1f]);
    }
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(hasher.finalize()).for_each(|(byte, of)| *byte = of);
    u64::from_le_bytes(bytes)
}
