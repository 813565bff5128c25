//! Typed columns. A column has one type as a whole, as in pandas; only where blocks of a large file were typed apart
//! (or booleans stand beside missing cells) does one hold cells of several kinds.

use std::ops::Range;

use crate::csv::ends::Ends;

/// One cell, whatever its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing, or a word for it.
    Missing,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number beyond the signed range.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// Text, as the file spells it.
    Text(&'a str),
}

impl Cell<'_> {
    /// The cell as a number: booleans are 1 and 0, text and missing cells are none.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Self::Boolean(value) => Some(f64::from(u8::from(value))),
            Self::Integer(value) => Some(value as f64),
            Self::Unsigned(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Missing | Self::Text(_) => None,
        }
    }
}

impl std::fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => Ok(()),
            Self::Boolean(true) => f.write_str("True"),
            Self::Boolean(false) => f.write_str("False"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Many texts in one allocation; some may be missing.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    text: String,
    ends: Ends,
    /// One bit a row, 64 to a word; a word that is not there has no missing row.
    missing: Vec<u64>,
}

impl Texts {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of a cell; `None` where it is missing or there is no such row.
    pub fn get(&self, row: usize) -> Option<&str> {
        if self.is_missing(row) { None } else { self.text.get(self.ends.span(row)?) }
    }

    /// The texts of these rows end to end, and where each ends there; none where one may be missing.
    pub(crate) fn run(&self, rows: Range<usize>) -> Option<(&str, impl Iterator<Item = usize> + Clone)> {
        // Whole words of rows are looked at: what is wrongly taken for missing is read cell by cell.
        let words = self.missing.get(rows.start / 64..).unwrap_or_default();
        if words.iter().take(rows.end.div_ceil(64) - rows.start / 64).any(|word| *word != 0) {
            return None;
        }
        let run = self.ends.run(rows.clone())?;
        let ends = self.ends.spans(rows.start).take(rows.len()).map(move |span| span.end - run.start);
        Some((self.text.get(run)?, ends))
    }

    /// All cells in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Whether any is missing.
    pub(crate) fn any_missing(&self) -> bool {
        self.missing.iter().any(|word| *word != 0)
    }

    fn is_missing(&self, row: usize) -> bool {
        self.missing.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    fn mark_missing(&mut self, row: usize) {
        mark(&mut self.missing, row);
    }

    /// A cell as the file spells it, which may turn out to be missing.
    #[inline]
    pub(crate) fn push_spelled(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    /// The cells from `row` on as they are spelled, the missing ones too.
    pub(crate) fn spelled(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        self.ends.spans(row).map(|span| self.text.as_bytes().get(span).unwrap_or_default())
    }

    /// The cells from `row` on that are spelled so are missing.
    pub(crate) fn mark_missing_from(&mut self, row: usize, missing: impl Fn(&[u8]) -> bool) {
        let mut marks = std::mem::take(&mut self.missing);
        for (cell, row) in self.spelled(row).zip(row..) {
            if missing(cell) {
                mark(&mut marks, row);
            }
        }
        self.missing = marks;
    }

    /// Forgets the cells from `row` on.
    pub(crate) fn truncate(&mut self, row: usize) {
        self.ends.truncate(row);
        self.text.truncate(self.ends.last());
    }

    pub(crate) fn push(&mut self, cell: Option<&str>) {
        self.text.push_str(cell.unwrap_or_default());
        if cell.is_none() {
            self.mark_missing(self.len());
        }
        self.ends.push(self.text.len());
    }

    fn append(&mut self, other: &Self) {
        let (offset, rows) = (self.text.len(), self.len());
        self.text.push_str(&other.text);
        self.ends.append(&other.ends, offset);
        for row in (0..other.len()).filter(|row| other.is_missing(*row)) {
            self.mark_missing(rows + row);
        }
    }
}

/// Sets the bit of a row.
fn mark(words: &mut Vec<u64>, row: usize) {
    let word = row / 64;
    if words.len() <= word {
        words.resize(word + 1, 0);
    }
    if let Some(word) = words.get_mut(word) {
        *word |= 1 << (row % 64);
    }
}

/// By cells: what a missing one is spelled like does not matter.
impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        let simple = self.missing.is_empty() && other.missing.is_empty();
        if simple {
            return self.ends == other.ends && self.text == other.text;
        }
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Texts {}

/// A cell of a mixed column.
#[derive(Clone, Debug, PartialEq)]
pub enum MixedCell {
    /// As [`Cell::Missing`].
    Missing,
    /// As [`Cell::Boolean`].
    Boolean(bool),
    /// As [`Cell::Integer`].
    Integer(i64),
    /// As [`Cell::Unsigned`].
    Unsigned(u64),
    /// As [`Cell::Float`].
    Float(f64),
    /// As [`Cell::Text`].
    Text(Box<str>),
}

impl From<Cell<'_>> for MixedCell {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Boolean(value) => Self::Boolean(value),
            Cell::Integer(value) => Self::Integer(value),
            Cell::Unsigned(value) => Self::Unsigned(value),
            Cell::Float(value) => Self::Float(value),
            Cell::Text(text) => Self::Text(text.into()),
        }
    }
}

