//! Errors of numbers with rules of their own: by group of rows, over the last rows of a group, over masked rows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use podium_metric as metric;

use crate::csv::{Cell, Column, Table};
use crate::grade::align::{self, Known};
use crate::grade::cells::{Side, Whose};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::shared;
use crate::grade::order::sorted_rows;
use crate::grade::outcome::AnswersFault;
use crate::grade::python;
use crate::grade::reason::quote;
use crate::grade::rows::Rows;

/// Scalar couplings: the mean over coupling types of the log of the mean absolute error.
pub(super) fn champs(input: &Input<'_>) -> Result<Score, Fault> {
    const TARGET: &str = "scalar_coupling_constant";
    let (submission, answers) = (input.submission, input.truth()?);
    align::column(submission, TARGET)?;
    align::column(submission, "id")?;
    align::same_key_set(submission, answers, "id")?;
    let pairing = align::join(submission, answers, "id")?;
    let key = Some("id");
    let guess = Side { whose: Whose::Submission, table: submission, key, rows: &pairing.submission };
    let truth = Side { whose: Whose::Answers, table: answers, key, rows: &pairing.answers };
    let (guess, truth_values) = (guess.numbers(TARGET)?, truth.numbers(TARGET)?);
    let kinds = align::truth_column(answers, "type")?;
    let mut groups: BTreeMap<Cow<'_, str>, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for ((row, predicted), value) in pairing.answers.iter().zip(&*guess).zip(&*truth_values) {
        let kind = match kinds.cell(row) {
            Cell::Text(kind) => Cow::Borrowed(kind),
            other => Cow::Owned(other.to_string()),
        };
        let (group_truth, group_guess) = groups.entry(kind).or_default();
        group_truth.push(*value);
        group_guess.push(*predicted);
    }
    let mut logs = Vec::with_capacity(groups.len());
    for (group_truth, group_guess) in groups.values() {
        logs.push(metric::mae(group_truth, group_guess).map_err(shared::fault)?.ln());
    }
    let mut score = Score::numpy(metric::mean(&logs));
    if score.value == f64::NEG_INFINITY {
        score =
            score.note("a coupling type has no error at all: its log is minus infinity, and so is the score");
    }
    if pairing.answers.len() > answers.rows {
        score = score.note("ids repeat: each row of a repeated id counts");
    }
    Ok(score)
}

/// Pulmonary fibrosis: a Laplace log likelihood over the last three measured weeks of each patient.
pub(super) fn osic(input: &Input<'_>) -> Result<Score, Fault> {
    const KEY: &str = "Patient_Week";
    let (submission, answers) = (input.submission, input.truth()?);
    let (keys, known_keys) = (align::column(submission, KEY)?, align::truth_column(answers, KEY)?);
    let known = Known::of(known_keys);
    if let Some(row) = keys.cells().position(|cell| known.code(cell).is_none()) {
        let found = quote(&keys.cell(row).to_string());
        return Err(Fault::Submission(format!("data row {}: {KEY} {found} is not in the test set", row + 1)));
    }
    for name in ["FVC", "Confidence"] {
        let column = align::column(submission, name)?;
        if !column.is_numeric() {
            return Err(not_numeric(submission, column, name));
        }
    }
    let last = last_measured(answers)?;
    let mut scored = vec![false; known.len()];
    for row in &last {
        if let Some(slot) = known.code(known_keys.cell(*row)).and_then(|code| scored.get_mut(code)) {
            *slot = true;
        }
    }
    let is_scored =
        |cell: Cell<'_>| known.code(cell).and_then(|code| scored.get(code)).copied().unwrap_or(false);
    let guess_rows: Rows = in_order(keys)?.iter().filter(|row| is_scored(keys.cell(*row))).collect();
    let mut submitted = vec![false; known.len()];
    for row in &guess_rows {
        if let Some(slot) = known.code(keys.cell(row)).and_then(|code| submitted.get_mut(code)) {
            *slot = true;
        }
    }
    let is_submitted =
        |cell: Cell<'_>| known.code(cell).and_then(|code| submitted.get(code)).copied().unwrap_or(false);
    let truth_rows: Rows = in_order(known_keys)?
        .iter()
        .filter(|row| last.contains(row) && is_submitted(known_keys.cell(*row)))
        .collect();
    let wanted = last.len();
    let side = |whose, table, rows| Side { whose, table, key: Some(KEY), rows };
    let guess = side(Whose::Submission, submission, &guess_rows);
    let guess_values = guess.any_numbers("FVC")?;
    let confidence = guess.any_numbers("Confidence")?;
    let truth_values = side(Whose::Answers, answers, &truth_rows).any_numbers("FVC")?;
    let (ours, theirs) = (truth_values.len(), guess_values.len());
    if ours != theirs && ours != 1 && theirs != 1 {
        return Err(Fault::Submission(format!(
            "{theirs} rows count for the score, expected {ours}: a {KEY} repeats"
        )));
    }
    let rows = if ours == 0 || theirs == 0 { 0 } else { ours.max(theirs) };
    // A single value stands for all rows, as NumPy broadcasts it.
    let at = |values: &[f64], row: usize| {
        values.get(if values.len() == 1 { 0 } else { row }).copied().unwrap_or(f64::NAN)
    };
    let values: Vec<f64> = (0..rows)
        .map(|row| laplace(at(&truth_values, row), at(&guess_values, row), at(&confidence, row)))
        .collect();
    let mut score = Score::numpy(metric::mean(&values));
    if theirs < wanted {
        score =
            score.note(format!("only {theirs} of {wanted} scored rows are there; the others do not count"));
    }
    if ours != theirs {
        score = score.note("the only scored row repeats: each repetition counts");
    }
    if !score.value.is_finite() {
        score = score.note("a missing or infinite value makes the score one");
    }
    Ok(score)
}

