//! Texts against texts: edit distance by characters, overlap of words, edit distance of number sequences.
//!
//! What a cell becomes when the reader took its column for numbers is part of each grader's law and differs between
//! them: some refuse it, some take Python's spelling of the number.

use std::borrow::Cow;
use std::collections::BTreeSet;

use podium_metric as metric;
use podium_metric::TextDistance;
use podium_metric::literal::{self, Integer};

use crate::csv::{Cell, Column};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::Single;
use crate::grade::python::text_of;
use crate::parallel::map_rows;

/// Mean edit distance of cells that must be text: `billion-word-imputation`.
pub(crate) fn sentence_distance(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.matched()?;
    let distances = map_rows(pairing.answers.len(), |range| {
        let mut distance = TextDistance::new();
        let between = |(row, guess, truth)| match (guess, truth) {
            (Cell::Text(guess), Cell::Text(truth)) => Ok(distance.between(truth, guess) as f64),
            (_, Cell::Text(_)) => {
                Err(sides.misfit(row, "text; words such as NA, null and None count as missing"))
            }
            _ => Err(Fault::answers("a cell is no text")),
        };
        sides.cells_of(&pairing, range).map(between).collect()
    })?;
    Ok(Score::numpy(metric::mean(&distances)).noting(pairing.repeats))
}

/// Mean edit distance of cells as Python spells them: `bms-molecular-translation`.
pub(crate) fn spelled_distance(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.matched()?;
    let distances = map_rows(pairing.answers.len(), |range| {
        let mut distance = TextDistance::new();
        let between = |(_, guess, truth)| distance.between(&text_of(truth), &text_of(guess)) as f64;
        Ok::<Vec<f64>, Fault>(sides.cells_of(&pairing, range).map(between).collect())
    })?;
    let missing = sides.guess.cells().filter(|cell| *cell == Cell::Missing).count();
    let score = Score::numpy(metric::mean(&distances)).noting(pairing.repeats);
    Ok(note_spelling(score, sides.guess, missing))
}

/// Says that cells were not compared as the file spells them.
fn note_spelling(score: Score, column: &Column, missing: usize) -> Score {
    if column.is_numeric() && !column.is_empty() {
        return score.note("the predicted column was read as numbers and compared as Python spells them");
    }
    if missing > 0 {
        return score.note(format!("{missing} missing cells were compared as the text `nan`"));
    }
    score
}

/// Mean word overlap of cells that must be text or missing; rows without a word count 0:
/// `chaii-hindi-and-tamil-question-answering`.
pub(crate) fn word_overlap(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted()?;
    let (mut values, mut vocabulary) = (Vec::with_capacity(pairing.answers.len()), BTreeSet::new());
    for (row, guess, truth) in sides.cells(&pairing) {
        let truth = text_or_empty(truth).ok_or_else(|| Fault::answers("a cell is no text"))?;
        let guess = text_or_empty(guess)
            .ok_or_else(|| sides.misfit(row, "text; a column without a textual cell is refused"))?;
        let (truth, guess) = (truth.to_lowercase(), guess.to_lowercase());
        let words = (words(&truth), words(&guess));
        if vocabulary.len() < 2 {
            vocabulary.extend(words.0.iter().chain(&words.1).map(|word| (*word).to_owned()));
        }
        values.push(metric::jaccard(&words.0, &words.1).unwrap_or_default());
    }
    if vocabulary.len() < 2 {
        return Err(Fault::submission(
            "the predicted column and the answers have fewer than two different words between them, which the \
             official grader cannot score",
        ));
    }
    Ok(Score::python(metric::mean(&values)).noting(pairing.repeats))
}

/// Mean word overlap of cells as Python spells them, missing ones empty: `tweet-sentiment-extraction`.
pub(crate) fn spelled_word_overlap(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted()?;
    let spelled = |cell| match cell {
        Cell::Missing => Cow::Borrowed(""),
        cell => text_of(cell),
    };
    let mut values = Vec::with_capacity(pairing.answers.len());
    for (row, guess, truth) in sides.cells(&pairing) {
        let (truth, guess) = (spelled(truth).to_lowercase(), spelled(guess).to_lowercase());
        let Some(value) = metric::jaccard(&words(&truth), &words(&guess)) else {
            return Err(Fault::Submission(format!(
                "{}: neither the prediction nor the truth has a word, which the official grader cannot score",
                sides.row_name(row)
            )));
        };
        values.push(value);
    }
    let score = Score::python(metric::mean(&values)).noting(pairing.repeats);
    Ok(note_spelling(score, sides.guess, 0))
}

/// The cell as text, a missing one as the empty text; none for numbers and booleans.
const fn text_or_empty(cell: Cell<'_>) -> Option<&str> {
    match cell {
        Cell::Text(text) => Some(text),
        Cell::Missing => Some(""),
        _ => None,
    }
}

fn words(text: &str) -> Vec<&str> {
    literal::words(text).collect()
}

/// Edit distances of all sequences of whole numbers by the number of true ones: `multi-modal-gesture-recognition`.
pub(crate) fn sequence_error_rate(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted()?;
    let (mut truths, mut guesses) = (Vec::new(), Vec::new());
    for (row, guess, truth) in sides.cells(&pairing) {
        truths.push(items(truth).ok_or_else(|| Fault::answers("a sequence holds no whole numbers"))?);
        guesses.push(
            items(guess).ok_or_else(|| sides.misfit(row, "whole numbers that are separated by blanks"))?,
        );
    }
    let rate = metric::edit_rate(&truths, &guesses).map_err(|_| Fault::answers("there are no rows"))?;
    Ok(Score::numpy(rate).noting(pairing.repeats))
}

fn items(cell: Cell<'_>) -> Option<Vec<i64>> {
    literal::words(&text_of(cell)).map(item).collect()
}

/// A whole number as the official distance compares it: by Python's hash, which is the number modulo 2⁶¹ − 1 with its
/// sign, save that −1 is kept apart from −2.
fn item(word: &str) -> Option<i64> {
    const MODULUS: u128 = (1 << 61) - 1;
    let (negative, rest) = match literal::integer(word)? {
        Integer::Small(-1) => return Some(-1),
        Integer::Small(value) => (value < 0, value.unsigned_abs() % MODULUS),
        Integer::Huge { negative, digits } => {
            let next = |rest: u128, digit: u8| rest * 10 + u128::from(digit.saturating_sub(b'0'));
            (negative, digits.bytes().fold(0, |rest, digit| next(rest, digit) % MODULUS))
        }
    };
    let hash = i64::try_from(rest).ok()?;
    Some(match (negative, hash) {
        (true, 1) => -2,
        (true, hash) => -hash,
        (false, hash) => hash,
    })
}
