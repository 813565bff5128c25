//! Boxes and points in images: characters on old pages, findings in chest X-rays, and signs of COVID-19.
//!
//! Each cell lists many predictions, so a file is parsed row by row and nothing is kept but numbers. The graders differ
//! in how a cell is cut into tokens, in what a missing cell is, and in how predictions are matched.

use std::collections::{BTreeMap, HashMap};

use podium_metric::literal::words;
use podium_metric::{
    CocoDetection, CocoOptions, CocoTruth, Corners, Counts, LabelledBox, LabelledPoint, average_precision,
    coco_mean_average_precision, harmonic_f1, match_boxes, mean, points_in_boxes,
};

use crate::csv::Table;
use crate::grade::align::{self, Known, Pairing};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::ranking::descending;
use crate::grade::native::tokens::{BadToken, Tokens, number};
use crate::grade::outcome::AnswersFault;
use crate::grade::reason::{quote, shift};

/// Kuzushiji: micro F1 of labelled points inside labelled boxes.
pub(crate) fn characters(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    align::same_row_count(submission, answers)?;
    align::column(submission, "image_id")?;
    align::column(submission, "labels")?;
    let Pairing { submission: guesses, answers: truths, repeats } =
        align::sort_by_key(submission, answers, "image_id")?;
    let guess = Tokens::of_submission(submission, "image_id", "labels", "label x y");
    let truth = Tokens::of_answers(answers, "image_id", "labels", "label left top width height");
    let mut labels: HashMap<&str, u32> = HashMap::new();
    let mut counts = Counts::default();
    for (row, true_row) in guesses.iter().zip(&truths) {
        let mut boxes = Vec::new();
        truth.groups(
            true_row,
            single_blanks(truth.text(true_row)?),
            |[label, left, top, width, height]| {
                let next = u32::try_from(labels.len()).unwrap_or(u32::MAX);
                let label = *labels.entry(label).or_insert(next);
                let place = [number(left)?, number(top)?, number(width)?, number(height)?];
                boxes.push(LabelledBox { label, place });
                Ok(())
            },
        )?;
        let mut points = Vec::new();
        guess.groups(row, single_blanks(guess.text(row)?), |[label, x, y]| {
            // A label that no page has had so far matches no box of this one.
            let label = labels.get(label).copied().unwrap_or(u32::MAX);
            points.push(LabelledPoint { label, x: number(x)?, y: number(y)? });
            Ok(())
        })?;
        counts += points_in_boxes(&boxes, &points);
    }
    let mut score = Score::python(harmonic_f1(counts)).noting(repeats);
    score.notes.extend(shift(submission));
    Ok(score)
}

/// The tokens between single blanks; none of a missing cell, empty ones at the ends and between two blanks.
fn single_blanks(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.into_iter().flat_map(|text| text.split(' '))
}

/// The corners of a true box.
const CORNERS: [&str; 4] = ["x_min", "y_min", "x_max", "y_max"];

/// Findings in chest X-rays: mean average precision at an overlap of 0.4, as `pycocotools` has it.
pub(crate) fn findings(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    let truth = true_findings(answers)?;
    align::column(submission, "PredictionString")?;
    align::column(submission, "image_id")?;
    align::same_key_set(submission, answers, "image_id")?;
    let images = Known::of(align::truth_column(answers, "image_id")?);
    let ids = align::column(submission, "image_id")?;
    let guess = Tokens::of_submission(
        submission,
        "image_id",
        "PredictionString",
        "class confidence x_min y_min x_max y_max",
    );
    let mut detections: Vec<CocoDetection> = Vec::new();
    for row in 0..submission.rows {
        let image = images.code(ids.cell(row)).unwrap_or_default();
        guess.groups(row, guess.present(row)?.split(' '), |[class, score, x_min, y_min, x_max, y_max]| {
            let class = whole(class)?;
            let corners = [number(x_min)?, number(y_min)?, number(x_max)?, number(y_max)?];
            let (score, id) = (number(score)?, detections.len() as u64);
            detections.push(CocoDetection { image, class, id, score, place: corners, area: area(corners) });
            Ok(())
        })?;
    }
    let options = CocoOptions { threshold: 0.4, areas: (0.0, 1e10), most: 100 };
    let mut score = Score::numpy(coco_mean_average_precision(&truth, &detections, options));
    score.notes.extend(shift(submission));
    Ok(score.note(
        "the official grader takes x_max and y_max for width and height, and numbers boxes from 0, so that the first \
         true and the first predicted box are treated as unmatched in places",
    ))
}