impl MixedCell {
    /// The cell, borrowed.
    pub fn as_cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Boolean(value) => Cell::Boolean(*value),
            Self::Integer(value) => Cell::Integer(*value),
            Self::Unsigned(value) => Cell::Unsigned(*value),
            Self::Float(value) => Cell::Float(*value),
            Self::Text(text) => Cell::Text(text),
        }
    }
}

/// A column of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// pandas `int64`.
    Integer(Vec<i64>),
    /// pandas `uint64`.
    Unsigned(Vec<u64>),
    /// pandas `float64`; NaN is a missing cell, there is no other NaN.
    Float(Vec<f64>),
    /// pandas `bool`.
    Boolean(Vec<bool>),
    /// pandas `object` of texts.
    Text(Texts),
    /// pandas `object` of anything.
    Mixed(Vec<MixedCell>),
}

impl Column {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Integer(cells) => cells.len(),
            Self::Unsigned(cells) => cells.len(),
            Self::Float(cells) => cells.len(),
            Self::Boolean(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
            Self::Mixed(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// pandas' name of the type.
    pub fn dtype(&self) -> &'static str {
        match self {
            Self::Integer(_) => "int64",
            Self::Unsigned(_) => "uint64",
            Self::Float(_) => "float64",
            Self::Boolean(_) => "bool",
            Self::Text(_) | Self::Mixed(_) => "object",
        }
    }

    /// Whether the type is one of numbers, booleans included, as pandas' `is_numeric_dtype` has it.
    pub fn is_numeric(&self) -> bool {
        !matches!(self, Self::Text(_) | Self::Mixed(_))
    }

    /// One cell; missing where there is no such row.
    pub fn cell(&self, row: usize) -> Cell<'_> {
        let cell = match self {
            Self::Integer(cells) => cells.get(row).map(|value| Cell::Integer(*value)),
            Self::Unsigned(cells) => cells.get(row).map(|value| Cell::Unsigned(*value)),
            Self::Float(cells) => {
                cells.get(row).filter(|value| !value.is_nan()).map(|value| Cell::Float(*value))
            }
            Self::Boolean(cells) => cells.get(row).map(|value| Cell::Boolean(*value)),
            Self::Text(cells) => cells.get(row).map(Cell::Text),
            Self::Mixed(cells) => cells.get(row).map(MixedCell::as_cell),
        };
        cell.unwrap_or(Cell::Missing)
    }

    /// All cells in order.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        (0..self.len()).map(|row| self.cell(row))
    }

    /// Appends the next block where it is of the same type; gives it back where it is not.
    pub(crate) fn extended(&mut self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::Integer(cells), Self::Integer(next)) => cells.extend(next),
            (Self::Unsigned(cells), Self::Unsigned(next)) => cells.extend(next),
            (Self::Float(cells), Self::Float(next)) => cells.extend(next),
            (Self::Boolean(cells), Self::Boolean(next)) => cells.extend(next),
            (Self::Text(cells), Self::Text(next)) => cells.append(&next),
            (Self::Mixed(cells), Self::Mixed(next)) => cells.extend(next),
            (_, next) => return Some(next),
        }
        None
    }

    /// Blocks that were typed apart, as one column: numbers merge to floats; booleans beside numbers alone become 1 and
    /// 0 (pandas keeps the type `object` then); beside text every cell stays what it is.
    pub(crate) fn joined(runs: Vec<Self>) -> Option<Self> {
        if runs.len() < 2 {
            return runs.into_iter().next();
        }
        if runs.iter().all(Self::is_number) {
            return Some(Self::Float(runs.into_iter().flat_map(Self::into_floats).collect()));
        }
        let plain = runs.iter().all(|run| run.is_number() || matches!(run, Self::Boolean(_)));
        let floats = runs.iter().any(|run| matches!(run, Self::Float(_) | Self::Unsigned(_)));
        let mut cells: Vec<MixedCell> = runs.into_iter().flat_map(Self::into_mixed).collect();
        if plain {
            for cell in &mut cells {
                *cell = match (cell.as_cell().number(), &*cell) {
                    (Some(value), _) if floats => MixedCell::Float(value),
                    (_, MixedCell::Boolean(value)) => MixedCell::Integer(i64::from(*value)),
                    (_, other) => other.clone(),
                };
            }
        }
        if cells.iter().all(|cell| matches!(cell, MixedCell::Missing | MixedCell::Text(_))) {
            let mut texts = Texts::default();
            for cell in &cells {
                texts.push(if let MixedCell::Text(text) = cell { Some(text) } else { None });
            }
            return Some(Self::Text(texts));
        }
        Some(Self::Mixed(cells))
    }

    const fn is_number(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Unsigned(_) | Self::Float(_))
    }

    fn into_floats(self) -> Vec<f64> {
        match self {
            Self::Float(cells) => cells,
            other => other.cells().map(|cell| cell.number().unwrap_or(f64::NAN)).collect(),
        }
    }

    fn into_mixed(self) -> Vec<MixedCell> {
        if let Self::Mixed(cells) = self {
            return cells;
        }
        self.cells().map(MixedCell::from).collect()
    }
}
