//! Tables in the course of a preparation: columns as they were read, seen through an order of rows. Taking rows,
//! choosing columns and setting one to a constant copy no cell, so that both parts of a split cost little more than
//! the table that was read.
//!
//! Every column of a frame has as many cells as the frame has rows.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::csv::{Cell, Column, MixedCell, Table, Texts};
use crate::prepare::error::PrepareError;
use crate::prepare::number_text::shortest;

/// Which stored row each row shows; all of them in order where there is none.
type Order = Option<Arc<Vec<u32>>>;

/// One column.
#[derive(Clone, Debug)]
enum Series {
    Stored { column: Arc<Column>, order: Order },
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
        let rows = u32::try_from(table.rows).unwrap_or(u32::MAX);
        let mut frame = Self { rows, ..Self::default() };
        for (name, column) in table.into_columns() {
            frame.names.push(name);
            frame.columns.push(Series::Stored { column: Arc::new(column), order: None });
        }
        frame
    }
}

impl Frame {
    /// A frame of one column.
    pub fn of(name: &str, column: Column) -> Self {
        Self::default().with(name, column)
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
        let mut known: HashMap<Option<*const Vec<u32>>, Arc<Vec<u32>>> = HashMap::new();
        let mut through = |order: &Order| {
            let place = order.as_ref().map(Arc::as_ptr);
            let composed = known.entry(place).or_insert_with(|| {
                Arc::new(match order {
                    None => rows.to_vec(),
                    Some(order) => rows.iter().filter_map(|row| order.get(*row as usize)).copied().collect(),
                })
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
        self.take(&self.places(wanted))
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
    pub fn with(mut self, name: &str, column: Column) -> Self {
        if self.columns.is_empty() {
            self.rows = u32::try_from(column.len()).unwrap_or(u32::MAX);
        }
        self.put(name, Series::Stored { column: Arc::new(column), order: None })
    }

    /// A column of texts; see [`with`](Self::with).
    #[must_use]
    pub fn with_texts<S: AsRef<str>>(self, name: &str, cells: impl IntoIterator<Item = S>) -> Self {
        self.with(name, texts(cells.into_iter().map(Some)))
    }

    /// A column of whole numbers; see [`with`](Self::with).
    #[must_use]
    pub fn with_integers(self, name: &str, cells: impl IntoIterator<Item = i64>) -> Self {
        self.with(name, Column::Integer(cells.into_iter().collect()))
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
        let keys = self.column(name)?.texts();
        let mut rows: Vec<u32> = (0..self.rows).collect();
        rows.sort_by(|left, right| keys.get(*left as usize).cmp(&keys.get(*right as usize)));
        Ok(self.take(&rows))
    }

    /// Which group each row belongs to, by the text of a column: groups are counted from 0 in the order in which they first
    /// come. With it, how many there are.
    pub fn group_numbers(&self, name: &str) -> Result<(Vec<u32>, u32), PrepareError> {
        fn counted<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> (Vec<u32>, u32) {
            let mut known: HashMap<K, u32> = HashMap::new();
            let numbers = keys.map(|key| {
                let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                *known.entry(key).or_insert(next)
            });
            let numbers = numbers.collect();
            (numbers, u32::try_from(known.len()).unwrap_or(u32::MAX))
        }
        let view = self.column(name)?;
        if let Series::Stored { column, .. } = view.series
            && matches!(**column, Column::Integer(_))
        {
            let whole = |cell: Cell<'_>| if let Cell::Integer(value) = cell { Some(value) } else { None };
            return Ok(counted(view.cells().map(whole)));
        }
        Ok(counted(view.cells().map(cell_text)))
    }

    /// Places of the rows by the text of a column, groups in the order in which they first come.
    pub fn groups(&self, name: &str) -> Result<Vec<(String, Vec<u32>)>, PrepareError> {
        let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (row, key) in (0..).zip(self.column(name)?.cells()) {
            let key = cell_text(key);
            let place = *known.entry(key).or_insert_with_key(|key| {
                groups.push((key.clone(), Vec::new()));
                groups.len() - 1
            });
            if let Some((_, rows)) = groups.get_mut(place) {
                rows.push(row);
            }
        }
        Ok(groups)
    }
}

/// A column of a frame.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    series: &'a Series,
    rows: u32,
}

impl<'a> View<'a> {
    /// One cell; missing where there is no such row.
    pub fn cell(self, row: u32) -> Cell<'a> {
        match self.series {
            Series::Stored { column, order: None } => column.cell(row as usize),
            Series::Stored { column, order: Some(order) } => {
                order.get(row as usize).map_or(Cell::Missing, |row| column.cell(*row as usize))
            }
            Series::Same(cell) => cell.as_cell(),
        }
    }

    /// All cells in order.
    pub fn cells(self) -> impl ExactSizeIterator<Item = Cell<'a>> {
        (0..self.rows as usize).map(move |row| self.cell(u32::try_from(row).unwrap_or(u32::MAX)))
    }

    /// The cell as text.
    pub fn text(self, row: u32) -> String {
        cell_text(self.cell(row))
    }

    /// All cells as texts; a missing one is empty.
    pub fn texts(self) -> Vec<String> {
        self.cells().map(cell_text).collect()
    }

    /// The cells as numbers; none of a text.
    pub fn numbers(self) -> impl Iterator<Item = Option<f64>> {
        self.cells().map(|cell| cell.number())
    }

    /// The cells as a column of their own.
    fn stored(self) -> Column {
        match self.series {
            Series::Stored { column, order: None } => Column::clone(column),
            Series::Stored { column, order: Some(order) } => {
                let places = || order.iter().map(|place| *place as usize);
                match &**column {
                    Column::Integer(cells) => {
                        Column::Integer(places().filter_map(|place| cells.get(place)).copied().collect())
                    }
                    Column::Unsigned(cells) => {
                        Column::Unsigned(places().filter_map(|place| cells.get(place)).copied().collect())
                    }
                    Column::Float(cells) => {
                        Column::Float(places().filter_map(|place| cells.get(place)).copied().collect())
                    }
                    Column::Boolean(cells) => {
                        Column::Boolean(places().filter_map(|place| cells.get(place)).copied().collect())
                    }
                    Column::Text(cells) => texts(places().map(|place| cells.get(place))),
                    Column::Mixed(cells) => {
                        Column::Mixed(places().filter_map(|place| cells.get(place)).cloned().collect())
                    }
                }
            }
            Series::Same(cell) => Column::Mixed(vec![cell.clone(); self.rows as usize]),
        }
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
