//! The type of a block of cells, tried in pandas' order: signed integers, unsigned integers when one overflows,
//! floats, booleans, text. Each try stops at the first cell that does not fit, so the order of the cells matters
//! where an overflow is involved; that is pandas' law and kept.

use crate::csv::column::{Column, MixedCell, Texts};
use crate::csv::number::{Decimals, NoInteger, UnsignedSeen, is_missing};
use crate::csv::packed::{Untyped, Waiting};

/// The cells of one column, block by block. Blocks of text stay where they are, so that a column of text is written
/// once; any other type becomes a column of its own. Plain numbers are packed as long as few cells are anything else.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The cells of the block that has not ended, where nearly all of them are such numbers.
    packed: Waiting,
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
    /// Those of the block that has not ended: too many of them cannot be packed.
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
            if self.packed.push(cell, self.block_rows) {
                return;
            }
            self.spells = Spells::ThisBlock;
            self.spell_packed();
        }
        self.cells.push_spelled(cell);
    }

    fn spell_packed(&mut self) {
        std::mem::take(&mut self.packed).spell(&mut self.cells);
    }

    /// Ends a block, under the type that fits all of its cells.
    pub(crate) fn end_block(&mut self, decimals: Decimals) {
        match self.spells {
            Spells::All => self.settle_text(|_| false),
            Spells::No if self.packed.is_plain() => {
                let column = std::mem::take(&mut self.packed).column(decimals);
                self.append(column);
            }
            Spells::No | Spells::ThisBlock => {
                self.spells = Spells::No;
                self.end_mixed(decimals);
            }
        }
    }

    fn end_mixed(&mut self, decimals: Decimals) {
        let (column, missing_words) = match self.integers() {
            Integers::Column(column) => (Some(column), false),
            Integers::Text { missing_words } => (None, missing_words),
            Integers::No => (self.floats(decimals).or_else(|| self.booleans()), true),
        };
        match column {
            None => {
                self.spell_packed();
                self.settle_text(|cell| missing_words && is_missing(cell));
            }
            Some(column) => {
                self.packed = Waiting::default();
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
    fn cells(&self) -> impl Iterator<Item = Untyped<'_>> {
        self.packed.cells().chain(self.cells.spelled(self.settled).map(Untyped::Spelled))
    }

    fn rows(&self) -> usize {
        self.packed.len() + self.cells.len() - self.settled
    }

    fn integers(&self) -> Integers {
        let mut values = Vec::with_capacity(self.rows());
        let mut missing = false;
        for cell in self.cells() {
            if cell.is_missing() {
                missing = true;
                // pandas marks a missing cell with the least integer, and loses a real one to it.
                values.push(i64::MIN);
                continue;
            }
            match cell.int64() {
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
            if cell.is_missing() {
                seen.missing = true;
                values.push(0);
                continue;
            }
            match cell.uint64(&mut seen) {
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
        let mut scratch = String::new();
        let mut values = Vec::with_capacity(self.rows());
        for cell in self.cells() {
            values.push(if cell.is_missing() { f64::NAN } else { cell.double(decimals, &mut scratch)? });
        }
        Some(Column::Float(values))
    }

    fn booleans(&self) -> Option<Column> {
        let mut values = Vec::with_capacity(self.rows());
        for cell in self.cells() {
            values.push(if cell.is_missing() { None } else { Some(cell.boolean()?) });
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => "-?[0-9]{1,3}",
            4 => "-?[0-9]{1,2}[.][0-9]{0,3}",
            2 => (0f64..1.0).prop_map(|value| value.to_string()),
            2 => prop::sample::select(vec!["", "", "-0", "0", "0.0", "-0.0"]).prop_map(str::to_owned),
            1 => "[+]?0{0,2}[0-9]{17,20}",
            1 => prop::sample::select(vec!["NA", "nan", "True", "false", "inf", "1e5", "x", " 7", "9223372036854775808"])
                .prop_map(str::to_owned),
        ]
    }

    /// Many cells of few kinds.
    fn column() -> impl Strategy<Value = Vec<String>> {
        (prop::collection::vec(cell(), 1..6), prop::collection::vec(any::<prop::sample::Index>(), 1..300))
            .prop_map(|(kinds, picks)| picks.iter().map(|pick| pick.get(&kinds).clone()).collect())
    }

    fn read(cells: &[String], spells: Spells, block_rows: usize, decimals: Decimals) -> String {
        let mut blocks = Blocks { spells, ..Blocks::new(false, block_rows) };
        for block in cells.chunks(block_rows) {
            // A block begins without a spelled cell by itself.
            blocks.spells = spells;
            for cell in block {
                blocks.push(cell);
            }
            blocks.end_block(decimals);
        }
        format!(
            "{:?}",
            blocks.finish().map(|column| column.cells().map(|cell| format!("{cell:?}")).collect::<Vec<_>>())
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// How cells wait for their type changes nothing.
        #[test]
        fn packed_cells_become_what_spelled_ones_do(cells in column(), block_rows in 1usize..300) {
            for decimals in [Decimals::Exact, Decimals::Quick] {
                let packed = read(&cells, Spells::No, block_rows, decimals);
                prop_assert_eq!(packed, read(&cells, Spells::ThisBlock, block_rows, decimals));
            }
        }
    }
}
