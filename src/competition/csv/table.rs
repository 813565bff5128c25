//! Rows to a table: header names, the width of the first data row, blocks of rows, typed columns.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::csv::column::Column;
use crate::csv::error::CsvError;
use crate::csv::infer::Blocks;
use crate::csv::number::Decimals;
use crate::csv::tokenizer::Row;

/// A wider header is refused: every column costs memory even when it is empty.
pub const MAX_COLUMNS: usize = 200_000;

/// A longer table is refused: rows are numbered in 32 bits.
pub(crate) const MAX_ROWS: u64 = u32::MAX as u64;

/// Cells of kept columns that rows may lack at their ends. Each takes eight bytes in a column and none in the file.
const MAX_LACKING: usize = 1 << 24;

/// What to read of a file.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Keep these columns only; all where absent. Cells of the others are cut off as they come.
    pub keep: Option<Vec<String>>,
    /// Columns to keep as the file spells them: no type is inferred and no word means "missing".
    pub as_text: Vec<String>,
    /// More data rows than this are an error.
    pub max_rows: Option<u64>,
    /// What parts cells: a comma.
    pub delimiter: u8,
    /// The text is the head of a longer one: a row at its end without a line end is dropped.
    pub head_only: bool,
    /// How decimals become doubles.
    pub decimals: Decimals,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            keep: None,
            as_text: Vec::new(),
            max_rows: None,
            delimiter: b',',
            head_only: false,
            decimals: Decimals::Exact,
        }
    }
}

/// A table: named columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of all columns in the file's order, also of those that were not kept.
    pub names: Vec<String>,
    /// Leading columns without a name: there are some when the first data row is longer than the header.
    pub row_labels: Vec<Column>,
    /// Number of data rows.
    pub rows: usize,
    columns: Vec<Option<Column>>,
}

impl Table {
    /// The column of this name, if it is in the file and was kept.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let position = self.names.iter().position(|candidate| candidate == name)?;
        self.columns.get(position)?.as_ref()
    }

    /// Kept columns with their names, in the file's order, taken out of the table.
    pub(crate) fn into_columns(self) -> impl Iterator<Item = (String, Column)> {
        self.names.into_iter().zip(self.columns).filter_map(|(name, column)| Some((name, column?)))
    }

    /// Kept columns with their names, in the file's order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.names
            .iter()
            .zip(&self.columns)
            .filter_map(|(name, column)| Some((name.as_str(), column.as_ref()?)))
    }
}

/// A column that is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Which cell of a row is its.
    position: usize,
    blocks: Blocks,
}

impl Kept {
    /// Takes out the block that has not ended.
    fn take(&mut self) -> Self {
        Self { position: self.position, blocks: self.blocks.take() }
    }

    /// The cells of one block under the type that fits all of them.
    pub(crate) fn typed(mut self, decimals: Decimals) -> Option<Column> {
        self.blocks.end_block(decimals);
        self.blocks.finish()
    }
}

/// Who takes blocks of cells as they end, as they came, in place of the table: where a block has a multiple of so many
/// rows.
pub(crate) struct Taker<'a> {
    pub(crate) multiple: usize,
    pub(crate) take: &'a mut dyn FnMut(Vec<Kept>),
}

/// Takes rows one by one and grows a table.
pub(crate) struct TableBuilder<'a> {
    options: &'a ReadOptions,
    taker: Option<Taker<'a>>,
    names: Option<Vec<String>>,
    leading: usize,
    /// Number of columns, kept or not.
    width: usize,
    columns: Vec<Kept>,
    block_rows: usize,
    rows_in_block: usize,
    rows: u64,
    /// Cells that rows lacked so far.
    lacking: usize,
    limit: &'a AtomicU64,
}

impl<'a> TableBuilder<'a> {
    /// More data rows than `limit` are an error; it may come down while rows are taken.
    pub(crate) fn new(options: &'a ReadOptions, limit: &'a AtomicU64) -> Self {
        Self {
            options,
            taker: None,
            limit,
            names: None,
            leading: 0,
            width: 0,
            columns: Vec::new(),
            block_rows: 1,
            rows_in_block: 0,
            rows: 0,
            lacking: 0,
        }
    }

    /// As [`new`](Self::new); blocks are taken, and the columns of the table are empty then.
    pub(crate) fn for_taker(options: &'a ReadOptions, limit: &'a AtomicU64, taker: Taker<'a>) -> Self {
        Self { taker: Some(taker), ..Self::new(options, limit) }
    }

