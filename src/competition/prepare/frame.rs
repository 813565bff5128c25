//! Tables in the course of a preparation: stored columns, seen through an order of rows. Taking rows, choosing columns
//! and setting one to a constant copy no cell, so that both parts of a split cost little more than the table that was
//! read.
//!
//! Every column of a frame has as many cells as the frame has rows.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::csv::{Cell, Column, MixedCell, Table, Texts};
use crate::prepare::cells::Cells;
use crate::prepare::error::PrepareError;
use crate::prepare::number_text::{push_whole, shortest};
use crate::prepare::stored::Stored;

/// Which stored row each row shows; all of them in order where there is none.
type Order = Option<Arc<Vec<u32>>>;

/// One column.
#[derive(Clone, Debug)]
enum Series {
    Stored { column: Arc<Stored>, order: Order },
    Same(MixedCell),
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    names: Vec<String>,
    columns: Vec<Series>,
    rows: u32,
}

impl From<Table> for Frame {
    fn from(table: Table) -> Self {
        let rows = table.rows;
        let (names, columns): (Vec<_>, Vec<_>) =
            table.into_columns().map(|(name, column)| (name, Stored::from(column))).unzip();
        Self::of_stored(names, columns, rows)
    }
}

impl Frame {
    /// A frame of one column.
    pub fn of(name: &str, column: Column) -> Self {
        Self::default().with(name, column)
    }

    /// A frame of columns of so many rows each.
    pub(super) fn of_stored(names: Vec<String>, columns: Vec<Stored>, rows: usize) -> Self {
        let columns =
            columns.into_iter().map(|column| Series::Stored { column: Arc::new(column), order: None });
        Self { names, columns: columns.collect(), rows: u32::try_from(rows).unwrap_or(u32::MAX) }
    }

