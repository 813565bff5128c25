//! Masks as run-length text: salt, glomeruli, ink and contrails, one grader each.
//!
//! All four decode both sides for the image size that the answers give and count pixels as runs, so a slide of 10⁹
//! pixels costs no more than its text. They differ in what a missing cell is, in how rows are paired, and in the
//! measure. A reason names the row and the run; it holds nothing of the true mask.

use std::cell::Cell;

use podium_metric::literal::words;
use podium_metric::{
    IOU_THRESHOLDS, Mask, RleError, RleQuirks, decode_rle_noting, dice, dice_of_counts, mask_f_beta,
    mask_iou, mean, precision_over_thresholds,
};

use crate::csv::{self, Column, Table};
use crate::grade::align::{self, Pairing};
use crate::grade::cells::{Side, Whose};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::order::same_key;
use crate::grade::reason::{count, quote, quote_all, shift};
use crate::grade::rows::Rows;

/// What a mask cell without text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// An empty mask.
    Empty,
    /// A fault.
    Refused,
}

/// A column of masks.
pub(crate) struct Masks<'a> {
    pub(crate) side: Side<'a>,
    name: &'a str,
    absent: Absent,
    passed: Cell<Passed>,
}

/// Numbers of masks in which the decoder let something pass.
#[derive(Clone, Copy, Default)]
struct Passed {
    odd: usize,
    cut: usize,
}

impl<'a> Masks<'a> {
    pub(crate) fn of_submission(table: &'a Table, key: &'a str, name: &'a str, absent: Absent) -> Self {
        let side = Side { whose: Whose::Submission, table, key: Some(key), rows: &Rows::All(0) };
        Self { side, name, absent, passed: Cell::default() }
    }

    pub(crate) fn of_answers(table: &'a Table, key: &'a str, name: &'a str, absent: Absent) -> Self {
        let side = Side { whose: Whose::Answers, table, key: Some(key), rows: &Rows::All(0) };
        Self { side, name, absent, passed: Cell::default() }
    }

    /// The text of a cell; numbers and booleans are none.
    pub(crate) fn text(&self, row: usize) -> Result<&'a str, Fault> {
        match (self.side.column(self.name)?.cell(row), self.absent) {
            (csv::Cell::Text(text), _) => Ok(text),
            (csv::Cell::Missing, Absent::Empty) => Ok(""),
            _ => Err(self.side.misfit(self.name, row, "text of run lengths, `start length start length …`")),
        }
    }

    /// The mask in a cell, for an image of so many pixels.
    pub(crate) fn mask(&self, row: usize, pixels: u64) -> Result<Mask, Fault> {
        self.decode(row, self.text(row)?, pixels)
    }

    fn decode(&self, row: usize, text: &str, pixels: u64) -> Result<Mask, Fault> {
        let decoded = decode_rle_noting(text, pixels).map_err(|error| match self.side.whose {
            Whose::Answers => Fault::answers("a mask cannot be decoded"),
            Whose::Submission => {
                let (name, row) = (quote(self.name), self.side.row_name(row));
                let found = match error {
                    RleError::NotInteger { token } => {
                        let word = words(text).nth(token.saturating_sub(1)).unwrap_or_default();
                        format!("token {token} is {}", quote(word))
                    }
                    _ => error.to_string(),
                };
                Fault::Submission(format!("column {name}, {row}: {found}, expected {}", rule(&error)))
            }
        });
        let (mask, RleQuirks { odd, cut }) = decoded?;
        let Passed { odd: odds, cut: cuts } = self.passed.get();
        self.passed.set(Passed { odd: odds + usize::from(odd), cut: cuts + usize::from(cut) });
        Ok(mask)
    }

    /// What the decoder let pass in the masks so far.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let Passed { odd, cut } = self.passed.get();
        let odd = (odd > 0).then(|| {
            format!(
                "{} with an odd count of numbers: one alone is an empty mask, two starts share one length",
                count(odd, "mask")
            )
        });
        let cut = (cut > 0).then(|| {
            format!("{} with runs beyond the image: what lies outside was left out", count(cut, "mask"))
        });
        odd.into_iter().chain(cut)
    }
}

