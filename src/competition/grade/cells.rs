//! Cells of paired rows as a metric wants them: numbers, labels, integers, text, each by the rules of the official
//! graders. Both sides go through the same code; whose fault a bad cell is depends on the side alone, and a true cell
//! is never quoted.

use std::borrow::Cow;

use podium_metric::literal::{self, Integer};

use crate::csv::{Cell, Column, Table};
use crate::grade::align;
use crate::grade::input::Fault;
use crate::grade::outcome::AnswersFault;
use crate::grade::python;
use crate::grade::reason::quote;
use crate::grade::rows::{Rows, gather};
pub(crate) use crate::grade::sheet::Label;

/// Whose cells are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The agent's.
    Submission,
    /// Ours.
    Answers,
}

/// Rows of one table in the order in which they are scored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) whose: Whose,
    pub(crate) table: &'a Table,
    /// The key column, for reasons.
    pub(crate) key: Option<&'a str>,
    pub(crate) rows: &'a Rows,
}

/// What a missing cell is among labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingLabel {
    /// Nothing: the column is refused.
    Refused,
    /// The empty text; numbers beside it are text as well.
    Empty,
    /// The text `nan`, beside texts only.
    Nan,
}

/// All labels of one column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Labels<'a> {
    /// Texts.
    Text(Vec<Cow<'a, str>>),
    /// Whole numbers, in the order of their values.
    Whole(Cow<'a, [i64]>),
    /// Whole numbers, some of them beyond the signed range.
    Wide(Vec<Label<'a>>),
}

impl<'a> Side<'a> {
    /// A column, or the reason that it is missing.
    pub(crate) fn column(&self, name: &str) -> Result<&'a Column, Fault> {
        match self.whose {
            Whose::Submission => align::column(self.table, name),
            Whose::Answers => align::truth_column(self.table, name),
        }
    }

    /// The number of a data row, with its key, for reasons.
    pub(crate) fn row_name(&self, row: usize) -> String {
        let key = self.key.and_then(|key| Some((key, self.table.column(key)?)));
        match key {
            Some((name, column)) => {
                format!("data row {} ({} {})", row + 1, name, quote(&column.cell(row).to_string()))
            }
            None => format!("data row {}", row + 1),
        }
    }

    /// The fault of a cell that is not as expected.
    pub(crate) fn misfit(&self, name: &str, row: usize, expected: &str) -> Fault {
        if self.whose == Whose::Answers {
            return Fault::Answers(AnswersFault::Misfit(name.to_owned()));
        }
        let found = match self.table.column(name).map_or(Cell::Missing, |column| column.cell(row)) {
            Cell::Missing => "the value is missing".to_owned(),
            cell => format!("found {}", quote(&cell.to_string())),
        };
        Fault::Submission(format!(
            "column {}, {}: {found}, expected {expected}",
            quote(name),
            self.row_name(row)
        ))
    }

    /// One value for each row, or the first row whose cell is not as expected.
    fn collect<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(Cell<'a>) -> Option<T>,
    ) -> Result<Vec<T>, Fault> {
        let column = self.column(name)?;
        let mut values = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            match read(column.cell(row)) {
                Some(value) => values.push(value),
                None => return Err(self.misfit(name, row, expected)),
            }
        }
        Ok(values)
    }

    /// Finite numbers; text is converted as scikit-learn converts a column of objects, by Python's `float`.
    pub(crate) fn numbers(&self, name: &str) -> Result<Cow<'a, [f64]>, Fault> {
        const EXPECTED: &str = "a finite number";
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        if let Column::Float(cells) = self.column(name)? {
            let values = gather(cells, self.rows);
            return match values.iter().position(|value| !value.is_finite()) {
                Some(place) => Err(self.misfit(name, self.rows.get(place).unwrap_or(place), EXPECTED)),
                None => Ok(values),
            };
        }
        self.collect(name, EXPECTED, |cell| finite(as_float(cell))).map(Cow::Owned)
    }

    /// [`numbers`](Self::numbers) of several columns, row after row. One column at a time is held beside the result.
    pub(crate) fn matrix<'n>(
        &self,
        names: impl ExactSizeIterator<Item = &'n str>,
    ) -> Result<Vec<f64>, Fault> {
        let width = names.len();
        let mut matrix = vec![0.0; self.rows.len() * width];
        for (place, name) in names.enumerate() {
            let values = self.numbers(name)?;
            for (slot, value) in matrix.iter_mut().skip(place).step_by(width).zip(&*values) {
                *slot = *value;
            }
        }
        Ok(matrix)
    }

    /// Numbers as they stand, NaN for a missing cell; text is refused.
    pub(crate) fn any_numbers(&self, name: &str) -> Result<Vec<f64>, Fault> {
        self.collect(name, "a number", |cell| match cell {
            Cell::Missing => Some(f64::NAN),
            cell => cell.number(),
        })
    }

    /// Whole numbers as Python's `int` makes them of each cell, fractions cut off. NumPy takes a list of them only when
    /// all fit 64 bits with a sign, or all lie beyond that and fit without one.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i128>, Fault> {
        const EXPECTED: &str = "a whole number of at most 64 bits";
        let values = self.collect(name, EXPECTED, |cell| match cell {
            Cell::Text(text) => match literal::integer(text)? {
                Integer::Small(value) => Some(value),
                Integer::Huge { .. } => None,
            },
            Cell::Float(value) => truncated(value),
            Cell::Unsigned(value) => Some(i128::from(value)),
            cell => integer(cell).map(i128::from),
        })?;
        let signed = |value: &i128| i64::try_from(*value).is_ok();
        let beyond = |value: &i128| !signed(value) && u64::try_from(*value).is_ok();
        if values.iter().all(signed) || values.iter().all(beyond) {
            return Ok(values);
        }
        let row = values.iter().position(|value| !signed(value)).and_then(|place| self.rows.get(place));
        Err(self.misfit(name, row.unwrap_or_default(), EXPECTED))
    }

    /// The first word of each cell as a whole number; fractions are refused.
    pub(crate) fn first_integers(&self, name: &str) -> Result<Vec<i64>, Fault> {
        self.collect(name, "a whole number", |cell| match cell {
            Cell::Text(text) => python::int(literal::words(text).next()?),
            Cell::Float(_) => None,
            cell => integer(cell),
        })
    }

    /// Each cell as Python's `str` spells it.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<Cow<'a, str>>, Fault> {
        self.collect(name, "text", |cell| Some(python::text_of(cell)))
    }

    /// Labels as scikit-learn takes a column of them: all text, or all whole numbers (booleans are 1 and 0).
    pub(crate) fn labels(&self, name: &str, missing: MissingLabel) -> Result<Labels<'a>, Fault> {
        let column = self.column(name)?;
        let numbers = self.rows.iter().any(|row| !matches!(column.cell(row), Cell::Text(_) | Cell::Missing));
        let texts = self.rows.iter().any(|row| matches!(column.cell(row), Cell::Text(_)));
        let missing_cells = || self.rows.iter().any(|row| column.cell(row) == Cell::Missing);
        let text = match missing {
            MissingLabel::Empty => !numbers || missing_cells(),
            MissingLabel::Nan | MissingLabel::Refused => texts,
        };
        if text {
            let texts = self.collect(name, "a text label", |cell| match (cell, missing) {
                (Cell::Text(text), _) => Some(Cow::Borrowed(text)),
                (Cell::Missing, MissingLabel::Empty) => Some(Cow::Borrowed("")),
                (Cell::Missing, MissingLabel::Nan) => Some(Cow::Borrowed("nan")),
                // A list of numbers and texts is one of texts to NumPy.
                (cell, MissingLabel::Empty) => Some(python::text_of(cell)),
                _ => None,
            });
            return texts.map(Labels::Text);
        }
        let expected = "a whole number";
        if let Column::Integer(cells) = column {
            return Ok(Labels::Whole(gather(cells, self.rows)));
        }
        if matches!(column, Column::Boolean(_)) {
            return self.collect(name, expected, integer).map(Cow::Owned).map(Labels::Whole);
        }
        let labels = self.collect(name, expected, |cell| match cell {
            Cell::Float(value) => whole(value).filter(|_| value.fract() == 0.0).map(Label::Whole),
            // Beyond every signed number, and in order among themselves.
            Cell::Unsigned(value) => Some(i64::try_from(value).map_or(Label::Real(value), Label::Whole)),
            cell => integer(cell).map(Label::Whole),
        });
        labels.map(Labels::Wide)
    }
}

