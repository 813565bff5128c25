//! The type of a block of cells, tried in pandas' order: signed integers, unsigned integers when one overflows,
//! floats, booleans, text. Each try stops at the first cell that does not fit, so the order of the cells matters
//! where an overflow is involved; that is pandas' law and kept.

use crate::csv::column::{Column, MixedCell, Texts};
use crate::csv::number::{Decimals, NoInteger, UnsignedSeen, boolean, int64, is_missing, uint64};
use crate::csv::packed::{self, Packed};

/// The cells of one column, block by block. Blocks of text stay where they are, so that a column of text is written
/// once; any other type becomes a column of its own. Short plain numbers are packed until a cell comes that is none.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The cells of the block that has not ended, where all of them are such numbers.
    packed: Vec<Packed>,
    spells: Spells,
    /// Rows of a whole block.
    block_rows: usize,
    cells: Texts,
    /// Rows of the blocks before the last one, all of them text.
    settled: usize,
    /// What the blocks have become, where that is not text alone: runs of blocks of one type.
    runs: Vec<Column>,
}

/// Which cells are kept as the file spells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Spells {
    /// None so far.
    #[default]
    No,
    /// Those of the block that has not ended: one of them cannot be packed.
    ThisBlock,
    /// All of them: the column is text whatever its cells are, and no word means "missing".
    All,
}

impl Blocks {
    pub(crate) fn new(as_text: bool, block_rows: usize) -> Self {
        Self { spells: if as_text { Spells::All } else { Spells::No }, block_rows, ..Self::default() }
    }

    /// Takes out what has come so far.
    pub(crate) fn take(&mut self) -> Self {
        let next = Self::new(self.spells == Spells::All, self.block_rows);
        std::mem::replace(self, next)
    }

    pub(crate) fn push(&mut self, cell: &str) {
        if self.spells == Spells::No {
            if let Some(number) = Packed::of(cell.as_bytes()) {
                if self.packed.capacity() == 0 {
                    // Room for all at once: what is not used of it costs nothing, and what grows bit by bit is copied
                    // and leaves holes.
                    self.packed.reserve_exact(self.block_rows);
                }
                return self.packed.push(number);
            }
            self.spell_packed();
        }
        self.cells.push_spelled(cell);
    }

    fn spell_packed(&mut self) {
        self.spells = Spells::ThisBlock;
        let mut text = String::new();
        for number in std::mem::take(&mut self.packed) {
            number.spell(&mut text);
            self.cells.push_spelled(&text);
        }
    }

    /// Ends a block, under the type that fits all of its cells.
    pub(crate) fn end_block(&mut self, decimals: Decimals) {
        match self.spells {
            Spells::All => self.settle_text(|_| false),
            Spells::No => {
                let column = packed::column(std::mem::take(&mut self.packed), decimals);
                self.append(column);
            }
            Spells::ThisBlock => {
                self.spells = Spells::No;
                self.end_spelled(decimals);
            }
        }
    }

    fn end_spelled(&mut self, decimals: Decimals) {
        let column = match self.integers() {
            Integers::Column(column) => Some(column),
            Integers::Text { missing_words: true } => None,
            Integers::Text { missing_words: false } => return self.settle_text(|_| false),
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