/// What run-length text must be, for the error at hand.
const fn rule(error: &RleError) -> &'static str {
    match error {
        RleError::NotInteger { .. } => "whole numbers between blanks",
        RleError::Unpaired { .. } => "an even count",
        RleError::Unsorted { .. } => "runs in ascending order of their starts",
        RleError::NotPositive { .. } => "starts and lengths from 1",
        RleError::Overlap { .. } => "every pixel at most once",
        _ => "smaller numbers",
    }
}

/// Height and width of an image as the answers give them, in pixels.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut off, and within the range")]
pub(crate) fn image_size(answers: &Table, row: usize, names: [&str; 2]) -> Result<(u64, u64), Fault> {
    const LARGEST: f64 = 4_294_967_296.0;
    let mut sides = [0; 2];
    for (side, name) in sides.iter_mut().zip(names) {
        let number = align::truth_column(answers, name)?.cell(row).number().map(f64::trunc);
        match number.filter(|number| (0.0..LARGEST).contains(number)) {
            Some(number) => *side = number as u64,
            None => return Err(Fault::answers("the size of an image is not as expected")),
        }
    }
    Ok(sides.into())
}

/// The table has these columns and no other.
fn exactly(table: &Table, names: &[&str]) -> bool {
    table.names.len() == names.len() && names.iter().all(|name| table.names.iter().any(|other| other == name))
}

/// The submission has these columns and no other.
fn exact_columns(table: &Table, names: [&str; 2]) -> Result<(), Fault> {
    for name in names {
        align::column(table, name)?;
    }
    if exactly(table, &names) {
        return Ok(());
    }
    let extra: Vec<&str> =
        table.names.iter().map(String::as_str).filter(|name| !names.contains(name)).collect();
    let (noun, extra) = (count(extra.len(), "column"), quote_all(extra.into_iter()));
    Err(Fault::Submission(format!("{noun} too many: {extra}; expected {}", quote_all(names.into_iter()))))
}

/// A NumPy score with the remarks that every grader makes.
pub(crate) fn scored(submission: &Table, value: f64) -> Score {
    let mut score = Score::numpy(value);
    score.notes.extend(shift(submission));
    if value.is_nan() {
        score = score.note("the score is not a number: there is nothing to average");
    }
    score
}

/// [`scored`], and what was let pass in masks.
fn noted(submission: &Table, value: f64, masks: &Masks<'_>) -> Score {
    let mut score = scored(submission, value);
    score.notes.extend(masks.notes());
    score
}

/// Side of a seismic image (pixels).
const SALT_SIDE: u64 = 101;

/// TGS salt: mean over images of the precision over ten thresholds of overlap.
pub(crate) fn salt(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    exact_columns(submission, ["id", "rle_mask"])?;
    align::same_row_count(submission, answers)?;
    let guess = Masks::of_submission(submission, "id", "rle_mask", Absent::Empty);
    let truth = Masks::of_answers(answers, "id", "rle_mask", Absent::Empty);
    let ids = align::column(submission, "id")?;
    for row in 0..submission.rows {
        if !matches!(ids.cell(row), csv::Cell::Text(_) | csv::Cell::Missing) {
            return Err(guess.side.misfit("id", row, "text"));
        }
        guess.text(row)?;
    }
    let Pairing { submission: guesses, answers: truths, repeats } =
        align::sort_by_key(submission, answers, "id")?;
    let pixels = SALT_SIDE * SALT_SIDE;
    let mut scores = Vec::with_capacity(guesses.len());
    let mut shared = 0;
    for (row, true_row) in guesses.iter().zip(&truths) {
        let (guess, truth) = (guess.mask(row, pixels)?, truth.mask(true_row, pixels)?);
        scores.push(match (truth.is_empty(), guess.is_empty()) {
            (true, empty) => f64::from(u8::from(empty)),
            // A histogram of zeros alone puts all of them into its upper bin, so an empty mask counts as a full one.
            (false, true) => {
                shared += 1;
                precision_over_thresholds(truth.area() as f64 / pixels as f64, &IOU_THRESHOLDS)
            }
            (false, false) => precision_over_thresholds(mask_iou(&truth, &guess), &IOU_THRESHOLDS),
        });
    }
    let score = noted(submission, mean(&scores), &guess).noting(repeats);
    Ok(if shared == 0 {
        score
    } else {
        score.note(format!(
            "{} predicted empty where there is salt: the official grader takes the share of salt as the overlap",
            count(shared, "image")
        ))
    })
}

