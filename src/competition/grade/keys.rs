//! Pairs the rows of a submission with those of the answers by their key columns.
//!
//! Keys compare as pandas compares them: whole numbers equal floats of the same value and never text; a missing key
//! equals nothing. Several key columns are folded into one code per row, so that no row costs an allocation.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::csv::{Cell, Column, Table};
use crate::grade::hash::FastHash;
use crate::grade::outcome::AnswersFault;
use crate::grade::reason::{count, quote};

/// One key: what compares equal is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key<'a> {
    /// A whole number.
    Whole(i64),
    /// Beyond the signed range.
    Large(u64),
    /// The bits of any other number.
    Real(u64),
    /// Text as spelled.
    Text(&'a str),
}

impl<'a> Key<'a> {
    /// The key in a cell; none in a missing one.
    pub(crate) fn of(cell: Cell<'a>) -> Option<Self> {
        Some(match cell {
            Cell::Missing => return None,
            Cell::Boolean(value) => Self::Whole(i64::from(value)),
            Cell::Integer(value) => Self::Whole(value),
            Cell::Unsigned(value) => i64::try_from(value).map_or(Self::Large(value), Self::Whole),
            Cell::Float(value) => Self::of_float(value),
            Cell::Text(text) => Self::Text(text),
        })
    }

    /// A number that equal keys share and most others do not, told at a glance: of a text its length and its ends.
    pub(crate) fn mark(&self) -> u64 {
        match *self {
            Self::Whole(value) => value.cast_unsigned(),
            Self::Large(value) | Self::Real(value) => value,
            Self::Text(text) => {
                let bytes = text.as_bytes();
                let ends = bytes.first_chunk::<8>().zip(bytes.last_chunk::<8>());
                let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
                let ends = match ends {
                    Some((first, last)) => number(first) ^ number(last).rotate_left(29),
                    None => bytes.iter().fold(0, |ends, byte| ends << 8 | u64::from(*byte)),
                };
                ends ^ bytes.len() as u64
            }
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and within the range, the upper ends being powers of two"
    )]
    fn of_float(value: f64) -> Self {
        const SIGNED: f64 = 9_223_372_036_854_775_808.0;
        if value.fract() != 0.0 || !(-SIGNED..2.0 * SIGNED).contains(&value) {
            Self::Real(value.to_bits())
        } else if value < SIGNED {
            Self::Whole(value as i64)
        } else {
            Self::Large(value as u64)
        }
    }
}

/// The key columns of a table.
pub(crate) struct KeyColumns<'a> {
    names: &'a [String],
    columns: Vec<&'a Column>,
    rows: usize,
}

impl<'a> KeyColumns<'a> {
    /// The key columns `names` of `table`; the error is the first that is missing.
    pub(crate) fn of(table: &'a Table, names: &'a [String]) -> Result<Self, &'a String> {
        let columns: Result<Vec<&Column>, &String> =
            names.iter().map(|name| table.column(name).ok_or(name)).collect();
        Ok(Self { names, columns: columns?, rows: table.rows })
    }

    /// The number of the data row with its key, for reasons.
    pub(crate) fn row_name(&self, row: usize) -> String {
        format!("data row {} ({})", row + 1, self.key_name(row))
    }

    /// The key columns with their cells, for reasons.
    fn key_name(&self, row: usize) -> String {
        let parts: Vec<String> = self
            .names
            .iter()
            .zip(&self.columns)
            .map(|(name, column)| format!("{name} {}", quote(&column.cell(row).to_string())))
            .collect();
        parts.join(", ")
    }
}

/// The keys of the answers, ready to be looked up.
pub(crate) struct AnswerKeys<'a> {
    keys: KeyColumns<'a>,
    /// Per key column: (code of the columns before, key) to code. The last code is the row.
    codes: Vec<HashMap<(usize, Key<'a>), usize, FastHash>>,
}

