//! Pairs rows of a submission with rows of the answers as the official graders do: sorted by key on both sides, or
//! joined. Also the checks that go with it. Each returns a reason that says what to mend.

use std::collections::HashMap;
use std::ops::Range;

use crate::csv::{Cell, Column, Table};
use crate::grade::hash::{FastHash, Sieve};
use crate::grade::input::Fault;
use crate::grade::keys::Key;
use crate::grade::order::{Order, Unsortable, order_of, same_key};
use crate::grade::outcome::AnswersFault;
use crate::grade::reason::{count, missing_column, quote};
use crate::grade::rows::{Rows, narrow};
use crate::parallel::both;

/// Whether keys of the submission repeat, and which order the rows of one key were paired in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// None do, or both sides have the same keys in the same order, so that any sort pairs the same rows.
    #[default]
    No,
    /// The order in which NumPy's sort leaves texts.
    Texts,
    /// The order of the file. NumPy's depends on the vector unit of the processor.
    Numbers,
}

/// Rows that belong together: the n-th of one list with the n-th of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Rows of the answers.
    pub(crate) answers: Rows,
    /// Rows of the submission.
    pub(crate) submission: Rows,
    /// Set where both sides were sorted by key.
    pub(crate) repeats: Repeats,
}

impl Pairing {
    /// Both sides in file order.
    pub(crate) fn by_position(submission: &Table, answers: &Table) -> Self {
        Self {
            answers: Rows::All(answers.rows),
            submission: Rows::All(submission.rows),
            repeats: Repeats::No,
        }
    }

    /// Rows of the submission and of the answers in a part of the pairing.
    pub(crate) fn part(&self, range: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        self.submission.part(range.clone()).zip(self.answers.part(range))
    }
}

/// A column of the submission, or the reason that it is missing.
pub(crate) fn column<'a>(submission: &'a Table, name: &str) -> Result<&'a Column, Fault> {
    submission.column(name).ok_or_else(|| Fault::Submission(missing_column(name, submission)))
}

/// A column of the answers.
pub(crate) fn truth_column<'a>(answers: &'a Table, name: &str) -> Result<&'a Column, Fault> {
    answers.column(name).ok_or_else(|| Fault::Answers(AnswersFault::NoColumn(name.to_owned())))
}

/// The submission has these columns.
pub(crate) fn has_columns<'a>(
    submission: &Table,
    names: impl IntoIterator<Item = &'a String>,
) -> Result<(), Fault> {
    names.into_iter().try_for_each(|name| column(submission, name).map(|_| ()))
}

/// The submission has as many rows as the answers.
pub(crate) fn same_row_count(submission: &Table, answers: &Table) -> Result<(), Fault> {
    if submission.rows == answers.rows {
        return Ok(());
    }
    let found = count(submission.rows, "data row");
    Err(Fault::Submission(format!("the file has {found}, expected {}", answers.rows)))
}

/// The key columns of both sides.
fn keys<'a>(submission: &'a Table, answers: &'a Table, key: &str) -> Result<(&'a Column, &'a Column), Fault> {
    Ok((column(submission, key)?, truth_column(answers, key)?))
}

/// Sorts both sides by their key and pairs rows by position, whatever their keys. The sides may differ in length.
pub(crate) fn sort_only(submission: &Table, answers: &Table, key: &str) -> Result<Pairing, Fault> {
    let (guess, truth) = keys(submission, answers, key)?;
    let unsortable = |_: Unsortable| {
        Fault::Submission(format!("column {} mixes numbers and text, which have no order", quote(key)))
    };
    let repeats = |order: &Order| match guess {
        _ if !order.repeats || same_order(guess, truth) => Repeats::No,
        Column::Text(_) | Column::Mixed(_) => Repeats::Texts,
        _ => Repeats::Numbers,
    };
    let (guesses, truths) = orders(guess, truth);
    let guesses = guesses.map_err(unsortable)?;
    Ok(Pairing {
        repeats: repeats(&guesses),
        submission: guesses.rows,
        answers: truths.map_err(|_| Fault::answers("the keys have no order"))?.rows,
    })
}