impl<'a> Labels<'a> {
    /// Whether they are text; else they are whole numbers.
    pub(crate) const fn are_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// As labels of any kind.
    pub(crate) fn into_wide(self) -> Vec<Label<'a>> {
        match self {
            // Never asked for: texts are compared with texts alone.
            Self::Text(_) => Vec::new(),
            Self::Whole(labels) => labels.iter().copied().map(Label::Whole).collect(),
            Self::Wide(labels) => labels,
        }
    }
}

/// A cell as a float, as NumPy converts a column of objects.
pub(crate) fn as_float(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Text(text) => literal::float(text),
        Cell::Missing => Some(f64::NAN),
        cell => cell.number(),
    }
}

fn integer(cell: Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Boolean(value) => Some(i64::from(value)),
        Cell::Integer(value) => Some(value),
        Cell::Unsigned(value) => i64::try_from(value).ok(),
        Cell::Missing | Cell::Float(_) | Cell::Text(_) => None,
    }
}

/// A float without its fraction, where it is no larger than 64 bits allow.
#[expect(clippy::cast_possible_truncation, reason = "within the range, the ends being powers of two")]
fn truncated(value: f64) -> Option<i128> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    (-LIMIT..LIMIT).contains(&value).then_some(value as i128)
}

/// A whole float as an integer, within the signed range.
#[expect(clippy::cast_possible_truncation, reason = "within the range, the upper end being a power of two")]
fn whole(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (-LIMIT..LIMIT).contains(&value).then_some(value as i64)
}