impl<'a> AnswerKeys<'a> {
    /// Indexes the answers' keys; says which row is at fault when one is missing or repeated.
    pub(crate) fn index(keys: KeyColumns<'a>) -> Result<Self, AnswersFault> {
        let mut codes: Vec<HashMap<(usize, Key<'_>), usize, FastHash>> = Vec::new();
        for _ in &keys.columns {
            codes.push(HashMap::with_capacity_and_hasher(keys.rows, FastHash::default()));
        }
        for row in 0..keys.rows {
            let mut code = 0;
            let mut fresh = false;
            for (column, known) in keys.columns.iter().zip(&mut codes) {
                let Some(key) = Key::of(column.cell(row)) else {
                    return Err(AnswersFault::NoKey { row: row + 1 });
                };
                let next = known.len();
                (code, fresh) = match known.entry((code, key)) {
                    Entry::Vacant(entry) => (*entry.insert(next), true),
                    Entry::Occupied(entry) => (*entry.get(), false),
                };
            }
            if !fresh {
                return Err(AnswersFault::RepeatedKey { row: row + 1 });
            }
        }
        Ok(Self { keys, codes })
    }

    /// Number of rows to predict.
    pub(crate) fn rows(&self) -> usize {
        self.keys.rows
    }

    /// For each row of the answers the row of the submission with the same key, or why they cannot be paired.
    pub(crate) fn pair(&self, submission: &KeyColumns<'_>) -> Result<Vec<usize>, String> {
        let mut rows: Vec<Option<usize>> = vec![None; self.rows()];
        for row in 0..submission.rows {
            let code = self.find(submission, row)?;
            let Some(slot) = rows.get_mut(code) else { continue };
            if let Some(first) = slot.replace(row) {
                let (key, first) = (submission.key_name(row), first + 1);
                return Err(format!("{key} stands twice, in data rows {first} and {}", row + 1));
            }
        }
        let missing = rows.iter().filter(|row| row.is_none()).count();
        match rows.iter().position(Option::is_none) {
            None => Ok(rows.into_iter().flatten().collect()),
            Some(first) => Err(format!(
                "{} of the {} to predict {} missing, the first is {}",
                count(missing, "row"),
                self.rows(),
                if missing == 1 { "is" } else { "are" },
                self.keys.key_name(first)
            )),
        }
    }

    fn find(&self, submission: &KeyColumns<'_>, row: usize) -> Result<usize, String> {
        let mut code = 0;
        let parts = submission.columns.iter().zip(&self.codes).zip(submission.names);
        for (position, ((column, codes), name)) in parts.enumerate() {
            let cell = column.cell(row);
            let Some(key) = Key::of(cell) else {
                let column = quote(name);
                return Err(format!("data row {}: the cell in key column {column} is empty", row + 1));
            };
            match codes.get(&(code, key)) {
                Some(next) => code = *next,
                None => return Err(self.unknown(submission, row, position)),
            }
        }
        Ok(code)
    }

    fn unknown(&self, submission: &KeyColumns<'_>, row: usize, position: usize) -> String {
        let reason = format!("{} is not one of the rows to predict", submission.row_name(row));
        let kinds = [&submission.columns, &self.keys.columns]
            .map(|columns| columns.get(position).is_some_and(|column| column.is_numeric()));
        let name = submission.names.get(position).map(|name| quote(name)).unwrap_or_default();
        match kinds {
            [true, false] => reason + &format!("; column {name} holds numbers, text is expected"),
            [false, true] => reason + &format!("; column {name} holds text, numbers are expected"),
            _ => reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_equal_floats_of_their_value() {
        let same = |left, right| Key::of(left) == Key::of(right);
        assert!(same(Cell::Integer(-3), Cell::Float(-3.0)) && same(Cell::Float(-0.0), Cell::Boolean(false)));
        assert!(same(Cell::Unsigned(1 << 63), Cell::Float(9_223_372_036_854_775_808.0)));
        assert!(same(Cell::Unsigned(7), Cell::Integer(7)) && !same(Cell::Float(0.5), Cell::Integer(0)));
        assert!(!same(Cell::Text("7"), Cell::Integer(7)) && Key::of(Cell::Missing).is_none());
    }
}
