//! Cells that list predictions as tokens in groups of a fixed size.
//!
//! How a text is cut into tokens differs by grader, so the caller cuts; here tokens are put into groups, and a group
//! that is short or holds a bad number becomes a reason that names row and token. Nothing of the answers is named.

use podium_metric::literal::float;

use crate::csv::{Cell, Table};
use crate::grade::cells::{Side, Whose};
use crate::grade::input::Fault;
use crate::grade::reason::{count, quote};
use crate::grade::rows::Rows;

/// A token that is not what its place asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadToken<'a> {
    pub(crate) token: &'a str,
    pub(crate) expected: &'static str,
}

/// A token as Python's `float` reads it.
pub(crate) fn number(token: &str) -> Result<f64, BadToken<'_>> {
    float(token).ok_or(BadToken { token, expected: "a number" })
}

/// A column of lists.
#[derive(Clone, Copy)]
pub(crate) struct Tokens<'a> {
    pub(crate) side: Side<'a>,
    name: &'a str,
    /// What a group holds, for reasons.
    group: &'static str,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of_submission(table: &'a Table, key: &'a str, name: &'a str, group: &'static str) -> Self {
        Self {
            side: Side { whose: Whose::Submission, table, key: Some(key), rows: &Rows::All(0) },
            name,
            group,
        }
    }

    pub(crate) fn of_answers(table: &'a Table, key: &'a str, name: &'a str, group: &'static str) -> Self {
        Self { side: Side { whose: Whose::Answers, table, key: Some(key), rows: &Rows::All(0) }, name, group }
    }

    /// The text of a cell; none where it is missing. Numbers and booleans are a fault.
    pub(crate) fn text(&self, row: usize) -> Result<Option<&'a str>, Fault> {
        match self.side.column(self.name)?.cell(row) {
            Cell::Text(text) => Ok(Some(text)),
            Cell::Missing => Ok(None),
            _ => Err(self.expected(row)),
        }
    }

    /// The text of a cell that must not be missing.
    pub(crate) fn present(&self, row: usize) -> Result<&'a str, Fault> {
        self.text(row)?.ok_or_else(|| self.expected(row))
    }

    fn expected(&self, row: usize) -> Fault {
        self.side.misfit(self.name, row, &format!("text of the form `{} …`", self.group))
    }

    /// Hands over tokens in groups of `N`.
    pub(crate) fn groups<const N: usize>(
        &self,
        row: usize,
        tokens: impl Iterator<Item = &'a str>,
        mut take: impl FnMut([&'a str; N]) -> Result<(), BadToken<'a>>,
    ) -> Result<(), Fault> {
        let mut group = [""; N];
        let mut seen = 0;
        for token in tokens {
            if let Some(place) = group.get_mut(seen % N) {
                *place = token;
            }
            seen += 1;
            if seen % N == 0 {
                take(group).map_err(|bad| self.bad(row, bad))?;
            }
        }
        if seen % N == 0 {
            return Ok(());
        }
        let (form, size) = (self.group, N);
        Err(self.fault(row, || {
            format!(
                "{}, expected groups of {size}, `{form}`, with single blanks between",
                count(seen, "token")
            )
        }))
    }

    fn bad(&self, row: usize, bad: BadToken<'_>) -> Fault {
        let BadToken { token, expected } = bad;
        let form = self.group;
        self.fault(row, || match token {
            "" => format!(
                "a blank at an end or beside another makes an empty token, expected groups of `{form}`"
            ),
            token => format!("token {} is not {expected}, expected groups of `{form}`", quote(token)),
        })
    }

    /// The fault of a cell, in these words if it is the submission's.
    pub(crate) fn fault(&self, row: usize, words: impl FnOnce() -> String) -> Fault {
        match self.side.whose {
            Whose::Answers => Fault::answers("a list does not parse"),
            Whose::Submission => Fault::Submission(format!(
                "column {}, {}: {}",
                quote(self.name),
                self.side.row_name(row),
                words()
            )),
        }
    }
}