/// Glomeruli in kidneys: mean Dice over slides.
pub(crate) fn glomeruli(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    align::column(submission, "id")?;
    align::column(submission, "predicted")?;
    align::same_row_count(submission, answers)?;
    align::same_key_set(submission, answers, "id")?;
    let guess = Masks::of_submission(submission, "id", "predicted", Absent::Empty);
    let truth = Masks::of_answers(answers, "id", "encoding", Absent::Refused);
    let Pairing { submission: guesses, answers: truths, repeats } =
        align::sort_only(submission, answers, "id")?;
    let mut scores = Vec::with_capacity(guesses.len());
    for (row, true_row) in guesses.iter().zip(&truths) {
        let (height, width) = image_size(answers, true_row, ["height_pixels", "width_pixels"])?;
        let pixels = height * width;
        let (guess, truth) = (guess.mask(row, pixels)?, truth.mask(true_row, pixels)?);
        let both_empty = truth.is_empty() && guess.is_empty();
        scores.push(if both_empty { 1.0 } else { dice(&truth, &guess) });
    }
    Ok(noted(submission, mean(&scores), &guess).noting(repeats))
}

/// Vesuvius ink: mean F0.5 over fragments, rows paired by position.
pub(crate) fn ink(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    align::same_row_count(submission, answers)?;
    if !exactly(answers, &["Id", "Predicted", "width", "height"]) {
        return Err(Fault::answers("their columns are not as expected"));
    }
    exact_columns(submission, ["Id", "Predicted"])?;
    let guess = Masks::of_submission(submission, "Id", "Predicted", Absent::Refused);
    let truth = Masks::of_answers(answers, "Id", "Predicted", Absent::Refused);
    let (ids, true_ids) = (align::column(submission, "Id")?, align::truth_column(answers, "Id")?);
    let mut scores = Vec::with_capacity(submission.rows);
    for row in 0..submission.rows {
        if !same_key(&ids.cell(row), &true_ids.cell(row)) {
            let expected = quote(&true_ids.cell(row).to_string());
            return Err(guess.side.misfit("Id", row, &format!("{expected} (rows are paired by position)")));
        }
        let (height, width) = image_size(answers, row, ["height", "width"])?;
        let pixels = height * width;
        scores.push(mask_f_beta(&truth.mask(row, pixels)?, &guess.mask(row, pixels)?, 0.5));
    }
    Ok(noted(submission, mean(&scores), &guess))
}

/// Contrails: Dice over the pixels of all images together.
pub(crate) fn contrails(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    if !exactly(answers, &["record_id", "encoded_pixels", "height", "width"]) {
        return Err(Fault::answers("their columns are not as expected"));
    }
    align::column(submission, "record_id")?;
    align::column(submission, "encoded_pixels")?;
    align::same_row_count(submission, answers)?;
    let Pairing { submission: guesses, answers: truths, repeats } =
        align::sort_by_key(submission, answers, "record_id")?;
    let guess = Masks::of_submission(submission, "record_id", "encoded_pixels", Absent::Refused);
    let truth = Masks::of_answers(answers, "record_id", "encoded_pixels", Absent::Refused);
    let decode = |masks: &Masks<'_>, row: usize, pixels: u64| match masks.text(row)? {
        "-" => Ok(Mask::default()),
        text => masks.decode(row, text, pixels),
    };
    let mut sizes = None;
    let (mut common, mut total) = (0, 0);
    for (row, true_row) in guesses.iter().zip(&truths) {
        let size = image_size(answers, true_row, ["height", "width"])?;
        if *sizes.get_or_insert(size) != size {
            return Err(Fault::answers("the images differ in size"));
        }
        let pixels = size.0 * size.1;
        let (guess, truth) = (decode(&guess, row, pixels)?, decode(&truth, true_row, pixels)?);
        common += truth.common_area(&guess);
        total += truth.area() + guess.area();
    }
    let score = noted(submission, dice_of_counts(common, total), &guess).noting(repeats);
    Ok(if matches!(align::column(submission, "record_id")?, Column::Float(_)) {
        score.note("the ids were read as floating-point numbers, so they were compared to about 16 digits")
    } else {
        score
    })
}