/// The true boxes, image by image in the order of first appearance, numbered from 0.
fn true_findings(answers: &Table) -> Result<Vec<CocoTruth>, Fault> {
    let image_ids = align::truth_column(answers, "image_id")?;
    let classes = align::truth_column(answers, "class_id")?;
    let mut sides = Vec::new();
    for name in CORNERS {
        sides.push(align::truth_column(answers, name)?);
    }
    let misfit = |name: &str| Fault::Answers(AnswersFault::Misfit(name.to_owned()));
    let images = Known::of(image_ids);
    let mut truth = Vec::with_capacity(answers.rows);
    for row in 0..answers.rows {
        let mut corners = [0.0; 4];
        for ((corner, side), name) in corners.iter_mut().zip(&sides).zip(CORNERS) {
            *corner = side.cell(row).number().ok_or_else(|| misfit(name))?;
        }
        truth.push(CocoTruth {
            image: images.code(image_ids.cell(row)).ok_or_else(|| misfit("image_id"))?,
            class: classes.cell(row).number().map(truncated).ok_or_else(|| misfit("class_id"))?,
            id: 0,
            place: corners,
            area: area(corners),
        });
    }
    truth.sort_by_key(|truth| truth.image);
    for (id, truth) in (0..).zip(&mut truth) {
        truth.id = id;
    }
    Ok(truth)
}

fn area([left, top, right, bottom]: Corners) -> f64 {
    (right - left) * (bottom - top)
}

/// A class as Python's `int(float(token))` reads it.
fn whole(token: &str) -> Result<i64, BadToken<'_>> {
    let value = number(token)?;
    if value.is_finite() {
        Ok(truncated(value))
    } else {
        Err(BadToken { token, expected: "a finite number" })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what lies beyond the range is no class, wherever it ends up"
)]
const fn truncated(value: f64) -> i64 {
    value as i64
}

/// One labelled box of a COVID-19 cell.
#[derive(Clone, Copy)]
struct Sign<'a> {
    label: &'a str,
    confidence: f64,
    corners: Corners,
}

/// Overlaps must exceed this.
const SIGN_OVERLAP: f64 = 0.5;

/// SIIM COVID-19: mean over classes of the average precision of boxes.
pub(crate) fn signs(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    align::same_row_count(submission, answers)?;
    align::column(submission, "id")?;
    align::column(submission, "PredictionString")?;
    let Pairing { submission: guesses, answers: truths, repeats } =
        align::sort_by_key(submission, answers, "id")?;
    let form = "label confidence xmin ymin xmax ymax";
    let guess = Tokens::of_submission(submission, "id", "PredictionString", form);
    let truth = Tokens::of_answers(answers, "id", "PredictionString", form);
    let mut true_signs = Vec::with_capacity(truths.len());
    for row in &truths {
        true_signs.push(read_signs(&truth, row)?);
    }
    let mut classes: BTreeMap<&str, (Vec<bool>, Vec<f64>)> =
        true_signs.iter().flatten().map(|sign| (sign.label, <(Vec<bool>, Vec<f64>)>::default())).collect();
    for (row, truth) in guesses.iter().zip(&true_signs) {
        let found = read_signs(&guess, row)?;
        let confidences: Vec<f64> = found.iter().map(|sign| sign.confidence).collect();
        let ranked: Vec<Sign<'_>> = descending(&confidences)
            .into_iter()
            .filter_map(|position| found.get(position))
            .copied()
            .collect();
        for (class, (hits, scores)) in &mut classes {
            let of_class = |sign: &&Sign<'_>| sign.label == *class;
            let truth: Vec<Corners> = truth.iter().filter(of_class).map(|sign| sign.corners).collect();
            let predicted: Vec<&Sign<'_>> = ranked.iter().filter(of_class).collect();
            if let Some(sign) = predicted.iter().find(|sign| !sign.confidence.is_finite()) {
                let (class, found) = (quote(class), quote(&sign.confidence.to_string()));
                return Err(guess
                    .fault(row, || format!("a confidence of {class} is {found}, expected a finite number")));
            }
            let corners: Vec<Corners> = predicted.iter().map(|sign| sign.corners).collect();
            let (matched, free) = match_boxes(&truth, &corners, SIGN_OVERLAP);
            let nothing = matched.is_empty() && free == 0;
            scores.extend(predicted.iter().map(|sign| sign.confidence));
            hits.extend(matched);
            // A missed box is a positive at confidence 0, and a row without any pair a negative there.
            scores.extend(std::iter::repeat_n(0.0, if nothing { 1 } else { free }));
            hits.extend(std::iter::repeat_n(!nothing, if nothing { 1 } else { free }));
        }
    }
    let mut precisions = Vec::with_capacity(classes.len());
    for (hits, scores) in classes.values() {
        if hits.iter().all(|hit| *hit) {
            // Which class it is would say that all its boxes are right.
            return Err(Fault::submission(
                "all pairs of truth and prediction of a class are positive: the official grader needs one that is \
                 not, such as a false box",
            ));
        }
        precisions.push(average_precision(hits, scores).map_err(|error| Fault::Answers(error.into()))?);
    }
    let mut score = Score::numpy(mean(&precisions)).noting(repeats);
    score.notes.extend(shift(submission));
    Ok(score)
}

fn read_signs<'a>(tokens: &Tokens<'a>, row: usize) -> Result<Vec<Sign<'a>>, Fault> {
    let mut signs = Vec::new();
    tokens.groups(row, words(tokens.present(row)?), |[label, confidence, x_min, y_min, x_max, y_max]| {
        let confidence = number(confidence)?;
        let corners = [number(x_min)?, number(y_min)?, number(x_max)?, number(y_max)?];
        signs.push(Sign { label, confidence, corners });
        Ok(())
    })?;
    Ok(signs)
}
