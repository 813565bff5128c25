//! Sets of labels in one cell, and scores for many labels in many columns.

use std::collections::HashMap;

use podium_metric as metric;
use podium_metric::literal::words;

use crate::csv::{Cell, Column, Table, float64};
use crate::grade::align::{column, same_row_count, sort_by_key, truth_column};
use crate::grade::hash::FastHash;
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::{Single, misfit, row_name};
use crate::grade::reason::quote;

/// Micro F1 of label sets where every row has a true label: `imet-2020-fgvc7`, `plant-pathology-2021-fgvc8`.
pub(crate) fn label_sets(input: &Input<'_>) -> Result<Score, Fault> {
    micro_f1(input, true)
}

/// Micro F1 of label sets where rows may have no true label: `facebook-recruiting-iii-keyword-extraction`.
pub(crate) fn label_sets_or_none(input: &Input<'_>) -> Result<Score, Fault> {
    micro_f1(input, false)
}

/// Labels that occur in no answer are dropped before anything is counted, as the official binariser drops them.
fn micro_f1(input: &Input<'_>, all_labelled: bool) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted()?;
    let vocabulary = Vocabulary::of(sides.truth, all_labelled)?;
    let (mut hits, mut true_labels, mut guessed, mut unknown) = (0u64, 0u64, 0u64, 0u64);
    let (mut truths, mut guesses) = (Vec::new(), Vec::new());
    for (row, guess, truth) in sides.cells(&pairing) {
        vocabulary.codes(truth, &mut truths);
        let Some(strangers) = vocabulary.codes(guess, &mut guesses) else {
            return Err(sides.misfit(row, "text; a column of numbers alone is refused"));
        };
        unknown += strangers;
        hits += guesses.iter().filter(|code| truths.contains(code)).count() as u64;
        true_labels += truths.len() as u64;
        guessed += guesses.len() as u64;
    }
    let score = Score::python(metric::f1_from_counts(hits, true_labels, guessed)).noting(pairing.repeats);
    if unknown > 0 {
        return Ok(score.note(format!(
            "{unknown} predicted labels occur in no answer; the official grader drops them, so they cost nothing"
        )));
    }
    Ok(score)
}

/// The labels that occur in the answers.
struct Vocabulary<'a>(HashMap<&'a str, u32, FastHash>);

impl<'a> Vocabulary<'a> {
    fn of(column: &'a Column, all_labelled: bool) -> Result<Self, Fault> {
        let mut codes = HashMap::with_hasher(FastHash::default());
        let Column::Text(texts) = column else { return Err(Fault::answers("the labels are no text")) };
        for text in texts.iter() {
            let before = words(text.unwrap_or_default()).next();
            if all_labelled && before.is_none() {
                return Err(Fault::answers("a row has no label, which the official grader cannot order"));
            }
            for label in words(text.unwrap_or_default()) {
                let next = u32::try_from(codes.len()).unwrap_or(u32::MAX);
                codes.entry(label).or_insert(next);
            }
        }
        if codes.len() < 2 {
            return Err(Fault::answers("there are fewer than two labels, which the official grader refuses"));
        }
        Ok(Self(codes))
    }

    /// Puts the codes of the different known labels of a cell into `found`; returns the number of unknown ones, or
    /// nothing where the cell is a number.
    fn codes(&self, cell: Cell<'_>, found: &mut Vec<u32>) -> Option<u64> {
        found.clear();
        let text = match cell {
            Cell::Text(text) => text,
            Cell::Missing => "",
            _ => return None,
        };
        let mut unknown = 0;
        for label in words(text) {
            match self.0.get(label) {
                Some(code) if found.contains(code) => {}
                Some(code) => found.push(*code),
                None => unknown += 1,
            }
        }
        Some(unknown)
    }
}

