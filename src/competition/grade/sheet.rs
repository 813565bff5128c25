//! A table whose rows are in the order of the answers, and its cells as a metric wants them. The answers and the
//! submission go through the same code; only whose fault a bad cell is differs, and that is the caller's to say.

use podium_metric::literal;

use crate::catalog::ValueRule;
use crate::csv::{Cell, Column, Table, boolean, float64, int64};
use crate::grade::keys::KeyColumns;
use crate::grade::reason::quote;

/// What a numeric cell must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Probability,
    Number,
    NonNegative,
    Positive,
    /// 0 or 1: a true class.
    Binary,
}

impl Expected {
    pub(crate) const fn of(rule: ValueRule) -> Self {
        match rule {
            ValueRule::Probability => Self::Probability,
            ValueRule::NonNegative => Self::NonNegative,
            _ => Self::Number,
        }
    }

    fn admits(self, value: f64) -> bool {
        match self {
            Self::Probability => (0.0..=1.0).contains(&value),
            Self::Number => value.is_finite(),
            Self::NonNegative => value.is_finite() && value >= 0.0,
            Self::Positive => value.is_finite() && value > 0.0,
            Self::Binary => [0.0, 1.0].contains(&value),
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Probability => "a number from 0 to 1",
            Self::Number => "a finite number",
            Self::NonNegative => "a finite number that is not negative",
            Self::Positive => "a finite number greater than 0",
            Self::Binary => "0 or 1",
        }
    }
}

/// One label. Numbers compare by value where all true labels are numbers, else labels are compared as spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label<'a> {
    Whole(i64),
    /// The bits of a float that is no integer; their order means nothing.
    Real(u64),
    Text(&'a str),
}

impl<'a> Label<'a> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and exactly representable")]
    pub(crate) fn number(text: &'a str) -> Option<Self> {
        let cell = text.as_bytes();
        if let Ok(value) = int64(cell) {
            return Some(Self::Whole(value));
        }
        if let Some(value) = boolean(cell) {
            return Some(Self::Whole(i64::from(value)));
        }
        let value = float64(cell)?;
        if value.fract() == 0.0 && value.abs() < 9e15 {
            return Some(Self::Whole(value as i64));
        }
        Some(Self::Real(value.to_bits()))
    }
}

/// A table in the order of the answers.
pub(crate) struct Sheet<'a> {
    table: &'a Table,
    keys: KeyColumns<'a>,
    /// Row of the table for each row of the answers.
    order: Vec<usize>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(table: &'a Table, keys: KeyColumns<'a>, order: Vec<usize>) -> Self {
        Self { table, keys, order }
    }

    /// How reasons call the row that pairs with row `answer` of the answers.
    pub(crate) fn row_name(&self, answer: usize) -> String {
        self.keys.row_name(self.order.get(answer).copied().unwrap_or(answer))
    }

    fn column(&self, name: &str) -> Result<&'a Column, String> {
        self.table.column(name).ok_or_else(|| format!("column {} is missing", quote(name)))
    }

    fn in_order<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.order.iter().filter_map(|row| values.get(*row).copied()).collect()
    }

    /// The cells of a column as numbers, or the first cell in the file that is not as expected.
    pub(crate) fn numbers(&self, name: &str, expected: Expected) -> Result<Vec<f64>, String> {
        let mut values = Vec::with_capacity(self.table.rows);
        for (row, cell) in self.column(name)?.cells().enumerate() {
            // One bad cell makes a whole column text, so the good ones are read again here.
            let value = match cell {
                Cell::Text(text) => float64(text.as_bytes()),
                cell => cell.number(),
            };
            match value.filter(|value| expected.admits(*value)) {
                Some(value) => values.push(value),
                None => return Err(self.misfit(name, row, cell, expected.words())),
            }
        }
        Ok(self.in_order(&values))
    }

    /// The cells of a column as the file spells them. An empty one is refused unless `empty_is_fine`.
    pub(crate) fn texts(&self, name: &str, empty_is_fine: bool) -> Result<Vec<&'a str>, String> {
        let mut values = Vec::with_capacity(self.table.rows);
        for (row, cell) in self.column(name)?.cells().enumerate() {
            match cell {
                Cell::Text(text) if empty_is_fine || !text.is_empty() => values.push(text),
                cell => return Err(self.misfit(name, row, cell, "a label")),
            }
        }
        Ok(self.in_order(&values))
    }

    /// The cells of a column as lists of what blanks separate.
    pub(crate) fn lists(&self, name: &str) -> Result<Vec<Vec<&'a str>>, String> {
        Ok(self.texts(name, true)?.into_iter().map(|text| literal::words(text).collect()).collect())
    }

    fn misfit(&self, name: &str, row: usize, cell: Cell<'_>, expected: &str) -> String {
        let found = match cell {
            Cell::Missing => "the value is missing".to_owned(),
            Cell::Text("") => "the cell is empty".to_owned(),
            cell => format!("found {}", quote(&cell.to_string())),
        };
        format!("column {}, {}: {found}, expected {expected}", quote(name), self.keys.row_name(row))
    }
}
