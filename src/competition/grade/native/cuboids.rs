//! Upright boxes around road users, seen by a car: mean average precision over ten overlaps.
//!
//! Overlaps of a prediction with the true boxes of its class are computed once and serve all ten thresholds. Boxes are
//! checked as the official grader checks them: only where the class of a prediction occurs in the truth of its sample.

use std::collections::BTreeSet;

use podium_metric::literal::is_blank;
use podium_metric::{Cuboid, CuboidError, envelope_average_precision, mean};

use crate::grade::align::{self, Pairing};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::masks::scored;
use crate::grade::native::ranking::descending;
use crate::grade::native::tokens::{BadToken, Tokens, number};

/// Overlaps must exceed these.
const THRESHOLDS: [f64; 10] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// What a group of nine tokens is.
const FORM: &str = "confidence center_x center_y center_z width length height yaw class";

/// A box as a cell spells it.
struct Reading<'a> {
    class: &'a str,
    confidence: f64,
    center: [f64; 3],
    size: [f64; 3],
    yaw: f64,
}

impl Reading<'_> {
    fn cuboid(&self) -> Result<Cuboid, CuboidError> {
        Cuboid::new(self.center, self.size, self.yaw)
    }
}

/// Lyft 3-D objects: mean over samples and thresholds of the mean average precision over the classes of a sample.
pub(crate) fn road_users(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    align::same_row_count(submission, answers)?;
    align::column(submission, "Id")?;
    align::column(submission, "PredictionString")?;
    let Pairing { submission: guesses, answers: truths, repeats } =
        align::sort_by_key(submission, answers, "Id")?;
    let guess = Tokens::of_submission(submission, "Id", "PredictionString", FORM);
    let truth = Tokens::of_answers(answers, "Id", "PredictionString", FORM);
    let mut scores = Vec::with_capacity(guesses.len() * THRESHOLDS.len());
    for (row, true_row) in guesses.iter().zip(&truths) {
        let true_boxes = read(&truth, true_row, truth.present(true_row)?)?;
        let boxes = read(&guess, row, guess.text(row)?.unwrap_or_default())?;
        let sample = Sample { truth: &true_boxes, guess: &boxes };
        scores.extend(sample.scores().map_err(|fault| match fault {
            BadBox::True => Fault::answers("a true box is none"),
            BadBox::Predicted(error) => first_bad_box(&guess).unwrap_or(Fault::Submission(error.to_string())),
        })?);
    }
    Ok(scored(submission, mean(&scores)).noting(repeats))
}

/// The first box of the file that is none. Only boxes of a class that a sample's truth holds are checked, so to name the
/// one that was would give a class of the truth away.
fn first_bad_box(guess: &Tokens<'_>) -> Option<Fault> {
    (0..guess.side.table.rows).find_map(|row| {
        let boxes = read(guess, row, guess.text(row).ok()?.unwrap_or_default()).ok()?;
        boxes.iter().enumerate().find_map(|(position, reading)| {
            let error = reading.cuboid().err()?;
            Some(guess.fault(row, || format!("box {}: {error}, expected `{FORM}`", position + 1)))
        })
    })
}

/// The boxes of a cell. Text of blanks is none, other text is cut at every single blank.
fn read<'a>(tokens: &Tokens<'a>, row: usize, text: &'a str) -> Result<Vec<Reading<'a>>, Fault> {
    let mut readings = Vec::new();
    let listed = !text.chars().all(is_blank);
    let groups = listed.then_some(text).into_iter().flat_map(|text| text.split(' '));
    tokens.groups(row, groups, |[confidence, x, y, z, width, length, height, yaw, class]| {
        let turn = number(yaw)?;
        if turn.is_infinite() {
            return Err(BadToken { token: yaw, expected: "a finite angle" });
        }
        readings.push(Reading {
            class,
            confidence: number(confidence)?,
            center: [number(x)?, number(y)?, number(z)?],
            size: [number(width)?, number(length)?, number(height)?],
            yaw: turn,
        });
        Ok(())
    })?;
    Ok(readings)
}

/// Numbers that make no box.
enum BadBox {
    True,
    Predicted(CuboidError),
}

/// Both sides of one sample.
struct Sample<'a> {
    truth: &'a [Reading<'a>],
    guess: &'a [Reading<'a>],
}

impl<'a> Sample<'a> {
    /// Per threshold the mean over the classes of the truth; NaN without any.
    fn scores(&self) -> Result<Vec<f64>, BadBox> {
        let classes: BTreeSet<&str> = self.truth.iter().map(|reading| reading.class).collect();
        let mut precisions: Vec<Vec<f64>> = vec![Vec::with_capacity(classes.len()); THRESHOLDS.len()];
        for class in classes {
            for (all, precision) in precisions.iter_mut().zip(self.class(class)?) {
                all.push(precision);
            }
        }
        Ok(precisions.iter().map(|precisions| mean(precisions)).collect())
    }

    /// Average precision of one class per threshold.
    fn class(&self, class: &str) -> Result<Vec<f64>, BadBox> {
        let truth: Result<Vec<Cuboid>, BadBox> = self
            .truth
            .iter()
            .filter(|reading| reading.class == class)
            .map(|reading| reading.cuboid().map_err(|_| BadBox::True))
            .collect();
        let truth = truth?;
        let readings: Vec<&Reading<'a>> =
            self.guess.iter().filter(|reading| reading.class == class).collect();
        let confidences: Vec<f64> = readings.iter().map(|reading| reading.confidence).collect();
        let mut best = Vec::with_capacity(readings.len());
        for reading in descending(&confidences).into_iter().filter_map(|position| readings.get(position)) {
            let cuboid = reading.cuboid().map_err(BadBox::Predicted)?;
            best.push(best_match(&truth, &cuboid));
        }
        let precision = |threshold: &f64| {
            let mut taken = vec![false; truth.len()];
            let hit = |(position, overlap): &(usize, f64)| {
                *overlap > *threshold
                    && taken.get_mut(*position).is_some_and(|taken| !std::mem::replace(taken, true))
            };
            let hits: Vec<bool> = best.iter().map(hit).collect();
            envelope_average_precision(&hits, truth.len())
        };
        Ok(THRESHOLDS.iter().map(precision).collect())
    }
}

/// The true box that a prediction overlaps most, the first of equals.
fn best_match(truth: &[Cuboid], cuboid: &Cuboid) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (position, truth) in truth.iter().enumerate() {
        let overlap = cuboid.iou(truth);
        if overlap > best.1 {
            best = (position, overlap);
        }
    }
    best
}