/// The orders of both sides; long columns are sorted at the same time, and columns that are the same only once.
fn orders(guess: &Column, truth: &Column) -> (Result<Order, Unsortable>, Result<Order, Unsortable>) {
    /// Sorting fewer rows takes no longer than starting a thread.
    const MANY: usize = 20_000;
    if same_order(guess, truth) {
        let order = order_of(truth);
        return (order.clone(), order);
    }
    if guess.len().min(truth.len()) < MANY {
        return (order_of(guess), order_of(truth));
    }
    both(|| order_of(guess), || order_of(truth))
}

/// Whether both sides have the same keys in the same order, none of them missing, in columns that are simply compared.
/// A submission that follows the sample mostly has.
pub(crate) fn same_order(guess: &Column, truth: &Column) -> bool {
    match (guess, truth) {
        (Column::Integer(guess), Column::Integer(truth)) => guess == truth,
        (Column::Text(guess), Column::Text(truth)) => guess == truth && !truth.any_missing(),
        _ => false,
    }
}

/// The row of the submission for each row of the answers, where both hold the same keys and none of them twice. `None`
/// where they do not, or where it is not simple to tell.
fn one_to_one(guess: &Column, truth: &Column) -> Option<Rows> {
    let simple = matches!(
        (guess, truth),
        (Column::Integer(_), Column::Integer(_)) | (Column::Text(_), Column::Text(_))
    );
    if !simple || guess.len() != truth.len() {
        return None;
    }
    if same_order(guess, truth) {
        return (!order_of(truth).ok()?.repeats).then(|| Rows::All(truth.len()));
    }
    let (guesses, truths) = orders(guess, truth);
    let (guesses, truths) = (guesses.ok()?, truths.ok()?);
    let same = |(row, answer): (usize, usize)| same_key(&guess.cell(row), &truth.cell(answer));
    if !truths.repeats && guesses.rows.iter().zip(&truths.rows).all(same) {
        let mut rows = vec![0; truths.rows.len()];
        for (row, answer) in guesses.rows.iter().zip(&truths.rows) {
            *rows.get_mut(answer)? = narrow(row);
        }
        return Some(Rows::Listed(rows));
    }
    None
}

/// Sorts both sides by their key; the keys must then be equal row by row.
pub(crate) fn sort_by_key(submission: &Table, answers: &Table, key: &str) -> Result<Pairing, Fault> {
    let pairing = sort_only(submission, answers, key)?;
    let (guess, truth) = keys(submission, answers, key)?;
    let same = same_order(guess, truth)
        || pairing.submission.len() == pairing.answers.len()
            && pairing
                .submission
                .iter()
                .zip(&pairing.answers)
                .all(|(left, right)| same_key(&guess.cell(left), &truth.cell(right)));
    if same { Ok(pairing) } else { Err(Fault::Submission(explain(guess, truth, key))) }
}

/// The set of keys is that of the answers; a key may repeat. A missing key equals a missing one among texts only.
pub(crate) fn same_key_set(submission: &Table, answers: &Table, key: &str) -> Result<(), Fault> {
    let (guess, truth) = keys(submission, answers, key)?;
    if same_order(guess, truth) || one_to_one(guess, truth).is_some() {
        return Ok(());
    }
    let known = Known::of(truth);
    let mut hit = vec![false; known.len()];
    // Python compares the cells of numeric columns by value, and a NaN is unlike itself; among texts the missing cell is
    // one and the same object.
    let missing = [guess, truth].map(|column| column.cells().any(|cell| cell == Cell::Missing));
    let numeric = guess.is_numeric() || truth.is_numeric();
    let mut same = match missing {
        [false, false] => true,
        [true, true] => !numeric,
        _ => false,
    };
    for cell in guess.cells().filter(|cell| *cell != Cell::Missing) {
        match known.code(cell).and_then(|code| hit.get_mut(code)) {
            Some(hit) => *hit = true,
            None => same = false,
        }
    }
    let same = same && hit.into_iter().all(|hit| hit);
    if same { Ok(()) } else { Err(Fault::Submission(explain(guess, truth, key))) }
}