    /// Number of rows.
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// Names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Result<View<'_>, PrepareError> {
        let place = self.names.iter().position(|known| known == name);
        let series = place.and_then(|place| self.columns.get(place));
        series
            .map(|series| View { series, rows: self.rows })
            .ok_or_else(|| PrepareError::NoColumn { name: name.to_owned(), known: self.names.join(", ") })
    }

    /// All columns in order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = View<'_>> {
        self.columns.iter().map(move |series| View { series, rows: self.rows })
    }

    /// These rows, in this order; one may come more than once.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        self.take_all(rows.to_vec())
    }

    /// As [`take`](Self::take), of an order that is not needed otherwise.
    #[must_use]
    pub fn take_all(&self, rows: Vec<u32>) -> Self {
        let rows = Arc::new(rows);
        let mut known: HashMap<Option<*const Vec<u32>>, Arc<Vec<u32>>> = HashMap::new();
        let mut through = |order: &Order| {
            let place = order.as_ref().map(Arc::as_ptr);
            let composed = known.entry(place).or_insert_with(|| match order {
                None => Arc::clone(&rows),
                Some(order) => {
                    Arc::new(rows.iter().filter_map(|row| order.get(*row as usize)).copied().collect())
                }
            });
            Some(Arc::clone(composed))
        };
        let columns = self.columns.iter().map(|series| match series {
            Series::Stored { column, order } => {
                Series::Stored { column: Arc::clone(column), order: through(order) }
            }
            Series::Same(cell) => Series::Same(cell.clone()),
        });
        let columns = columns.collect();
        Self { names: self.names.clone(), columns, rows: u32::try_from(rows.len()).unwrap_or(u32::MAX) }
    }

    /// The places of the rows for which `wanted` holds.
    pub fn places(&self, wanted: impl FnMut(&u32) -> bool) -> Vec<u32> {
        (0..self.rows).filter(wanted).collect()
    }

    /// The rows for which `wanted` holds, in their order.
    #[must_use]
    pub fn filter(&self, wanted: impl FnMut(&u32) -> bool) -> Self {
        self.take_all(self.places(wanted))
    }

    /// These columns, in this order.
    pub fn keep<S: AsRef<str>>(&self, names: &[S]) -> Result<Self, PrepareError> {
        let mut kept = Self { rows: self.rows, ..Self::default() };
        for name in names {
            let view = self.column(name.as_ref())?;
            kept.columns.push(view.series.clone());
            kept.names.push(name.as_ref().to_owned());
        }
        Ok(kept)
    }

    /// All columns but these.
    pub fn without<S: AsRef<str>>(&self, names: &[S]) -> Result<Self, PrepareError> {
        for name in names {
            self.column(name.as_ref())?;
        }
        let dropped = |name: &&String| names.iter().any(|dropped| dropped.as_ref() == name.as_str());
        let kept: Vec<&String> = self.names.iter().filter(|name| !dropped(name)).collect();
        self.keep(&kept)
    }

    /// A column under another name.
    pub fn rename(mut self, from: &str, to: &str) -> Result<Self, PrepareError> {
        self.column(from)?;
        for name in self.names.iter_mut().filter(|name| *name == from) {
            to.clone_into(name);
        }
        Ok(self)
    }

    /// A column of computed cells, one a row; in the place of one of that name, else behind the others. The first column
    /// says how many rows there are.
    #[must_use]
    pub fn with(self, name: &str, column: Column) -> Self {
        self.with_stored(name, column.into())
    }

    fn with_stored(mut self, name: &str, column: Stored) -> Self {
        if self.columns.is_empty() {
            self.rows = u32::try_from(column.len()).unwrap_or(u32::MAX);
        }
        self.put(name, Series::Stored { column: Arc::new(column), order: None })
    }

    /// A column of texts; see [`with`](Self::with).
    #[must_use]
    pub fn with_texts<S: AsRef<str>>(self, name: &str, cells: impl IntoIterator<Item = S>) -> Self {
        self.with_stored(name, Stored::texts(cells.into_iter()))
    }

    /// A column of texts, each by what `spell` appends for its row; several threads spell. See [`with`](Self::with).
    #[must_use]
    pub(super) fn with_spelled(self, name: &str, spell: impl Fn(u32, &mut String) + Sync) -> Self {
        let column = Stored::spelled(self.rows, spell);
        self.with_stored(name, column)
    }

    /// A column of the cells of another one as texts.
    pub fn with_text_of(self, name: &str, other: &str) -> Result<Self, PrepareError> {
        let texts = self.column(other)?.spelled();
        Ok(self.with(name, Column::Text(texts)))
    }

    /// A column of whole numbers; see [`with`](Self::with).
    #[must_use]
    pub fn with_integers(self, name: &str, cells: impl IntoIterator<Item = i64>) -> Self {
        self.with_stored(name, Stored::integers(cells.into_iter()))
    }

    /// A column with the same cell in every row; see [`with`](Self::with).
    #[must_use]
    pub fn with_same(self, name: &str, cell: MixedCell) -> Self {
        self.put(name, Series::Same(cell))
    }

    /// A column with the same text in every row.
    #[must_use]
    pub fn with_text(self, name: &str, text: &str) -> Self {
        self.with_same(name, MixedCell::Text(text.into()))
    }

    fn put(mut self, name: &str, series: Series) -> Self {
        match self.names.iter().position(|known| known == name) {
            Some(place) => {
                if let Some(old) = self.columns.get_mut(place) {
                    *old = series;
                }
            }
            None => {
                self.names.push(name.to_owned());
                self.columns.push(series);
            }
        }
        self
    }

    /// The columns of another frame of as many rows beside those of this one.
    #[must_use]
    pub fn beside(mut self, other: &Self) -> Self {
        for (name, series) in other.names.iter().zip(&other.columns) {
            self = self.put(name, series.clone());
        }
        self
    }

    /// The rows of several frames, one after another; all have the columns of the first one.
    pub fn joined(frames: &[Self]) -> Result<Self, PrepareError> {
        let Some(first) = frames.first() else { return Ok(Self::default()) };
        let mut joined = Self::default();
        for name in &first.names {
            let mut runs: Vec<Column> = Vec::new();
            for frame in frames {
                let next = frame.column(name)?.stored();
                let next = match runs.last_mut() {
                    None => Some(next),
                    Some(run) => run.extended(next),
                };
                runs.extend(next);
            }
            joined =
                joined.with(name, Column::joined(runs).unwrap_or_else(|| Column::Text(Texts::default())));
        }
        Ok(joined)
    }

    /// The rows sorted by one column as text, by code point; equal ones keep their order.
    pub fn sorted_by_text(&self, name: &str) -> Result<Self, PrepareError> {
        let keys = self.column(name)?.spelled();
        let key = |row: &u32| keys.get(*row as usize).unwrap_or_default();
        let mut rows: Vec<u32> = (0..self.rows).collect();
        rows.sort_by(|left, right| key(left).cmp(key(right)));
        Ok(self.take_all(rows))
    }
}

/// A column of a frame.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    series: &'a Series,
    rows: u32,
}

