//! Predictions for training rows scored with the competition's own grader, over labels in the form of the answers.
//!
//! A file of predictions is first checked whole, so that its faults are told with its own row numbers; then the rows of
//! one slice, or of each fold, are cut out of it and graded alone. What an agent is told never holds a label.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use podium_types::evaluation::{Evaluation, Labels};
use podium_types::number::Number;

use crate::catalog::Competition;
use crate::csv::{CsvError, RawRow, each_row};
use crate::grade::{Outcome, grade};
use crate::holdout::Holdout;
use crate::holdout::columns::open;
use crate::holdout::error::HoldoutError;

/// Scores the file at `predictions`, whose name ends in `.csv`. Cut files are made in `scratch`.
pub(super) fn score(
    competition: &Competition,
    holdout: &Holdout,
    labels: Labels,
    predictions: &Path,
    scratch: &Path,
) -> Result<Evaluation, HoldoutError> {
    let whole = match labels {
        Labels::OutOfFold => holdout.all_folds(),
        Labels::HoldoutSearch | Labels::HoldoutFinal => holdout.all_held_out(),
    };
    if !whole.is_file() {
        return Ok(refused("no such labels were held out"));
    }
    let all = match grade(competition, predictions, &whole)?.outcome {
        Outcome::Scored { raw_score, .. } => raw_score,
        Outcome::Invalid { reason } => return Ok(Evaluation::Refused { reason }),
        Outcome::Missing { found } => return Ok(refused(&format!("no file, but {found}"))),
    };
    let slices = match labels {
        Labels::HoldoutSearch => vec![holdout.search()],
        Labels::HoldoutFinal => vec![holdout.last()],
        Labels::OutOfFold => holdout.folds(),
    };
    let mut scores = Vec::with_capacity(slices.len());
    for slice in &slices {
        match score_slice(competition, slice, predictions, scratch)? {
            Ok(score) => scores.push(Number(score)),
            Err(reason) => return Ok(Evaluation::Refused { reason }),
        }
    }
    Ok(match (labels, scores.first()) {
        (Labels::OutOfFold, _) => Evaluation::Scored { score: Number(all), folds: scores },
        (_, Some(score)) => Evaluation::Scored { score: *score, folds: Vec::new() },
        (_, None) => refused("no such labels were held out"),
    })
}

fn refused(reason: &str) -> Evaluation {
    Evaluation::Refused { reason: reason.to_owned() }
}

/// The score of the rows that `truth` has, or why there is none.
fn score_slice(
    competition: &Competition,
    truth: &Path,
    predictions: &Path,
    scratch: &Path,
) -> Result<Result<f64, String>, HoldoutError> {
    if !truth.is_file() {
        return Ok(Err("no such labels were held out".to_owned()));
    }
    let keys = keys_of(competition, truth)?;
    let cut = tempfile::Builder::new()
        .prefix("slice-")
        .suffix(".csv")
        .tempfile_in(scratch)
        .map_err(HoldoutError::write(scratch))?;
    cut_out(competition, predictions, &keys, cut.as_file())
        .map_err(|error| at(error, predictions, cut.path()))?;
    Ok(match grade(competition, cut.path(), truth)?.outcome {
        Outcome::Scored { raw_score, .. } => Ok(raw_score),
        // The whole file was accepted: its ids are right by value, but not as they are spelled.
        Outcome::Invalid { .. } | Outcome::Missing { .. } => {
            Err("the ids must be spelled as in the files of ./validation".to_owned())
        }
    })
}

fn at(error: HoldoutError, read: &Path, written: &Path) -> HoldoutError {
    match error {
        HoldoutError::Read { source, .. } => HoldoutError::Read { path: read.to_owned(), source },
        HoldoutError::Write { source, .. } => HoldoutError::Write { path: written.to_owned(), source },
        error => error,
    }
}

/// The keys of a file of labels, whose first columns they are.
fn keys_of(competition: &Competition, truth: &Path) -> Result<HashSet<Vec<u8>>, HoldoutError> {
    let width = competition.submission.id.len();
    let mut keys = HashSet::new();
    each_row::<CsvError>(open(truth)?, |number, row| {
        if number > 0 {
            keys.insert(key(row, 0..width));
        }
        Ok(())
    })
    .map_err(HoldoutError::read(truth))?;
    Ok(keys)
}

/// Copies the header of `predictions` and the rows with these keys.
fn cut_out(
    competition: &Competition,
    predictions: &Path,
    keys: &HashSet<Vec<u8>>,
    into: &std::fs::File,
) -> Result<(), HoldoutError> {
    let mut out = std::io::BufWriter::new(into);
    let mut places: Vec<usize> = Vec::new();
    each_row::<HoldoutError>(open(predictions)?, |number, row| {
        if number == 0 {
            let place = |name: &String| row.cells.iter().position(|cell| cell == name.as_bytes());
            places = competition.submission.id.iter().filter_map(place).collect();
        } else if !keys.contains(&key(row, places.iter().copied())) {
            return Ok(());
        }
        out.write_all(&row.bytes).map_err(HoldoutError::write(predictions))?;
        // The last row of a file may have no line end.
        if row.bytes.ends_with(b"\n") {
            Ok(())
        } else {
            out.write_all(b"\n").map_err(HoldoutError::write(predictions))
        }
    })?;
    out.flush().map_err(HoldoutError::write(predictions))
}

/// A key in the spelling by which it is found: whole numbers by value, all else as it stands.
fn key(row: &RawRow, places: impl Iterator<Item = usize>) -> Vec<u8> {
    let cells: Vec<Vec<u8>> = places
        .map(|place| {
            let cell = row.cell(place);
            // pandas writes whole numbers with a fraction of zero where a column has a missing cell beside them.
            cell.strip_suffix(b".0").unwrap_or(cell).to_vec()
        })
        .collect();
    cells.join(&0x1f)
}