fn in_order(keys: &Column) -> Result<Rows, Fault> {
    sorted_rows(keys).map_err(|_| Fault::submission("keys mix numbers and text, which have no order"))
}

fn not_numeric(submission: &Table, column: &Column, name: &str) -> Fault {
    match column.cells().position(|cell| matches!(cell, Cell::Text(_))) {
        Some(row) => {
            let side = Side { whose: Whose::Submission, table: submission, key: None, rows: &Rows::All(0) };
            side.misfit(name, row, "a number, in every row of the file")
        }
        None => Fault::Submission(format!("column {} holds no numbers", quote(name))),
    }
}

/// The rows of the answers with a measured capacity, the last three weeks of each patient.
fn last_measured(answers: &Table) -> Result<Vec<usize>, Fault> {
    let keys = align::truth_column(answers, "Patient_Week")?;
    let patients = align::truth_column(answers, "Patient")?;
    let measured = align::truth_column(answers, "FVC")?;
    let mut weeks = Vec::new();
    for row in (0..answers.rows).filter(|row| measured.cell(*row) != Cell::Missing) {
        let key = python::text_of(keys.cell(row));
        let week = key.rsplit('_').next().and_then(python::int);
        let misfit = || Fault::Answers(AnswersFault::Misfit("Patient_Week".to_owned()));
        weeks.push((week.ok_or_else(misfit)?, row));
    }
    weeks.sort_by_key(|(week, _)| *week);
    let mut patients_seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut last: Vec<usize> = weeks
        .into_iter()
        .rev()
        .map(|(_, row)| row)
        .filter(|row| {
            let seen = patients_seen.entry(patients.cell(*row).to_string()).or_default();
            *seen += 1;
            *seen <= 3
        })
        .collect();
    last.reverse();
    Ok(last)
}

/// `−√2·Δ/σ − ln(√2·σ)` with `σ = max(confidence, 70)` and `Δ = min(|t − p|, 1000)`; NaN goes through.
fn laplace(truth: f64, guess: f64, confidence: f64) -> f64 {
    // A missing confidence is 0.
    let sigma = if confidence > 70.0 { confidence } else { 70.0 };
    let error = (truth - guess).abs();
    let delta = if error > 1000.0 { 1000.0 } else { error };
    let root = 2.0f64.sqrt();
    -root * delta / sigma - (root * sigma).ln()
}

/// RNA degradation: the mean of three columns' root mean squared errors over the rows that are kept.
pub(super) fn stanford_covid(input: &Input<'_>) -> Result<Score, Fault> {
    const KEY: &str = "id_seqpos";
    let (submission, answers) = (input.submission, input.truth()?);
    align::same_row_count(submission, answers)?;
    let format = &input.competition.submission;
    align::has_columns(submission, format.id.iter().chain(&format.columns))?;
    let pairing = align::sort_by_key(submission, answers, KEY)?;
    let keep = align::truth_column(answers, "keep")?;
    let kept = |row: usize| keep.cell(row).number() == Some(1.0);
    let labels = file_rows(submission)?;
    let mut scored = Vec::new();
    for row in &pairing.submission {
        let label = labels.get(row).copied().unwrap_or(row);
        if label >= answers.rows {
            return Err(Fault::submission(
                "the first data row is longer than the header, which shifts all columns",
            ));
        }
        if kept(label) {
            scored.push(row);
        }
    }
    let answer_rows: Rows = pairing.answers.iter().filter(|row| kept(*row)).collect();
    let submission_rows: Rows = scored.into_iter().collect();
    let truth = Side { whose: Whose::Answers, table: answers, key: Some(KEY), rows: &answer_rows };
    let guess = Side { whose: Whose::Submission, table: submission, key: Some(KEY), rows: &submission_rows };
    let mut errors = Vec::new();
    for name in ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"] {
        let (truth, guess) = (truth.numbers(name)?, guess.numbers(name)?);
        errors.push(metric::rmse(&truth, &guess).map_err(shared::fault)?);
    }
    let score = Score::numpy(metric::mean(&errors)).noting(pairing.repeats);
    let moved = (0..submission.rows).any(|row| {
        let label = labels.get(row).copied().unwrap_or(row);
        let (ours, theirs) = (align::truth_column(answers, KEY), align::column(submission, KEY));
        matches!((ours, theirs), (Ok(ours), Ok(theirs)) if ours.cell(label) != theirs.cell(row))
    });
    Ok(if moved {
        score.note(
            "rows stand in another order than in the sample submission: the official grader picks the scored rows by \
             their place in the file, so wrong rows may have been compared",
        )
    } else {
        score
    })
}

/// The row labels that pandas gives the submission: row numbers, or the nameless first column.
fn file_rows(submission: &Table) -> Result<Vec<usize>, Fault> {
    let shifted =
        || Fault::submission("the first data row is longer than the header, which shifts all columns");
    match submission.row_labels.as_slice() {
        [] => Ok((0..submission.rows).collect()),
        [Column::Integer(labels)] => {
            labels.iter().map(|label| usize::try_from(*label).map_err(|_| shifted())).collect()
        }
        _ => Err(shifted()),
    }
}
