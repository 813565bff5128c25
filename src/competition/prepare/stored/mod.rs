//! A column at rest: blocks of rows, each in the narrowest form that gives the same cells back. Whole numbers take as
//! many bytes as the largest of their block needs, texts those of `texts`.
//!
//! Any row is found by its number alone. What a column holds does not change.

mod pool;
mod spans;
mod texts;

use std::convert::Infallible;

use crate::csv::{Cell, Column, MixedCell, Texts};
use crate::parallel::ordered;
use crate::prepare::cells::Cells;
use texts::TextBlock;

/// Rows of a block are so many powers of two.
const SHIFT: u32 = 13;

/// The same in rows.
pub(super) const ROWS: usize = 1 << SHIFT;

/// What pandas would call the type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Unsigned,
    Float,
    Boolean,
    Text,
    Mixed,
}

#[derive(Clone, Debug)]
enum Block {
    Tiny(Box<[i8]>),
    Short(Box<[i16]>),
    Middle(Box<[i32]>),
    Long(Box<[i64]>),
    Unsigned(Box<[u64]>),
    Float(Box<[f64]>),
    Boolean(Box<[bool]>),
    Text(TextBlock),
    Mixed(Box<[MixedCell]>),
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    kind: Kind,
    rows: usize,
    /// All but the last one have [`ROWS`] rows.
    blocks: Vec<Block>,
}

impl From<Column> for Stored {
    fn from(column: Column) -> Self {
        let rows = column.len();
        let (kind, blocks) = match column {
            Column::Integer(cells) => (Kind::Integer, cells.chunks(ROWS).map(whole).collect()),
            Column::Unsigned(cells) => {
                (Kind::Unsigned, cells.chunks(ROWS).map(|cells| Block::Unsigned(cells.into())).collect())
            }
            Column::Float(cells) => {
                (Kind::Float, cells.chunks(ROWS).map(|cells| Block::Float(cells.into())).collect())
            }
            Column::Boolean(cells) => {
                (Kind::Boolean, cells.chunks(ROWS).map(|cells| Block::Boolean(cells.into())).collect())
            }
            Column::Text(cells) => {
                let block =
                    |first: usize| Block::Text(TextBlock::of(&cells, first..(first + ROWS).min(cells.len())));
                (Kind::Text, (0..cells.len()).step_by(ROWS).map(block).collect())
            }
            Column::Mixed(cells) => {
                (Kind::Mixed, cells.chunks(ROWS).map(|cells| Block::Mixed(cells.into())).collect())
            }
        };
        Self { kind, rows, blocks }
    }
}

/// Whole numbers in the fewest bytes.
#[expect(clippy::cast_possible_truncation, reason = "all of them fit")]
fn whole(cells: &[i64]) -> Block {
    let (least, most) =
        cells.iter().fold((-1, 0), |(least, most), cell| (*cell.min(&least), *cell.max(&most)));
    // The bits that the farthest from zero has beside its sign.
    match i64::BITS - (!least | most).leading_zeros() {
        0..=7 => Block::Tiny(cells.iter().map(|cell| *cell as i8).collect()),
        8..=15 => Block::Short(cells.iter().map(|cell| *cell as i16).collect()),
        16..=31 => Block::Middle(cells.iter().map(|cell| *cell as i32).collect()),
        _ => Block::Long(cells.into()),
    }
}

impl Block {
    /// The whole number of a row; none of another kind.
    #[inline]
    fn whole(&self, row: usize) -> Option<i64> {
        match self {
            Self::Tiny(cells) => cells.get(row).map(|value| i64::from(*value)),
            Self::Short(cells) => cells.get(row).map(|value| i64::from(*value)),
            Self::Middle(cells) => cells.get(row).map(|value| i64::from(*value)),
            Self::Long(cells) => cells.get(row).copied(),
            _ => None,
        }
    }
}

impl Stored {
    /// A column of whole numbers, stored as they come.
    pub(super) fn integers(cells: impl Iterator<Item = i64>) -> Self {
        let mut column = Self { kind: Kind::Integer, rows: 0, blocks: Vec::new() };
        let (mut cells, mut block) = (cells.fuse(), Vec::new());
        loop {
            block.clear();
            block.extend(cells.by_ref().take(ROWS));
            if block.is_empty() {
                return column;
            }
            column.rows += block.len();
            column.blocks.push(whole(&block));
        }
    }

    /// A column of texts, stored as they come.
    pub(super) fn texts<S: AsRef<str>>(cells: impl Iterator<Item = S>) -> Self {
        let mut column = Self { kind: Kind::Text, rows: 0, blocks: Vec::new() };
        let mut cells = cells.fuse();
        loop {
            let mut block = Texts::default();
            for cell in cells.by_ref().take(ROWS) {
                block.push(Some(cell.as_ref()));
            }
            if block.is_empty() {
                return column;
            }
            column.rows += block.len();
            column.blocks.push(Block::Text(TextBlock::of(&block, 0..block.len())));
        }
    }

