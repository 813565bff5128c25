//! Which rows of a table, and in which order: mostly all of them as they stand, which takes no list.

use std::ops::Range;

/// Rows of a table. A table has no more of them than 32 bits number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// This many from the first one on, in the order of the file.
    All(usize),
    /// These.
    Listed(Vec<u32>),
}

impl Default for Rows {
    fn default() -> Self {
        Self::All(0)
    }
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(rows) => *rows,
            Self::Listed(rows) => rows.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row at a position.
    pub(crate) fn get(&self, position: usize) -> Option<usize> {
        match self {
            Self::All(rows) => (position < *rows).then_some(position),
            Self::Listed(rows) => rows.get(position).map(|row| *row as usize),
        }
    }

    pub(crate) fn iter(&self) -> Iter<'_> {
        self.part(0..self.len())
    }

    /// The rows at these positions, as many of them as there are.
    pub(crate) fn part(&self, range: Range<usize>) -> Iter<'_> {
        let range = range.start.min(self.len())..range.end.min(self.len());
        match self {
            Self::All(_) => Iter::All(range),
            Self::Listed(rows) => Iter::Listed(rows.get(range).unwrap_or_default().iter()),
        }
    }
}

impl FromIterator<usize> for Rows {
    fn from_iter<I: IntoIterator<Item = usize>>(rows: I) -> Self {
        Self::Listed(rows.into_iter().map(narrow).collect())
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = usize;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// A row in 32 bits; no table has one beyond them.
pub(crate) fn narrow(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

/// Rows one after the other.
#[derive(Clone, Debug)]
pub(crate) enum Iter<'a> {
    All(Range<usize>),
    Listed(std::slice::Iter<'a, u32>),
}

impl Iterator for Iter<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Self::All(rows) => rows.next(),
            Self::Listed(rows) => rows.next().map(|row| *row as usize),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::All(rows) => rows.size_hint(),
            Self::Listed(rows) => rows.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// The values of these rows; those of all rows in their order stay where they are.
pub(crate) fn gather<'a, T: Copy>(values: &'a [T], rows: &Rows) -> std::borrow::Cow<'a, [T]> {
    match rows {
        Rows::All(count) if *count == values.len() => std::borrow::Cow::Borrowed(values),
        rows => rows.iter().filter_map(|row| values.get(row).copied()).collect(),
    }
}
