//! What graders of one key column and one predicted column share: finding the columns, pairing the rows, and naming a
//! row in a reason. Which checks an official grader makes is said by each grader; no metric is named here.

use std::ops::Range;

use crate::csv::{Cell, Column, Table};
use crate::grade::align::{
    Pairing, column, same_key_set, same_order, same_row_count, sort_by_key, sort_only, truth_column,
};
use crate::grade::input::{Fault, Input};
use crate::grade::order::same_key;
use crate::grade::reason::{count, quote, quote_all};

/// Both sides of a competition with one key and one predicted column.
pub(crate) struct Single<'a> {
    /// Name of the key column, the same on both sides.
    pub(crate) key: &'a str,
    /// Name of the predicted column.
    pub(crate) target: &'a str,
    pub(crate) submission: &'a Table,
    pub(crate) answers: &'a Table,
    /// The submission's keys.
    pub(crate) keys: &'a Column,
    /// The predicted column.
    pub(crate) guess: &'a Column,
    /// The column of the answers that holds the truth.
    pub(crate) truth: &'a Column,
}

impl<'a> Single<'a> {
    /// Finds the columns that the catalog names.
    pub(crate) fn of(input: &Input<'a>) -> Result<Self, Fault> {
        let format = &input.competition.submission;
        let names = (format.id.as_slice(), format.columns.as_slice(), input.competition.answer_columns());
        let ([key], [target], [truth]) = names else {
            return Err(Fault::answers("the grader takes one key column and one predicted column"));
        };
        let (submission, answers) = (input.submission, input.truth()?);
        truth_column(answers, key)?;
        let truth = truth_column(answers, truth)?;
        let keys = column(submission, key)?;
        Ok(Self { key, target, submission, answers, keys, guess: column(submission, target)?, truth })
    }

    /// Row counts equal, both sides sorted by key, keys equal row by row.
    pub(crate) fn sorted(&self) -> Result<Pairing, Fault> {
        same_row_count(self.submission, self.answers)?;
        sort_by_key(self.submission, self.answers, self.key)
    }

    /// As [`sorted`](Self::sorted), for a score that does not depend on the order of the pairs, such as the mean of whole
    /// numbers: sides that have the same keys in the same order stay as they are, which spares the sort, and the leaps
    /// from row to row that follow it.
    pub(crate) fn matched(&self) -> Result<Pairing, Fault> {
        same_row_count(self.submission, self.answers)?;
        if same_order(self.keys, truth_column(self.answers, self.key)?) {
            return Ok(Pairing::by_position(self.submission, self.answers));
        }
        sort_by_key(self.submission, self.answers, self.key)
    }

    /// Row counts and sets of keys equal, both sides sorted by key. Where keys repeat, rows may belong to different ones.
    pub(crate) fn sorted_sets(&self) -> Result<Pairing, Fault> {
        same_row_count(self.submission, self.answers)?;
        pair_sets(self.submission, self.answers, self.key)
    }

    /// Predicted and true cells of a pairing, row by row, with the submission's row.
    pub(crate) fn cells(&self, pairing: &Pairing) -> impl Iterator<Item = (usize, Cell<'a>, Cell<'a>)> {
        self.cells_of(pairing, 0..pairing.answers.len())
    }

    /// [`cells`](Self::cells) of a part of the pairing.
    pub(crate) fn cells_of<'p>(
        &self,
        pairing: &'p Pairing,
        range: Range<usize>,
    ) -> impl Iterator<Item = (usize, Cell<'a>, Cell<'a>)> + use<'a, 'p> {
        let (guess, truth) = (self.guess, self.truth);
        pairing.part(range).map(move |(row, answer)| (row, guess.cell(row), truth.cell(answer)))
    }

    /// How reasons call a row of the submission.
    pub(crate) fn row_name(&self, row: usize) -> String {
        row_name(self.key, self.keys, row)
    }

    /// A predicted cell that is not what is expected.
    pub(crate) fn misfit(&self, row: usize, expected: &str) -> Fault {
        Fault::Submission(misfit(self.target, self.guess, &self.row_name(row), row, expected))
    }
}

/// Pairs rows by rank of the key where the sets of keys are equal.
///
/// Keys that agree row by row need no look-up of each, which saves much on millions of rows. Only columns of one type
/// can agree so: between decimal and whole numbers beyond 2^53 the set's comparison is the stricter one.
pub(crate) fn pair_sets(submission: &Table, answers: &Table, key: &str) -> Result<Pairing, Fault> {
    let (guess, truth) = (column(submission, key)?, truth_column(answers, key)?);
    let pairing = sort_only(submission, answers, key)?;
    let mut rows = pairing.submission.iter().zip(&pairing.answers);
    let agree = same_order(guess, truth)
        || guess.dtype() == truth.dtype()
            && pairing.submission.len() == pairing.answers.len()
            && rows.all(|(row, answer)| same_key(&guess.cell(row), &truth.cell(answer)));
    if !agree {
        same_key_set(submission, answers, key)?;
    }
    Ok(pairing)
}

/// How reasons call a row of a submission whose key column is given.
pub(crate) fn row_name(key: &str, keys: &Column, row: usize) -> String {
    format!("data row {} ({} {})", row + 1, quote(key), quote(&keys.cell(row).to_string()))
}

/// The reason that a cell is not what is expected.
pub(crate) fn misfit(name: &str, column: &Column, row_name: &str, row: usize, expected: &str) -> String {
    let found = match column.cell(row) {
        Cell::Missing => "the cell is empty or a word for a missing value".to_owned(),
        Cell::Text(text) => format!("found {}", quote(text)),
        cell => format!("found the {} {}", kind(cell), quote(&cell.to_string())),
    };
    format!("column {}, {row_name}: {found}, expected {expected}", quote(name))
}

const fn kind(cell: Cell<'_>) -> &'static str {
    if matches!(cell, Cell::Boolean(_)) { "boolean" } else { "number" }
}

/// Both sides have the columns of the catalog and no other.
pub(crate) fn only_columns(input: &Input<'_>) -> Result<(), Fault> {
    let format = &input.competition.submission;
    let wanted: Vec<&String> = format.id.iter().chain(&format.columns).collect();
    let names = &input.submission.names;
    if input.truth()?.names.len() != wanted.len() {
        return Err(Fault::answers("they have other columns than the grader takes"));
    }
    wanted.iter().try_for_each(|name| column(input.submission, name).map(|_| ()))?;
    let more: Vec<&str> = names.iter().filter(|name| !wanted.contains(name)).map(String::as_str).collect();
    if more.is_empty() {
        return Ok(());
    }
    let wanted = quote_all(wanted.iter().map(|name| name.as_str()));
    Err(Fault::Submission(format!(
        "{} beyond {wanted}: {}; the grader takes no other column",
        count(more.len(), "column"),
        quote_all(more.into_iter())
    )))
}
