//! Correlations between two columns: of ranks, column by column, and of labels.

use podium_metric as metric;

use crate::csv::{Cell, Column};
use crate::grade::align::{Pairing, has_columns, same_row_count, sort_only, truth_column};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::Single;
use crate::grade::order::same_key;
use crate::grade::reason::{count, quote};
use crate::grade::rows::Rows;

/// Mean rank correlation over the predicted columns: `google-quest-challenge`. Keys put rows in order and are not
/// compared.
pub(crate) fn rank_correlations(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    let format = &input.competition.submission;
    let [key] = format.id.as_slice() else { return Err(Fault::answers("the grader takes one key column")) };
    has_columns(submission, [key].into_iter().chain(&format.columns))?;
    let (found, expected) = (submission.names.len(), format.columns.len() + 1);
    if found != expected {
        let found = count(found, "column");
        return Err(Fault::Submission(format!(
            "there are {found}, expected {expected}: leave other columns out"
        )));
    }
    if answers.names.len() != expected {
        return Err(Fault::answers("they have other columns than the grader takes"));
    }
    same_row_count(submission, answers)?;
    let pairing = sort_only(submission, answers, key)?;
    let mut correlations = Vec::with_capacity(format.columns.len());
    let mut texts = 0;
    for name in &format.columns {
        let guess = crate::grade::align::column(submission, name)?;
        let truth = ranks(truth_column(answers, name)?, &pairing.answers)
            .map_err(|_| Fault::answers("a column mixes numbers and text"))?;
        let guess_ranks = ranks(guess, &pairing.submission).map_err(|Unordered| {
            Fault::Submission(format!("column {} mixes numbers and text, which have no order", quote(name)))
        })?;
        texts += usize::from(matches!(guess, Column::Text(_)));
        correlations.push(match (truth, guess_ranks) {
            (Some(truth), Some(guess)) => {
                metric::pearson(&truth, &guess).map_err(|_| Fault::answers("there are no rows"))?
            }
            _ => f64::NAN,
        });
    }
    let mut score = Score::numpy(metric::mean(&correlations)).noting(pairing.repeats);
    if texts > 0 {
        let columns = count(texts, "column");
        score =
            score.note(format!("{columns} with a cell that is no number: ranked as text, by code points"));
    }
    if score.value.is_nan() {
        score = score.note("the score is not a number: a column is constant or has a missing cell");
    }
    if !same_keys(&pairing, submission.column(key), answers.column(key)) {
        score = score
            .note("the ids are not those of the answers; the official grader pairs rows by rank of the id");
    }
    Ok(score)
}

/// Cells of different kinds in one column, which Python does not compare.
struct Unordered;

/// Ranks of a column's cells in the given order of rows; none where a cell is missing.
fn ranks(column: &Column, rows: &Rows) -> Result<Option<Vec<f64>>, Unordered> {
    let cells = || rows.iter().map(|row| column.cell(row));
    if cells().any(|cell| cell == Cell::Missing) {
        return Ok(None);
    }
    let numbers: Vec<f64> = cells().filter_map(|cell| cell.number()).collect();
    if numbers.len() == rows.len() {
        return Ok(Some(metric::average_ranks(&numbers)));
    }
    let texts: Vec<&str> =
        cells().filter_map(|cell| if let Cell::Text(text) = cell { Some(text) } else { None }).collect();
    if texts.len() == rows.len() { Ok(Some(metric::average_ranks(&texts))) } else { Err(Unordered) }
}

fn same_keys(pairing: &Pairing, guess: Option<&Column>, truth: Option<&Column>) -> bool {
    let (Some(guess), Some(truth)) = (guess, truth) else { return false };
    let mut rows = pairing.submission.iter().zip(&pairing.answers);
    rows.all(|(row, answer)| same_key(&guess.cell(row), &truth.cell(answer)))
}

/// Matthews' coefficient of labels that are whole numbers: `nfl-player-contact-detection`.
pub(crate) fn label_correlation(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted_sets()?;
    let (mut truths, mut guesses) = (Vec::new(), Vec::new());
    let plain = sides.guess.is_numeric();
    for (row, guess, truth) in sides.cells(&pairing) {
        truths.push(label(truth).ok_or_else(|| Fault::answers("a label is no whole number"))?);
        let guess = label(guess).filter(|_| plain);
        guesses.push(guess.ok_or_else(|| sides.misfit(row, "a whole number"))?);
    }
    let known: std::collections::BTreeSet<i128> = truths.iter().copied().collect();
    let strange = guesses.iter().filter(|label| !known.contains(label)).count();
    let value =
        metric::matthews_correlation(&truths, &guesses).map_err(|_| Fault::answers("there are no rows"))?;
    let score = Score::python(value).noting(pairing.repeats);
    if strange > 0 {
        return Ok(score.note(format!("{} with a label that no answer has", count(strange, "prediction"))));
    }
    Ok(score)
}

/// A class label: a whole number, also written as a decimal one or as a boolean. Numbers beyond the signed range meet the
/// others as doubles.
#[expect(clippy::cast_possible_truncation, reason = "whole and within the range")]
fn label(cell: Cell<'_>) -> Option<i128> {
    match cell {
        Cell::Integer(value) => Some(i128::from(value)),
        Cell::Unsigned(value) => Some(value as f64 as i128),
        Cell::Boolean(value) => Some(i128::from(value)),
        Cell::Float(value) if value.fract() == 0.0 && (-9.2e18..9.2e18).contains(&value) => {
            Some(value as i128)
        }
        _ => None,
    }
}
