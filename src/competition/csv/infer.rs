//! The type of a block of cells, tried in pandas' order: signed integers, unsigned integers when one overflows,
//! floats, booleans, text. Each try stops at the first cell that does not fit, so the order of the cells matters
//! where an overflow is involved; that is pandas' law and kept.

use crate::csv::column::{Column, MixedCell, Texts};
use crate::csv::ends::Ends;
use crate::csv::number::{NoInteger, UnsignedSeen, boolean, float64, int64, is_missing, uint64};

/// The cells of one column in one block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    ends: Ends,
}

impl Block {
    pub(crate) fn push(&mut self, cell: &[u8]) {
        self.bytes.extend_from_slice(cell);
        self.ends.push(self.bytes.len());
    }

    fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.ends.spans().map(|span| self.bytes.get(span).unwrap_or_default())
    }

    /// The cells as the file spells them, none of them missing. The block is empty after it.
    pub(crate) fn take_text(&mut self) -> Column {
        self.take_texts(|_| false)
    }

    /// The cells under the type that fits them all. The block is empty after it.
    pub(crate) fn take_inferred(&mut self) -> Column {
        if self.ends.is_empty() {
            return self.take_text();
        }
        let column = match self.integers() {
            Integers::Column(column) => Some(column),
            Integers::Text { missing_words: true } => None,
            Integers::Text { missing_words: false } => return self.take_text(),
            Integers::No => self.floats().or_else(|| self.booleans()),
        };
        match column {
            None => self.take_texts(is_missing),
            Some(column) => {
                self.bytes.clear();
                self.ends.clear();
                column
            }
        }
    }

    /// The buffer becomes the column's.
    fn take_texts(&mut self, missing: impl Fn(&[u8]) -> bool) -> Column {
        let (bytes, ends) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.ends));
        Column::Text(Texts::of_buffer(bytes, ends, missing))
    }

    fn integers(&self) -> Integers {
        let mut values = Vec::with_capacity(self.ends.len());
        let mut missing = false;
        for cell in self.cells() {
            if is_missing(cell) {
                missing = true;
                // pandas marks a missing cell with the least integer, and loses a real one to it.
                values.push(i64::MIN);
                continue;
            }
            match int64(cell) {
                Ok(value) => values.push(value),
                Err(NoInteger::Overflow) => return self.unsigned(),
                Err(NoInteger::Invalid) => return Integers::No,
            }
        }
        if missing {
            let floats = values
                .into_iter()
                .map(|value| if value == i64::MIN { f64::NAN } else { value as f64 })
                .collect();
            return Integers::Column(Column::Float(floats));
        }
        Integers::Column(Column::Integer(values))
    }

    fn unsigned(&self) -> Integers {
        let mut values = Vec::with_capacity(self.ends.len());
        let mut seen = UnsignedSeen::default();
        for cell in self.cells() {
            if is_missing(cell) {
                seen.missing = true;
                values.push(0);
                continue;
            }
            match uint64(cell, &mut seen) {
                Ok(value) => values.push(value),
                Err(NoInteger::Overflow) => return Integers::Text { missing_words: true },
                Err(NoInteger::Invalid) => return Integers::No,
            }
        }
        if seen.unsigned && (seen.signed || seen.missing) {
            return Integers::Text { missing_words: false };
        }
        if seen.signed {
            return Integers::Text { missing_words: true };
        }
        Integers::Column(Column::Unsigned(values))
    }

    fn floats(&self) -> Option<Column> {
        let mut values = Vec::with_capacity(self.ends.len());
        for cell in self.cells() {
            values.push(if is_missing(cell) { f64::NAN } else { float64(cell)? });
        }
        Some(Column::Float(values))
    }

    fn booleans(&self) -> Option<Column> {
        let mut values = Vec::with_capacity(self.ends.len());
        for cell in self.cells() {
            values.push(if is_missing(cell) { None } else { Some(boolean(cell)?) });
        }
        if values.iter().all(Option::is_some) {
            return Some(Column::Boolean(values.into_iter().flatten().collect()));
        }
        let mixed = |value: Option<bool>| value.map_or(MixedCell::Missing, MixedCell::Boolean);
        Some(Column::Mixed(values.into_iter().map(mixed).collect()))
    }
}

/// What came of the attempt to read a block as integers.
enum Integers {
    Column(Column),
    /// Text without trying floats; a word for "missing" may count as text too.
    Text {
        missing_words: bool,
    },
    No,
}
