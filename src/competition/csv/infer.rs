//! The type of a block of cells, tried in pandas' order: signed integers, unsigned integers when one overflows,
//! floats, booleans, text. Each try stops at the first cell that does not fit, so the order of the cells matters
//! where an overflow is involved; that is pandas' law and kept.

use crate::csv::column::{Column, MixedCell, Texts};
use crate::csv::number::{Decimals, NoInteger, UnsignedSeen, boolean, int64, is_missing, uint64};

/// The cells of one column, block by block. Blocks of text stay where they are, so that a column of text is written
/// once; any other type becomes a column of its own.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    cells: Texts,
    /// Rows of the blocks before the last one, all of them text.
    settled: usize,
    /// What the blocks have become, where that is not text alone: runs of blocks of one type.
    runs: Vec<Column>,
}

impl Blocks {
    pub(crate) fn push(&mut self, cell: &str) {
        self.cells.push_spelled(cell);
    }

    /// Ends a block; its cells are kept as the file spells them, none of them missing.
    pub(crate) fn end_as_text(&mut self) {
        self.settle_text(|_| false);
    }

    /// Ends a block under the type that fits all of its cells.
    pub(crate) fn end_inferred(&mut self, decimals: Decimals) {
        if self.cells.len() == self.settled {
            return self.end_as_text();
        }
        let column = match self.integers() {
            Integers::Column(column) => Some(column),
            Integers::Text { missing_words: true } => None,
            Integers::Text { missing_words: false } => return self.end_as_text(),
            Integers::No => self.floats(decimals).or_else(|| self.booleans()),
        };
        match column {
            None => self.settle_text(is_missing),
            Some(column) => {
                self.cells.truncate(self.settled);
                self.append(column);
            }
        }
    }

    /// The column of all blocks; none where no block has ended.
    pub(crate) fn finish(self) -> Option<Column> {
        let text = self.settled > 0 || self.runs.is_empty();
        if text { Some(Column::Text(self.cells)) } else { Column::joined(self.runs) }
    }

    fn settle_text(&mut self, missing: impl Fn(&[u8]) -> bool) {
        self.cells.mark_missing_from(self.settled, missing);
        self.settled = self.cells.len();
        if !self.runs.is_empty() {
            let next = Column::Text(self.take_text());
            self.append(next);
        }
    }

    fn take_text(&mut self) -> Texts {
        self.settled = 0;
        std::mem::take(&mut self.cells)
    }

    fn append(&mut self, next: Column) {
        if self.settled > 0 {
            let text = Column::Text(self.take_text());
            self.runs.push(text);
        }
        let next = match self.runs.last_mut() {
            None => Some(next),
            Some(run) => run.extended(next),
        };
        self.runs.extend(next);
    }

    /// The cells of the block that has not ended.
    fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.cells.spelled(self.settled)
    }

    fn rows(&self) -> usize {
        self.cells.len() - self.settled
    }

    fn integers(&self) -> Integers {
        let mut values = Vec::with_capacity(self.rows());
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
        let mut values = Vec::with_capacity(self.rows());
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

    fn floats(&self, decimals: Decimals) -> Option<Column> {
        let mut values = Vec::with_capacity(self.rows());
        for cell in self.cells() {
            values.push(if is_missing(cell) { f64::NAN } else { decimals.double(cell)? });
        }
        Some(Column::Float(values))
    }

    fn booleans(&self) -> Option<Column> {
        let mut values = Vec::with_capacity(self.rows());
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
