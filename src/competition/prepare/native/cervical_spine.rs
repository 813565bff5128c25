//! rsna-2022-cervical-spine-fracture-detection: a tenth is train, drawn so that studies with boxes, with segmentations and
//! with both are in it as often as in the whole.

use std::collections::{BTreeSet, HashSet};

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::{Frame, texts};
use crate::prepare::parts::{at, rows};
use crate::prepare::python_text::python_round;
use crate::prepare::random::PythonRandom;

const TYPES: [&str; 8] = ["patient_overall", "C1", "C2", "C3", "C4", "C5", "C6", "C7"];
const SHARE: f64 = 0.1;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let boxes = bench.read("train_bounding_boxes.csv")?;
    let boxed: BTreeSet<String> = boxes.column("StudyInstanceUID")?.texts().into_iter().collect();
    let segmented: BTreeSet<String> = bench
        .names("segmentations")?
        .iter()
        .filter_map(|name| name.strip_suffix(".nii").map(str::to_owned))
        .collect();
    let both: Vec<String> = boxed.intersection(&segmented).cloned().collect();
    let mut random = PythonRandom::new(0);
    let mut draw = |from: &[String], share_of: usize, less: usize| {
        let wanted =
            python_round(share_of as f64 * SHARE).saturating_sub(u32::try_from(less).unwrap_or(u32::MAX));
        at(from, &random.sample(rows(from), wanted))
    };
    let others = |all: &BTreeSet<String>| -> Vec<String> {
        all.iter().filter(|uid| both.binary_search(uid).is_err()).cloned().collect()
    };
    let overlap = draw(&both, both.len(), 0);
    let only_segmented = draw(&others(&segmented), segmented.len(), overlap.len());
    let only_boxed = draw(&others(&boxed), boxed.len(), overlap.len());
    let mut chosen: HashSet<String> =
        overlap.iter().chain(&only_segmented).chain(&only_boxed).cloned().collect();
    let uids = frame.column("StudyInstanceUID")?.texts();
    let rest: Vec<String> = uids.iter().filter(|uid| !chosen.contains(*uid)).cloned().collect();
    let drawn = draw(&rest, uids.len(), chosen.len());
    chosen.extend(drawn);
    let part = |train: bool| {
        frame.filter(|row| uids.get(*row as usize).is_some_and(|uid| chosen.contains(uid)) == train)
    };
    let (train, test) = (part(true), part(false));
    bench.write("public/train.csv", &train)?;
    let shown: HashSet<&String> = overlap.iter().chain(&only_boxed).collect();
    let of_boxes = boxes.column("StudyInstanceUID")?.texts();
    let boxes = boxes.filter(|row| of_boxes.get(*row as usize).is_some_and(|uid| shown.contains(uid)));
    bench.write("public/train_bounding_boxes.csv", &boxes)?;
    let answers = melted(&test)?;
    bench.write("private/answers.csv", &answers)?;
    bench.write("public/test.csv", &answers.without(&["fractured"])?)?;
    let sample = answers.keep(&["row_id", "fractured"])?.with_same("fractured", MixedCell::Float(0.5));
    bench.write("public/sample_submission.csv", &sample)?;
    bench.copy_each(
        overlap
            .iter()
            .chain(&only_segmented)
            .map(|uid| (format!("segmentations/{uid}.nii"), format!("public/segmentations/{uid}.nii"))),
    )?;
    for (part, folder) in [(&train, "train_images"), (&test, "test_images")] {
        let uids = part.column("StudyInstanceUID")?.texts();
        bench.copy_each(
            uids.into_iter().map(|uid| (format!("train_images/{uid}"), format!("public/{folder}/{uid}"))),
        )?;
    }
    Ok(())
}

/// One row for each study and kind, kind by kind.
fn melted(test: &Frame) -> Result<Frame, PrepareError> {
    let uids = test.column("StudyInstanceUID")?.texts();
    let mut kinds = Vec::new();
    for kind in TYPES {
        let ids = uids.iter().map(|uid| format!("{uid}_{kind}"));
        let names = std::iter::repeat_n(Some(kind), uids.len());
        let studies = Frame::default().with_texts("StudyInstanceUID", &uids);
        let fractured = test.keep(&[kind])?.rename(kind, "fractured")?;
        kinds
            .push(studies.with("prediction_type", texts(names)).beside(&fractured).with_texts("row_id", ids));
    }
    Frame::joined(&kinds)
}
