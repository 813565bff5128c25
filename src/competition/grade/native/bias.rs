//! Toxicity with unintended bias: `jigsaw-unintended-bias-in-toxicity-classification`.
//!
//! The catalog's answer columns are the truth and then one per group. Everything is cut at one half before it is
//! looked at, predictions too, so the areas under the curve are those of hard decisions.

use podium_metric as metric;
use podium_metric::MetricError;

use crate::csv::{Cell, Column};
use crate::grade::align::{Pairing, column, sort_by_key, truth_column};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::{misfit, row_name};
use crate::grade::order::same_key;
use crate::grade::reason::quote;
use crate::grade::rows::Rows;

/// Share of each of the four parts in the score.
const SHARE: f64 = 0.25;
/// Power of the mean over the groups, which leans towards the worst.
const POWER: f64 = -5.0;

/// One quarter the area over all rows, and one quarter each the power means over the groups of the three areas.
pub(crate) fn unintended_bias(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    let format = &input.competition.submission;
    let ([key], [target]) = (format.id.as_slice(), format.columns.as_slice()) else {
        return Err(Fault::answers("the grader takes one key column and one predicted column"));
    };
    let Some((truth, groups)) = input.competition.answer_columns().split_first() else {
        return Err(Fault::answers("the catalog names no column of the truth"));
    };
    let keys = column(submission, key)?;
    // The answers may be graded against themselves, so their column's name is taken too.
    let (name, guess) = match (submission.column(target), submission.column(truth)) {
        (Some(_), Some(_)) => {
            let (target, truth) = (quote(target), quote(truth));
            return Err(Fault::Submission(format!(
                "there are columns {target} and {truth}, expected one of them"
            )));
        }
        (None, Some(column)) => (truth, column),
        (_, None) => (target, column(submission, target)?),
    };
    let pairing = sort_by_key(submission, answers, key)?;
    if let Some(row) = guess.cells().position(|cell| matches!(cell, Cell::Text(_))) {
        return Err(Fault::Submission(misfit(name, guess, &row_name(key, keys, row), row, "a number")));
    }
    let scores: Vec<f64> =
        cut(guess, &pairing.submission).into_iter().map(|high| f64::from(u8::from(high))).collect();
    let truth = decisions(truth_column(answers, truth)?, &pairing)?;
    let overall = metric::roc_auc(&truth, &scores).map_err(|_| Fault::answers("there are no rows"))?;
    let mut areas = [const { Vec::new() }; 3];
    for group in groups {
        let members = decisions(truth_column(answers, group)?, &pairing)?;
        check_repeated(keys, &pairing, &truth, &members)?;
        let found = metric::group_auc(&truth, &scores, &members).map_err(|error| match error {
            MetricError::Empty => Fault::answers("a part of a group has no row"),
            _ => Fault::answers("an area cannot be computed"),
        })?;
        for (areas, area) in
            areas.iter_mut().zip([found.subgroup, found.background_positive, found.background_negative])
        {
            if area == 0.0 {
                return Err(Fault::Submission(format!(
                    "column {}: all decisions of a group are wrong, and the official grader cannot take the power \
                     mean of an area of 0",
                    quote(name)
                )));
            }
            areas.push(area);
        }
    }
    let biased = areas.iter().fold(0.0, |sum, areas| sum + SHARE * metric::power_mean(areas, POWER));
    let score = Score::python(SHARE * overall + biased).noting(pairing.repeats);
    let soft =
        guess.cells().filter(|cell| cell.number().is_some_and(|value| ![0.0, 1.0].contains(&value))).count();
    let missing = guess.cells().filter(|cell| *cell == Cell::Missing).count();
    let notes = [
        (soft, "predictions are cut at 0.5 before anything is ranked"),
        (missing, "missing predictions count as not toxic"),
    ];
    Ok(notes.into_iter().filter(|(rows, _)| *rows > 0).fold(score, |score, (_, note)| score.note(note)))
}

/// Whether each cell is at least one half; a missing one is not.
fn cut(column: &Column, rows: &Rows) -> Vec<bool> {
    rows.iter().map(|row| column.cell(row).number().is_some_and(|value| value >= 0.5)).collect()
}

fn decisions(column: &Column, pairing: &Pairing) -> Result<Vec<bool>, Fault> {
    if column.cells().any(|cell| matches!(cell, Cell::Text(_))) {
        return Err(Fault::answers("a label column holds text"));
    }
    Ok(cut(column, &pairing.answers))
}

/// The parts of a group are picked by key from the submission, and by row from the answers. Where rows of one key
/// belong to different parts, the two differ in length and the official grader fails.
fn check_repeated(keys: &Column, pairing: &Pairing, truth: &[bool], members: &[bool]) -> Result<(), Fault> {
    let rows: Vec<(usize, (bool, bool))> =
        pairing.submission.iter().zip(truth.iter().copied().zip(members.iter().copied())).collect();
    for pair in rows.windows(2) {
        let [(row, part), (next, next_part)] = pair else { continue };
        if part != next_part && same_key(&keys.cell(*row), &keys.cell(*next)) {
            return Err(Fault::answers("rows of one key have different labels"));
        }
    }
    Ok(())
}