impl<'a> View<'a> {
    /// One cell; `scratch` holds its text where that does not stand anywhere as it is. Missing where there is no such row.
    pub fn cell_in<'s>(self, row: u32, scratch: &'s mut String) -> Cell<'s>
    where
        'a: 's,
    {
        match self.series {
            Series::Stored { column, order: None } => column.cell(row as usize, scratch),
            Series::Stored { column, order: Some(order) } => match order.get(row as usize) {
                Some(row) => column.cell(*row as usize, scratch),
                None => Cell::Missing,
            },
            Series::Same(cell) => cell.as_cell(),
        }
    }

    /// One cell of its own; missing where there is no such row.
    pub fn cell(self, row: u32) -> MixedCell {
        self.cell_in(row, &mut String::new()).into()
    }

    /// All cells in order.
    pub fn cells(self) -> impl Iterator<Item = MixedCell> {
        (0..self.rows).map(move |row| self.cell(row))
    }

    /// Calls `take` with all cells in order.
    pub fn each(self, mut take: impl FnMut(Cell<'_>)) {
        let mut scratch = String::new();
        for row in 0..self.rows {
            take(self.cell_in(row, &mut scratch));
        }
    }

    /// Calls `take` with all cells in order, where the column is one of whole numbers.
    pub(super) fn each_whole(self, take: impl FnMut(i64)) {
        match self.series {
            Series::Stored { column, order: None } => column.each_whole(0..self.rows as usize, take),
            Series::Stored { column, order: Some(order) } => {
                column.each_whole(order.iter().map(|row| *row as usize), take);
            }
            Series::Same(_) => {}
        }
    }

    /// Calls `take` with all cells in order as texts; a missing one is empty.
    pub fn each_text(self, mut take: impl FnMut(&str)) {
        self.each(|cell| match cell {
            Cell::Text(text) => take(text),
            Cell::Missing => take(""),
            other => take(&cell_text(other)),
        });
    }

    /// Appends the cells of these rows, where the column is one of whole numbers or texts: a missing text is empty. Says
    /// whether it is; nothing is appended where it is not.
    pub(super) fn gather(self, rows: Range<u32>, cells: &mut Cells) -> bool {
        let places = rows.start as usize..rows.end as usize;
        match self.series {
            Series::Stored { column, order: None } => column.gather(places, cells),
            Series::Stored { column, order: Some(order) } => {
                let order = order.get(places).unwrap_or_default();
                column.gather(order.iter().map(|row| *row as usize), cells)
            }
            Series::Same(_) => false,
        }
    }

    /// Where rows lie anywhere, waits for the memory of all these at once.
    pub(super) fn touch(self, rows: Range<u32>) {
        /// Stored rows for each of these, where a part of them is left out but they are in order.
        const NEAR: u32 = 16;
        if let Series::Stored { column, order: Some(order) } = self.series {
            let rows = order.get(rows.start as usize..rows.end as usize).unwrap_or_default();
            let ends = rows.first().zip(rows.last());
            let apart = ends.map_or(0, |(first, last)| first.abs_diff(*last));
            if apart as usize / NEAR as usize >= rows.len() {
                std::hint::black_box(rows.iter().fold(0, |sum, row| sum ^ column.touch(*row as usize)));
            }
        }
    }

    /// Appends the cell as text; a missing one is empty.
    pub(super) fn spell(self, row: u32, text: &mut String) {
        match self.cell_in(row, &mut String::new()) {
            Cell::Integer(value) => push_whole(text, value),
            other => text.push_str(&cell_text(other)),
        }
    }

    /// The cell as text.
    pub fn text(self, row: u32) -> String {
        cell_text(self.cell_in(row, &mut String::new()))
    }

    /// All cells as texts; a missing one is empty.
    pub fn texts(self) -> Vec<String> {
        let mut texts = Vec::with_capacity(self.rows as usize);
        self.each_text(|text| texts.push(text.to_owned()));
        texts
    }

    /// All cells as texts in one allocation; a missing one is empty.
    fn spelled(self) -> Texts {
        let mut texts = Texts::default();
        self.each_text(|text| texts.push(Some(text)));
        texts
    }

    /// The cells as numbers; none of a text.
    pub fn numbers(self) -> impl Iterator<Item = Option<f64>> {
        let mut scratch = String::new();
        (0..self.rows).map(move |row| self.cell_in(row, &mut scratch).number())
    }

    /// The cells as a column of their own.
    fn stored(self) -> Column {
        match self.series {
            Series::Stored { column, order: None } => column.column(0..column.len()),
            Series::Stored { column, order: Some(order) } => {
                column.column(order.iter().map(|place| *place as usize))
            }
            Series::Same(cell) => Column::Mixed(vec![cell.clone(); self.rows as usize]),
        }
    }

    /// Whether the column is one of whole numbers.
    pub(super) fn is_whole(self) -> bool {
        matches!(self.series, Series::Stored { column, .. } if column.is_whole())
    }

    /// Whether the column is one of texts.
    pub(super) fn is_text(self) -> bool {
        matches!(self.series, Series::Stored { column, .. } if column.is_text())
    }

    /// Whether the column is one of numbers or booleans.
    pub fn is_numeric(self) -> bool {
        match self.series {
            Series::Stored { column, .. } => column.is_numeric(),
            Series::Same(cell) => !matches!(cell, MixedCell::Text(_)),
        }
    }
}

/// A cell as Python prints it; a missing one is empty.
pub fn cell_text(cell: Cell<'_>) -> String {
    match cell {
        Cell::Float(value) => shortest(value),
        other => other.to_string(),
    }
}

/// A column of texts, some of them missing.
pub fn texts<S: AsRef<str>>(cells: impl IntoIterator<Item = Option<S>>) -> Column {
    let mut texts = Texts::default();
    for cell in cells {
        texts.push(cell.as_ref().map(AsRef::as_ref));
    }
    Column::Text(texts)
}