/// Label-weighted ranking precision over one column per class, in the catalog's order:
/// `freesound-audio-tagging-2019`.
pub(crate) fn ranked_label_columns(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    same_row_count(submission, answers)?;
    let format = &input.competition.submission;
    let [key] = format.id.as_slice() else { return Err(Fault::answers("the grader takes one key column")) };
    exact_header(submission, key, &format.columns)?;
    exact_header(answers, key, &format.columns)
        .map_err(|_| Fault::answers("they have other columns than the grader takes"))?;
    let pairing = sort_by_key(submission, answers, key)?;
    let classes = format.columns.len();
    let booleans = |name: &String| matches!(submission.column(name), Some(Column::Boolean(_)));
    if format.columns.iter().all(booleans) {
        return Err(Fault::submission("all class columns hold True and False only, expected numbers"));
    }
    let keys = column(submission, key)?;
    let refuse = |name: &str, row: usize| {
        let cells = column(submission, name)?;
        Err(Fault::Submission(misfit(name, cells, &row_name(key, keys, row), row, "a finite number")))
    };
    let mut scores = vec![0.0; classes * pairing.submission.len()];
    let mut truths = vec![false; scores.len()];
    for (class, name) in format.columns.iter().enumerate() {
        let (guess, truth) = (column(submission, name)?, truth_column(answers, name)?);
        if truth.cells().any(|cell| matches!(cell, Cell::Text(_))) {
            return Err(Fault::answers("a label column holds text"));
        }
        let rows = pairing.submission.iter().zip(&pairing.answers);
        let slots = scores.chunks_exact_mut(classes).zip(truths.chunks_exact_mut(classes));
        for ((row, answer), (scores, truths)) in rows.zip(slots) {
            let Some(value) = number(guess.cell(row)) else { return refuse(name, row) };
            if let (Some(score), Some(slot)) = (scores.get_mut(class), truths.get_mut(class)) {
                (*score, *slot) = (value, truth.cell(answer).number().is_some_and(|truth| truth > 0.0));
            }
        }
    }
    // Rows without a label are left out before anybody looks at their scores.
    let rows = scores.chunks_exact(classes).zip(truths.chunks_exact(classes));
    for ((scores, truths), row) in rows.zip(&pairing.submission) {
        let odd = scores.iter().zip(&format.columns).find(|(score, _)| !score.is_finite());
        if let Some((_, name)) = odd.filter(|_| truths.contains(&true)) {
            return refuse(name, row);
        }
    }
    let value = metric::label_weighted_ranking_precision(&truths, &scores, classes)
        .map_err(|_| Fault::answers("there are no rows"))?;
    if value.is_nan() {
        return Err(Fault::answers("no row has a label"));
    }
    Ok(Score::python(value).noting(pairing.repeats))
}

/// The number in a cell, NaN where it is missing. Text is tried too, because negative numbers and numbers beyond the signed range make a whole
/// column text; a whole number beyond the unsigned range is refused.
fn number(cell: Cell<'_>) -> Option<f64> {
    let Cell::Text(text) = cell else { return Some(cell.number().unwrap_or(f64::NAN)) };
    let value = float64(text.as_bytes())?;
    let digits = text.trim().trim_start_matches(['+', '-']);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole: i128 = text.trim().parse().ok()?;
        return (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole).then_some(value);
    }
    Some(value)
}

/// The header is the key column and then the classes in order.
fn exact_header(table: &Table, key: &str, classes: &[String]) -> Result<(), Fault> {
    if table.names.first().is_none_or(|first| first != key) {
        return Err(Fault::Submission(format!("the first column is not {}", quote(key))));
    }
    let found = table.names.get(1..).unwrap_or_default();
    if let Some((position, (found, wanted))) =
        found.iter().zip(classes).enumerate().find(|(_, (found, wanted))| found != wanted)
    {
        return Err(Fault::Submission(format!(
            "column {} is {}, expected {}: the class columns stand in a fixed order",
            position + 2,
            quote(found),
            quote(wanted)
        )));
    }
    if found.len() == classes.len() {
        return Ok(());
    }
    Err(Fault::Submission(format!("there are {} class columns, expected {}", found.len(), classes.len())))
}
