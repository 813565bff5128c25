//! What the columns of a table hold, learnt in one reading: missing cells, numbers, dates, values and how often. Memory is
//! bounded whatever the number of rows.

use std::collections::BTreeMap;
use std::path::Path;

use crate::csv::{Row, float64, is_missing};
use crate::own::dates::{self, Order};
use crate::own::dialect::Dialect;
use crate::own::error::OwnError;
use crate::own::rows;

/// So many different values of a column are counted; of more it is only known that there are more.
pub(super) const MOST_VALUES: usize = 1000;
/// A longer value is text and is not counted.
const LONGEST_VALUE: usize = 100;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Empty,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Dates, with a time of day or without.
    Date,
    /// A few different words.
    Category,
    /// Everything else.
    Text,
}

impl Kind {
    /// In a word.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Date => "date",
            Self::Category => "category",
            Self::Text => "text",
        }
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColumnProfile {
    pub(super) name: String,
    pub(super) missing: u64,
    pub(super) filled: u64,
    numbers: u64,
    integers: u64,
    dates: u64,
    /// Of numbers; infinite without one.
    pub(super) least: f64,
    pub(super) most: f64,
    /// Of dates, with their seconds.
    pub(super) first: Option<(f64, String)>,
    pub(super) last: Option<(f64, String)>,
    /// Values and how often; none when there are too many.
    pub(super) values: Option<BTreeMap<String, u64>>,
    characters: u64,
    pub(super) order: Order,
    pub(super) ambiguous: bool,
}

impl ColumnProfile {
    fn new(name: String) -> Self {
        Self {
            name,
            missing: 0,
            filled: 0,
            numbers: 0,
            integers: 0,
            dates: 0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            first: None,
            last: None,
            values: Some(BTreeMap::new()),
            characters: 0,
            order: Order::MonthFirst,
            ambiguous: false,
        }
    }

    fn take(&mut self, cell: &str) {
        let cell = cell.trim();
        if is_missing(cell.as_bytes()) {
            self.missing += 1;
            return;
        }
        self.filled += 1;
        self.characters += cell.len() as u64;
        if let Some(values) = &mut self.values {
            if let Some(count) = values.get_mut(cell) {
                *count += 1;
            } else if values.len() == MOST_VALUES || cell.len() > LONGEST_VALUE {
                self.values = None;
            } else {
                values.insert(cell.to_owned(), 1);
            }
        }
        if let Some(number) = float64(cell.as_bytes()) {
            self.numbers += 1;
            self.integers += u64::from(number.fract() == 0.0 && !cell.contains(['.', 'e', 'E']));
            self.least = self.least.min(number);
            self.most = self.most.max(number);
        } else if self.dates + self.numbers > 0 || self.filled == 1 {
            self.take_date(cell);
        }
    }

    /// A column that began with something else is no column of dates: it is not looked at for them.
    fn take_date(&mut self, cell: &str) {
        if self.order == Order::MonthFirst && dates::is_day_first(cell) {
            self.order = Order::DayFirst;
            (self.first, self.last) = (None, None);
        }
        self.ambiguous |= dates::is_ambiguous(cell);
        let Some(seconds) = dates::seconds(cell, self.order) else { return };
        self.dates += 1;
        if self.first.as_ref().is_none_or(|(first, _)| seconds < *first) {
            self.first = Some((seconds, cell.to_owned()));
        }
        if self.last.as_ref().is_none_or(|(last, _)| seconds > *last) {
            self.last = Some((seconds, cell.to_owned()));
        }
    }

    pub(super) fn kind(&self) -> Kind {
        let few = self
            .values
            .as_ref()
            .is_some_and(|values| values.len() <= 50 || (values.len() as u64) * 2 <= self.filled);
        if self.filled == 0 {
            Kind::Empty
        } else if self.integers == self.filled {
            Kind::Integer
        } else if self.numbers == self.filled {
            Kind::Number
        } else if self.dates == self.filled {
            Kind::Date
        } else if few && self.characters / self.filled <= 40 {
            Kind::Category
        } else {
            Kind::Text
        }
    }

    /// How many different values, where that is known.
    pub(super) fn distinct(&self) -> Option<usize> {
        self.values.as_ref().map(BTreeMap::len)
    }

    /// The value that stands most often, the first of equals.
    pub(super) fn commonest(&self) -> Option<&str> {
        let values = self.values.as_ref()?;
        let most = values.values().max()?;
        values.iter().find(|(_, count)| *count == most).map(|(value, _)| value.as_str())
    }
}

/// All columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    pub(super) rows: u64,
    pub(super) columns: Vec<ColumnProfile>,
}

impl Profile {
    /// Reads the table at `path`.
    pub(super) fn read(path: &Path, dialect: &Dialect) -> Result<Self, OwnError> {
        let columns = dialect.names.iter().map(|name| ColumnProfile::new(name.clone())).collect();
        let mut profile = Self { rows: 0, columns };
        rows::each(path, dialect, |number, row| match number {
            0 => Ok(()),
            _ => profile.take(path, number, row, dialect),
        })?;
        Ok(profile)
    }

    fn take(&mut self, path: &Path, number: u64, row: &Row<'_>, dialect: &Dialect) -> Result<(), OwnError> {
        if row.len() > self.columns.len() {
            let source = crate::csv::CsvError::RowTooLong {
                row: number,
                line: row.line,
                expected: self.columns.len(),
                found: row.len(),
            };
            return Err(OwnError::Table { path: path.to_owned(), source });
        }
        self.rows += 1;
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.take(&dialect.cell(place, row.cell(place)));
        }
        Ok(())
    }
}