/// Rows of the answers in file order, each with every row of the submission that has its key, in file order.
pub(crate) fn join(submission: &Table, answers: &Table, key: &str) -> Result<Pairing, Fault> {
    let (guess, truth) = keys(submission, answers, key)?;
    if let Some(rows) = one_to_one(guess, truth) {
        return Ok(Pairing { answers: Rows::All(truth.len()), submission: rows, repeats: Repeats::No });
    }
    let known = Known::of(truth);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); known.len()];
    for (row, cell) in guess.cells().enumerate() {
        if let Some(rows) = known.code(cell).and_then(|code| rows.get_mut(code)) {
            rows.push(narrow(row));
        }
    }
    let (mut guesses, mut truths) = (Vec::new(), Vec::new());
    for (row, cell) in truth.cells().enumerate() {
        let found = known.code(cell).and_then(|code| rows.get(code)).map(Vec::as_slice).unwrap_or_default();
        guesses.extend(found);
        truths.extend(std::iter::repeat_n(narrow(row), found.len()));
    }
    Ok(Pairing { answers: Rows::Listed(truths), submission: Rows::Listed(guesses), repeats: Repeats::No })
}

/// The keys of the answers, each with a code. Keys of a submission are looked up and never stored: see `hash`.
pub(crate) struct Known<'a> {
    codes: HashMap<Key<'a>, usize, FastHash>,
    /// Most keys that are none of these are told by it.
    sieve: Sieve,
}

impl<'a> Known<'a> {
    /// The keys in a column of the answers; missing cells are none.
    pub(crate) fn of(column: &'a Column) -> Self {
        let mut codes = HashMap::with_capacity_and_hasher(column.len(), FastHash::default());
        let mut sieve = Sieve::with_room(column.len());
        for key in column.cells().filter_map(Key::of) {
            let next = codes.len();
            sieve.add(key.mark());
            codes.entry(key).or_insert(next);
        }
        Self { codes, sieve }
    }

    /// Number of different keys.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The code of a key, counted from 0 in the order of first appearance; none of an unknown or missing one.
    pub(crate) fn code(&self, cell: Cell<'_>) -> Option<usize> {
        let key = Key::of(cell).filter(|key| self.sieve.may_hold(key.mark()))?;
        self.codes.get(&key).copied()
    }
}

/// Why the keys of a submission are not those of the answers. Keys stand in the test data too, so they may be named.
pub(crate) fn explain(guess: &Column, truth: &Column, key: &str) -> String {
    let name = quote(key);
    if guess.is_numeric() != truth.is_numeric() && !guess.is_empty() {
        let (found, expected) = if truth.is_numeric() { ("text", "numbers") } else { ("numbers", "text") };
        return format!("key column {name} holds {found}, expected {expected}");
    }
    let known = Known::of(truth);
    let mut seen: Vec<Option<usize>> = vec![None; known.len()];
    for (row, cell) in guess.cells().enumerate() {
        let shown = quote(&cell.to_string());
        if cell == Cell::Missing {
            return format!("data row {}: the cell in key column {name} is missing", row + 1);
        }
        let Some(slot) = known.code(cell).and_then(|code| seen.get_mut(code)) else {
            return format!("data row {} ({name} {shown}) is not one of the rows to predict", row + 1);
        };
        let first = slot.replace(row);
        if let Some(first) = first.filter(|_| known.len() == truth.len()) {
            return format!("{name} {shown} stands twice, in data rows {} and {}", first + 1, row + 1);
        }
    }
    let mut absent = truth
        .cells()
        .filter(|cell| known.code(*cell).is_none_or(|code| seen.get(code).is_none_or(Option::is_none)));
    let Some(first) = absent.next() else {
        return format!("key column {name} does not agree with the rows to predict");
    };
    let more = absent.count();
    let verb = if more == 0 { "is" } else { "are" };
    let shown = quote(&first.to_string());
    format!("{} to predict {verb} missing, the first is {name} {shown}", count(more + 1, "row"))
}
