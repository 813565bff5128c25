//! google-research-identify-contrails-reduce-global-warming: records are parted; the answers are the masks as run lengths.

use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::{Json, Layout, python_json};
use crate::prepare::native::categories::label;
use crate::prepare::native::npy::Array;
use crate::prepare::parts::{at, rows};
use crate::prepare::random::PythonRandom;
use crate::prepare::split::{Size, train_test_split};

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let records = bench.json("train_metadata.json")?;
    let records = records.items();
    let hidden = rows(bench.json("validation_metadata.json")?.items());
    let parts = train_test_split(rows(records), Size::TestRows(hidden), 0);
    let (train, test) = (at(records, &parts.train), at(records, &parts.test));
    let ids = test.iter().map(|record| label(record, "record_id")).collect::<Result<Vec<_>, _>>()?;
    let (mut masks, mut heights, mut widths) = (Vec::new(), Vec::new(), Vec::new());
    for id in &ids {
        masks.push(runs(bench, id)?);
        let bytes = bench.bytes(&format!("train/{id}/band_08.npy"))?;
        let band = Array::read(&bytes, "band_08.npy")?;
        let [height, width, _] = band.shape.as_slice() else {
            return Err(PrepareError::unfit(format!("band_08 of {id} has not three sides")));
        };
        heights.push(i64::try_from(*height).unwrap_or_default());
        widths.push(i64::try_from(*width).unwrap_or_default());
    }
    let answers = Frame::default()
        .with_texts("record_id", &ids)
        .with_texts("encoded_pixels", masks)
        .with_integers("height", heights)
        .with_integers("width", widths);
    bench.write("private/answers.csv", &answers)?;
    let mut random = PythonRandom::new(0);
    let guesses: Vec<&str> =
        ids.iter().map(|_| if random.below(2) == 0 { "1 3 10 5" } else { "-" }).collect();
    bench.write("public/sample_submission.csv", &answers.with_texts("encoded_pixels", guesses))?;
    let bands: Vec<String> = (8..=16).map(|band| format!("band_{band:02}.npy")).collect();
    let masks = ["human_pixel_masks.npy".to_owned(), "human_individual_masks.npy".to_owned()];
    let mut copies = Vec::new();
    for record in &train {
        let id = label(record, "record_id")?;
        for name in bands.iter().chain(&masks) {
            copies.push((format!("train/{id}/{name}"), format!("public/train/{id}/{name}")));
        }
    }
    for id in &ids {
        for name in &bands {
            copies.push((format!("train/{id}/{name}"), format!("public/test/{id}/{name}")));
        }
    }
    bench.copy_each(copies)?;
    bench.copy("validation", "public/validation")?;
    bench.copy("validation_metadata.json", "public/validation_metadata.json")?;
    bench.write_text("public/train_metadata.json", &python_json(&Json::List(train), Layout::Line))
}

/// The mask of a record as starts and lengths of its runs of ones, counted down the columns from 1.
fn runs(bench: &Workbench<'_>, id: &str) -> Result<String, PrepareError> {
    let bytes = bench.bytes(&format!("train/{id}/human_pixel_masks.npy"))?;
    let mask = Array::read(&bytes, "human_pixel_masks.npy")?;
    let sides = mask.shape.first().copied().zip(mask.shape.get(1).copied());
    let cells = mask.integers();
    demand(sides.is_some() && cells.is_some(), || format!("the mask of {id} is none"))?;
    let ((height, width), cells) = (sides.unwrap_or_default(), cells.unwrap_or_default());
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for column in 0..width {
        for row in 0..height {
            let place = if mask.fortran { column * height + row } else { row * width + column };
            if cells.get(place) != Some(&1) {
                continue;
            }
            let pixel = column * height + row + 1;
            match runs.last_mut() {
                Some((start, length)) if *start + *length == pixel => *length += 1,
                _ => runs.push((pixel, 1)),
            }
        }
    }
    if runs.is_empty() {
        return Ok("-".to_owned());
    }
    Ok(runs.iter().map(|(start, length)| format!("{start} {length}")).collect::<Vec<_>>().join(" "))
}
