//! Organs in scans of the digestive tract: Dice of masks, and the Hausdorff distance of the volumes they make.
//!
//! The official grader pairs rows by position and never looks at the class or compares an id. Volumes are made of the
//! ids that each side gives, in their sorted order, and paired by position too; those of the answers hold all rows, also
//! rows without a partner. All of that is kept, and said in a note where it took effect. Masks stay runs throughout.

use std::collections::HashMap;

use podium_metric::{Mask, Volume, dice, hausdorff, mean};

use crate::csv::{Cell, Column, Table};
use crate::grade::align;
use crate::grade::cells::Whose;
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::masks::{Absent, Masks, image_size, scored};
use crate::grade::order::same_key;
use crate::grade::reason::{count, quote};

/// What parts the name of a scan from the number of its slice.
const SLICE: &str = "_slice_";

/// UW-Madison GI tract: `0.4·Dice + 0.6·(1 − Hausdorff distance)`.
pub(crate) fn organs(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    for name in ["id", "class", "predicted"] {
        align::column(submission, name)?;
    }
    let rows = submission.rows.min(answers.rows);
    let guess = Masks::of_submission(submission, "id", "predicted", Absent::Empty);
    let truth = Masks::of_answers(answers, "id", "predicted", Absent::Empty);
    let (mut sizes, mut overlaps) = (Vec::with_capacity(answers.rows), Vec::new());
    for row in 0..answers.rows {
        let (height, width) = image_size(answers, row, ["image_height", "image_width"])?;
        sizes.push((height, width));
        let truth = truth.mask(row, height * width)?;
        if row < rows {
            overlaps.push(dice(&truth, &guess.mask(row, height * width)?));
        }
    }
    overlaps.retain(|overlap| !overlap.is_nan());
    // Before masks are decoded again.
    let passed: Vec<String> = guess.notes().collect();
    let guesses = Scans { masks: guess, rows, sizes: &sizes };
    let truths = Scans { masks: truth, rows: answers.rows, sizes: &sizes };
    let guessed = guesses.scans()?;
    let mut distances = Vec::new();
    for (truth, guess) in truths.scans()?.iter().zip(&guessed) {
        distances.push(distance(&truths.volume(truth)?, &guesses.volume(guess)?));
    }
    distances.retain(|distance| !distance.is_nan());
    let value = 0.4 * mean(&overlaps) + 0.6 * (1.0 - mean(&distances));
    let mut score = scored(submission, value);
    score.notes.extend(passed);
    score.notes.extend(pairing_note(submission, answers, rows)?);
    Ok(score)
}

/// Distance of two volumes as a share of the diagonal; NaN when both are empty.
fn distance(truth: &Volume, guess: &Volume) -> f64 {
    match (truth.voxels(), guess.voxels()) {
        (0, 0) => f64::NAN,
        (0, _) | (_, 0) => 1.0,
        (truth, guess) if guess > 10 * truth => 1.0,
        _ => {
            let (slices, height, width) = truth.shape();
            let steps = [1.0 / slices as f64, 1.0 / height as f64, 1.0 / width as f64];
            hausdorff(truth, guess, steps).map_or(f64::NAN, |distance| distance / 3.0f64.sqrt())
        }
    }
}

/// The rows of one side. Masks are decoded anew when their scan comes up, which costs less than keeping them all.
struct Scans<'a> {
    masks: Masks<'a>,
    rows: usize,
    /// Height and width of the image of each row.
    sizes: &'a [(u64, u64)],
}

/// One scan: its slices in order, each the rows that hold its masks.
#[derive(Default)]
struct Scan {
    rows: Vec<usize>,
    /// Where the rows of each slice end.
    ends: Vec<usize>,
    size: (u64, u64),
}

impl Scan {
    fn slices(&self) -> impl Iterator<Item = &[usize]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| self.rows.get(begin..*end).unwrap_or_default())
    }
}

impl<'a> Scans<'a> {
    /// Groups rows by id to slices and slices by what stands before their number to scans, in the order of the ids.
    fn scans(&self) -> Result<Vec<Scan>, Fault> {
        let mut rows: Vec<(&str, usize)> = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            rows.push((self.id(row)?, row));
        }
        // Rows of one id in their order, without the room that a stable sort takes.
        rows.sort_unstable();
        let mut scans: Vec<Scan> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for slice in rows.chunk_by(|left, right| left.0 == right.0) {
            let name = slice.first().and_then(|(id, _)| id.split(SLICE).next()).unwrap_or_default();
            let position = *known.entry(name).or_insert(scans.len());
            let sizes: Vec<(u64, u64)> =
                slice.iter().filter_map(|(_, row)| self.sizes.get(*row)).copied().collect();
            if position == scans.len() {
                let size = sizes.first().copied().unwrap_or_default();
                scans.push(Scan { size, ..Scan::default() });
            }
            let Some(scan) = scans.get_mut(position) else { continue };
            if sizes.iter().any(|size| *size != scan.size) {
                return Err(self.mixed_sizes(name));
            }
            scan.rows.extend(slice.iter().map(|(_, row)| row));
            scan.ends.push(scan.rows.len());
        }
        Ok(scans)
    }

    fn id(&self, row: usize) -> Result<&'a str, Fault> {
        let side = &self.masks.side;
        match side.column("id")?.cell(row) {
            Cell::Text(id) => Ok(id),
            _ => Err(side.misfit("id", row, "the name of a slice")),
        }
    }

    fn mixed_sizes(&self, name: &str) -> Fault {
        match self.masks.side.whose {
            Whose::Answers => Fault::answers("slices of one scan differ in size"),
            Whose::Submission => Fault::Submission(format!(
                "the slices of {} stand beside images of different sizes: rows are paired by position, expected the \
                 order of the sample submission",
                quote(name)
            )),
        }
    }

    /// The union of all classes.
    fn volume(&self, scan: &Scan) -> Result<Volume, Fault> {
        let (height, width) = scan.size;
        let mut volume = Volume::empty(height, usize::try_from(width).unwrap_or(usize::MAX));
        for rows in scan.slices() {
            let mut slice = Mask::default();
            for row in rows {
                slice = slice.union(&self.masks.mask(*row, height * width)?);
            }
            volume.push(&slice);
        }
        Ok(volume)
    }
}

/// Says that rows do not name what they are paired with.
fn pairing_note(submission: &Table, answers: &Table, rows: usize) -> Result<Option<String>, Fault> {
    let column = |name: &str| Ok((align::column(submission, name)?, align::truth_column(answers, name)?));
    let differ = |(left, right): &(&Column, &Column), row| !same_key(&left.cell(row), &right.cell(row));
    let (ids, classes) = (column("id")?, column("class")?);
    let differing = (0..rows).filter(|row| differ(&ids, *row) || differ(&classes, *row)).count();
    let left_out = submission.rows.abs_diff(answers.rows);
    if differing + left_out == 0 {
        return Ok(None);
    }
    Ok(Some(format!(
        "the official grader pairs rows by position: {} with another id or class than expected, {} without a partner",
        count(differing, "row"),
        count(left_out, "row")
    )))
}
