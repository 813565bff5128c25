//! Graders that take probabilities by the position of their columns.

use podium_metric as metric;

use crate::catalog::RowSum;
use crate::csv::{Cell, Column, Table};
use crate::grade::align::{self, Known};
use crate::grade::cells::{Side, Whose};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::shared;
use crate::grade::order::same_key;
use crate::grade::reason::{count, quote, quote_all};
use crate::grade::rows::Rows;
use crate::grade::steps::check_row_sums;

/// Spooky authors: the second to fourth columns must be probabilities that sum to one; then the log loss of the columns
/// by name.
pub(super) fn spooky(input: &Input<'_>) -> Result<Score, Fault> {
    const KEY: &str = "id";
    let (submission, answers) = (input.submission, input.truth()?);
    align::same_row_count(submission, answers)?;
    align::has_columns(submission, &answers.names)?;
    if submission.names.len() != answers.names.len() {
        let (found, names) = (submission.names.len(), quote_all(answers.names.iter().map(String::as_str)));
        return Err(Fault::Submission(format!("the file has {}, expected {names}", count(found, "column"))));
    }
    let side = Side { whose: Whose::Submission, table: submission, key: Some(KEY), rows: &Rows::All(0) };
    let positional: Vec<(&str, &Column)> = submission.columns().skip(1).collect();
    if let Some((name, _)) = positional.iter().find(|(_, column)| is_text(column)) {
        let name = quote(name);
        return Err(Fault::Submission(format!(
            "column {name} holds text: all columns after the first are taken for probabilities, so {} comes first",
            quote(KEY)
        )));
    }
    let columns: Vec<&Column> = positional.iter().map(|(_, column)| *column).collect();
    check_row_sums(&side, &columns, RowSum::IsClose)?;
    for (name, column) in &positional {
        let within = |cell: Cell<'_>| cell.number().is_some_and(|value| (0.0..=1.0).contains(&value));
        if let Some(row) = column.cells().position(|cell| !within(cell)) {
            return Err(side.misfit(name, row, "a number from 0 to 1"));
        }
    }
    let pairing = align::sort_by_key(submission, answers, KEY)?;
    let classes: Vec<&String> = answers.names.iter().filter(|name| *name != KEY).collect();
    let matrix = |whose, table, rows| {
        Side { whose, table, key: Some(KEY), rows }.matrix(classes.iter().map(|name| name.as_str()))
    };
    let truth = matrix(Whose::Answers, answers, &pairing.answers)?;
    let guess = matrix(Whose::Submission, submission, &pairing.submission)?;
    let value = metric::cross_entropy(&truth, &guess, classes.len(), metric::EPS_SKLEARN);
    Ok(Score::python(value.map_err(shared::fault)?).noting(pairing.repeats))
}

fn is_text(column: &Column) -> bool {
    column.cells().any(|cell| matches!(cell, Cell::Text(_)))
}

/// Toxic comments: rows whose answers are −1 are dropped, the rest is sorted by id and paired by position, columns are
/// paired by position, and the columns' AUCs are averaged.
pub(super) fn jigsaw_toxic(input: &Input<'_>) -> Result<Score, Fault> {
    const KEY: &str = "id";
    let (submission, answers) = (input.submission, input.truth()?);
    let format = &input.competition.submission;
    align::has_columns(submission, format.id.iter().chain(&format.columns))?;
    align::same_row_count(submission, answers)?;
    let scores: Vec<&str> = submission.names.iter().filter(|name| *name != KEY).map(String::as_str).collect();
    if scores.len() != format.columns.len() {
        let known = |name: &&&str| !format.columns.iter().any(|column| column == **name);
        let extra: Vec<&str> = scores.iter().filter(known).copied().collect();
        let extra = quote_all(extra.into_iter());
        return Err(Fault::Submission(format!("columns that are not expected: {extra}")));
    }
    let rows = scored_rows(submission, answers, &format.columns)?;
    let truth = Side { whose: Whose::Answers, table: answers, key: Some(KEY), rows: &rows.answers };
    let guess = Side { whose: Whose::Submission, table: submission, key: Some(KEY), rows: &rows.submission };
    if rows.answers.len() != rows.submission.len() {
        let (found, expected) = (rows.submission.len(), rows.answers.len());
        return Err(Fault::Submission(format!(
            "{found} rows count for the score, expected {expected}: an id repeats"
        )));
    }
    let labels = answers.names.iter().filter(|name| *name != KEY);
    let mut areas = Vec::new();
    for (label, score) in labels.zip(&scores) {
        let truth: Vec<bool> = truth.numbers(label)?.iter().map(|value| *value > 0.0).collect();
        areas.push(metric::roc_auc(&truth, &guess.numbers(score)?).map_err(shared::fault)?);
    }
    let mut score = Score::python(metric::mean(&areas)).noting(rows.repeats);
    if scores.iter().zip(&format.columns).any(|(found, expected)| found != expected) {
        score = score.note(
            "columns stand in another order than the answers' and are matched by position, not by name",
        );
    }
    if score.value.is_nan() {
        score = score.note("a class of the answers has one label only: the score is not a number");
    }
    Ok(score)
}

/// Rows that count, on both sides in the order of their ids.
fn scored_rows(submission: &Table, answers: &Table, classes: &[String]) -> Result<align::Pairing, Fault> {
    const KEY: &str = "id";
    let sorted = align::sort_only(submission, answers, KEY)?;
    let (ids, known_ids) = (align::column(submission, KEY)?, align::truth_column(answers, KEY)?);
    let labels: Result<Vec<&Column>, Fault> =
        classes.iter().map(|name| align::truth_column(answers, name)).collect();
    let labels = labels?;
    let sum = |row: usize| labels.iter().filter_map(|column| column.cell(row).number()).sum::<f64>();
    let counts: Vec<bool> = (0..answers.rows).map(|row| sum(row) >= 0.0).collect();
    let counted = |row: usize| counts.get(row).copied().unwrap_or(false);
    let known = Known::of(known_ids);
    let mut by_code = vec![false; known.len()];
    for (row, cell) in known_ids.cells().enumerate() {
        if let Some(slot) = known.code(cell).and_then(|code| by_code.get_mut(code)) {
            *slot = counted(row);
        }
    }
    let identical = || {
        let pairs = sorted.submission.iter().zip(&sorted.answers);
        pairs.into_iter().all(|(one, other)| same_key(&ids.cell(one), &known_ids.cell(other)))
    };
    if known.len() != answers.rows && !identical() {
        return Err(Fault::answers("ids repeat or are missing"));
    }
    let mut submission_rows = Vec::new();
    for row in &sorted.submission {
        match known.code(ids.cell(row)).and_then(|code| by_code.get(code)) {
            Some(true) => submission_rows.push(row),
            Some(false) => {}
            None => return Err(Fault::Submission(align::explain(ids, known_ids, KEY))),
        }
    }
    let answer_rows = sorted.answers.iter().filter(|row| counted(*row)).collect();
    Ok(align::Pairing {
        answers: answer_rows,
        submission: submission_rows.into_iter().collect(),
        repeats: sorted.repeats,
    })
}