    pub(crate) fn row(&mut self, row: &Row<'_>) -> Result<(), CsvError> {
        let Some(names) = &self.names else {
            if row.len() > MAX_COLUMNS {
                return Err(CsvError::TooManyColumns { limit: MAX_COLUMNS });
            }
            self.names = Some(header(row.cells()));
            return Ok(());
        };
        self.rows += 1;
        let limit = self.limit.load(Ordering::Relaxed).min(MAX_ROWS);
        if self.rows > limit {
            return Err(CsvError::TooManyRows { limit });
        }
        if self.rows == 1 {
            if row.len() > MAX_COLUMNS {
                return Err(CsvError::TooManyColumns { limit: MAX_COLUMNS });
            }
            self.leading = row.len().saturating_sub(names.len());
            self.width = self.leading + names.len();
            self.block_rows = block_rows(self.width);
            self.columns = kept(self.options, self.leading, names, self.block_rows);
        } else if row.len() > self.width {
            let (expected, found) = (self.width, row.len());
            return Err(CsvError::RowTooLong { row: self.rows, line: row.line, expected, found });
        }
        self.lacking += self.width.saturating_sub(row.len()).min(self.columns.len());
        if self.lacking > MAX_LACKING {
            let (expected, found, limit) = (self.width, row.len(), MAX_LACKING);
            return Err(CsvError::TooManyShortRows {
                row: self.rows,
                line: row.line,
                expected,
                found,
                limit,
            });
        }
        for column in &mut self.columns {
            column.blocks.push(row.cell(column.position));
        }
        self.rows_in_block += 1;
        if self.rows_in_block == self.block_rows {
            self.end_block();
        }
        Ok(())
    }

    /// Data rows taken so far, the refused one included.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn finish(mut self) -> Table {
        let names = self.names.take().unwrap_or_default();
        if self.rows == 0 {
            self.width = names.len();
            self.columns = kept(self.options, 0, &names, 0);
        }
        if self.taker.is_some() && self.rows_in_block > 0 {
            self.end_block();
        }
        let mut columns: Vec<Option<Column>> = Vec::new();
        columns.resize_with(self.width, || None);
        for mut kept in self.columns {
            // One after the other: each gives back what its block took before the next becomes numbers.
            if self.rows_in_block > 0 {
                kept.blocks.end_block(self.options.decimals);
            }
            if let Some(place) = columns.get_mut(kept.position) {
                *place = kept.blocks.finish();
            }
        }
        let row_labels = columns.drain(..self.leading).flatten().collect();
        let rows = usize::try_from(self.rows).unwrap_or(usize::MAX);
        Table { names, row_labels, rows, columns }
    }

    fn end_block(&mut self) {
        match &mut self.taker {
            Some(taker) if self.block_rows.is_multiple_of(taker.multiple) => {
                (taker.take)(self.columns.iter_mut().map(Kept::take).collect());
            }
            _ => self.columns.iter_mut().for_each(|kept| kept.blocks.end_block(self.options.decimals)),
        }
        self.rows_in_block = 0;
    }
}

/// The columns to keep: the leading ones, which have no name, and those of the names that the options keep.
fn kept(options: &ReadOptions, leading: usize, names: &[String], block_rows: usize) -> Vec<Kept> {
    let column = |position, as_text| Kept { position, blocks: Blocks::new(as_text, block_rows) };
    let wanted = |name: &String| options.keep.as_ref().is_none_or(|keep| keep.contains(name));
    let labels = (0..leading).map(|position| column(position, false));
    let named = (leading..).zip(names).filter_map(|(position, name)| {
        let as_text = options.as_text.contains(name);
        (as_text || wanted(name)).then(|| column(position, as_text))
    });
    labels.chain(named).collect()
}

/// Rows typed together: the largest power of two strictly below ⌊2^20 / columns⌋.
fn block_rows(columns: usize) -> usize {
    let limit = (1usize << 20).checked_div(columns).unwrap_or(0);
    let mut rows = 1;
    while rows * 2 < limit {
        rows *= 2;
    }
    rows
}

/// Header cells to column names: an empty one becomes `Unnamed: k`, a repeated one gets `.1`, `.2`, …; given names
/// are served before made-up ones.
fn header<'a>(cells: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = cells.map(str::to_owned).collect();
    let different = names.iter().map(String::as_str).collect::<HashSet<&str>>().len();
    if different == names.len() && !names.iter().any(String::is_empty) {
        return names;
    }
    let unnamed: Vec<bool> = names.iter().map(String::is_empty).collect();
    for (position, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
        *name = format!("Unnamed: {position}");
    }
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for made_up in [false, true] {
        for (name, _) in names.iter_mut().zip(&unnamed).filter(|(_, unnamed)| **unnamed == made_up) {
            let old = name.clone();
            let mut count = counts.get(&old).copied().unwrap_or(0);
            while count > 0 {
                counts.insert(old.clone(), count + 1);
                *name = format!("{old}.{count}");
                count = if taken.contains(name) { count + 1 } else { counts.get(name).copied().unwrap_or(0) };
            }
            taken.insert(name.clone());
            counts.insert(name.clone(), count + 1);
        }
    }
    names
}