    /// A column of so many texts, each by what `spell` appends for its row; several threads spell.
    pub(super) fn spelled(rows: u32, spell: impl Fn(u32, &mut String) + Sync) -> Self {
        let mut column = Self { kind: Kind::Text, rows: rows as usize, blocks: Vec::new() };
        let block = |first: u32| {
            let (mut texts, mut text) = (Texts::default(), String::new());
            for row in (first << SHIFT..rows).take(ROWS) {
                text.clear();
                spell(row, &mut text);
                texts.push(Some(&text));
            }
            Block::Text(TextBlock::of(&texts, 0..texts.len()))
        };
        let Ok(()) = ordered(rows.div_ceil(1 << SHIFT), block, |block| -> Result<(), Infallible> {
            column.blocks.push(block);
            Ok(())
        });
        column
    }

    /// Number of cells.
    pub(super) const fn len(&self) -> usize {
        self.rows
    }

    /// Whether the column is one of texts.
    pub(super) const fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text)
    }

    /// Whether the column is one of numbers or booleans.
    pub(super) const fn is_numeric(&self) -> bool {
        !matches!(self.kind, Kind::Text | Kind::Mixed)
    }

    /// Whether the column is one of whole numbers.
    pub(super) const fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Integer)
    }

    /// One cell; `scratch` holds its text where that does not stand anywhere as it is. Missing where there is no such row.
    pub(super) fn cell<'s>(&'s self, row: usize, scratch: &'s mut String) -> Cell<'s> {
        let Some(block) = self.blocks.get(row >> SHIFT) else { return Cell::Missing };
        let row = row % ROWS;
        let cell = match block {
            Block::Tiny(_) | Block::Short(_) | Block::Middle(_) | Block::Long(_) => {
                block.whole(row).map(Cell::Integer)
            }
            Block::Unsigned(cells) => cells.get(row).map(|value| Cell::Unsigned(*value)),
            Block::Float(cells) => {
                cells.get(row).filter(|value| !value.is_nan()).map(|value| Cell::Float(*value))
            }
            Block::Boolean(cells) => cells.get(row).map(|value| Cell::Boolean(*value)),
            Block::Text(cells) => cells.get(row, scratch).map(Cell::Text),
            Block::Mixed(cells) => cells.get(row).map(MixedCell::as_cell),
        };
        cell.unwrap_or(Cell::Missing)
    }

    /// Appends the cells at these rows, where they are whole numbers or texts: a missing text is empty. Says whether they
    /// are; nothing is appended where they are not.
    pub(super) fn gather(&self, rows: impl Iterator<Item = usize>, cells: &mut Cells) -> bool {
        match self.kind {
            Kind::Integer => {
                self.each_block(rows, |block, row| match block.and_then(|block| block.whole(row)) {
                    Some(value) => cells.push_whole(value),
                    None => cells.push(&[]),
                });
            }
            Kind::Text => self.each_block(rows, |block, row| match block {
                Some(Block::Text(texts)) => texts.gather(row, cells),
                _ => cells.push(&[]),
            }),
            _ => return false,
        }
        true
    }

    /// Calls `take` with the cells at these rows that are whole numbers.
    pub(super) fn each_whole(&self, rows: impl Iterator<Item = usize>, mut take: impl FnMut(i64)) {
        self.each_block(rows, |block, row| {
            block.and_then(|block| block.whole(row)).into_iter().for_each(&mut take);
        });
    }

    /// Calls `take` with the block of each of these rows, and the row's number in it.
    #[inline]
    fn each_block(&self, rows: impl Iterator<Item = usize>, mut take: impl FnMut(Option<&Block>, usize)) {
        let (mut number, mut block) = (usize::MAX, None);
        for row in rows {
            // Rows of one block mostly stand together.
            if row >> SHIFT != number {
                number = row >> SHIFT;
                block = self.blocks.get(number);
            }
            take(block, row % ROWS);
        }
    }

    /// Waits for the memory of one cell: many of them may be waited for at once, which reading one after the other does not.
    pub(super) fn touch(&self, row: usize) -> u64 {
        fn first<T: Copy + Into<f64>>(cells: &[T], row: usize) -> u64 {
            cells.get(row).map_or(0, |value| (*value).into().to_bits())
        }
        let Some(block) = self.blocks.get(row >> SHIFT) else { return 0 };
        let row = row % ROWS;
        match block {
            Block::Tiny(cells) => first(cells, row),
            Block::Short(cells) => first(cells, row),
            Block::Middle(cells) => first(cells, row),
            Block::Float(cells) => first(cells, row),
            Block::Text(cells) => u64::from(cells.touch(row)),
            _ => 0,
        }
    }

    /// Cells at these rows, as a column of the same type.
    pub(super) fn column(&self, rows: impl Iterator<Item = usize>) -> Column {
        let mut scratch = String::new();
        match self.kind {
            Kind::Integer => Column::Integer(
                rows.filter_map(|row| match self.cell(row, &mut scratch) {
                    Cell::Integer(value) => Some(value),
                    _ => None,
                })
                .collect(),
            ),
            Kind::Unsigned => Column::Unsigned(
                rows.filter_map(|row| match self.cell(row, &mut scratch) {
                    Cell::Unsigned(value) => Some(value),
                    _ => None,
                })
                .collect(),
            ),
            Kind::Float => Column::Float(
                rows.map(|row| self.cell(row, &mut scratch).number().unwrap_or(f64::NAN)).collect(),
            ),
            Kind::Boolean => Column::Boolean(
                rows.filter_map(|row| match self.cell(row, &mut scratch) {
                    Cell::Boolean(value) => Some(value),
                    _ => None,
                })
                .collect(),
            ),
            Kind::Text => {
                let mut texts = Texts::default();
                for row in rows {
                    let cell = self.cell(row, &mut scratch);
                    texts.push(if let Cell::Text(text) = cell { Some(text) } else { None });
                }
                Column::Text(texts)
            }
            Kind::Mixed => {
                Column::Mixed(rows.map(|row| MixedCell::from(self.cell(row, &mut scratch))).collect())
            }
        }
    }

    /// Columns that were typed apart, one after another; each but the last one has whole blocks. Numbers of several kinds
    /// become doubles, as in pandas; what else there is beside each other is put together cell by cell.
    pub(super) fn joined(parts: Vec<Self>) -> Option<Self> {
        let first = parts.first()?.kind;
        let whole = parts.iter().rev().skip(1).all(|part| part.rows.is_multiple_of(ROWS));
        let numbers =
            parts.iter().all(|part| matches!(part.kind, Kind::Integer | Kind::Unsigned | Kind::Float));
        if !whole || !(numbers || parts.iter().all(|part| part.kind == first)) {
            let mut runs: Vec<Column> = Vec::new();
            for part in parts {
                let next = part.column(0..part.rows);
                let next = match runs.last_mut() {
                    None => Some(next),
                    Some(run) => run.extended(next),
                };
                runs.extend(next);
            }
            return Column::joined(runs).map(Self::from);
        }
        let kind = if parts.iter().all(|part| part.kind == first) { first } else { Kind::Float };
        let mut joined = Self { kind, rows: 0, blocks: Vec::new() };
        for part in parts {
            joined.rows += part.rows;
            if part.kind == kind {
                joined.blocks.extend(part.blocks);
                continue;
            }
            let mut scratch = String::new();
            for first in (0..part.rows).step_by(ROWS) {
                let rows = first..part.rows.min(first + ROWS);
                let doubles = rows.map(|row| part.cell(row, &mut scratch).number().unwrap_or(f64::NAN));
                joined.blocks.push(Block::Float(doubles.collect()));
            }
        }
        Some(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_come_back_from_the_fewest_bytes() {
        let most = [i64::from(i8::MAX), i64::from(i16::MAX), i64::from(i32::MAX), i64::MAX];
        for (place, most) in most.into_iter().enumerate() {
            for numbers in [vec![0, most], vec![-most - 1], vec![most, -most - 1]] {
                let column = Stored::integers(numbers.iter().copied());
                let narrow = [
                    matches!(column.blocks[0], Block::Tiny(_)),
                    matches!(column.blocks[0], Block::Short(_)),
                    matches!(column.blocks[0], Block::Middle(_)),
                    matches!(column.blocks[0], Block::Long(_)),
                ];
                assert!(narrow[place], "{numbers:?}");
                let (mut scratch, mut cells) = (String::new(), Cells::default());
                for (row, number) in numbers.iter().enumerate() {
                    assert_eq!(column.cell(row, &mut scratch), Cell::Integer(*number));
                }
                assert!(column.gather(0..numbers.len(), &mut cells));
                assert_eq!(cells.bytes(), numbers.iter().map(i64::to_string).collect::<String>().as_bytes());
            }
        }
    }

    #[test]
    fn spelled_texts_stand_at_their_rows() {
        let rows = 2 * ROWS + 7;
        let column = Stored::spelled(u32::try_from(rows).unwrap(), |row, text| {
            text.push_str("row ");
            text.push_str(&row.to_string());
        });
        let mut scratch = String::new();
        assert_eq!(column.len(), rows);
        for row in 0..rows {
            assert_eq!(column.cell(row, &mut scratch), Cell::Text(&format!("row {row}")));
        }
        assert_eq!(Stored::spelled(0, |_, _| ()).len(), 0);
    }
}
