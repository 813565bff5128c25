//! rsna-breast-cancer-detection: patients are parted; an answer belongs to one side of one patient.

use std::collections::{BTreeMap, BTreeSet};

use crate::csv::{Column, MixedCell};
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::{Frame, cell_text};
use crate::prepare::parts::groups_parted;
use crate::prepare::split::Size;

const SHOWN: [&str; 9] = [
    "site_id",
    "patient_id",
    "image_id",
    "laterality",
    "view",
    "age",
    "implant",
    "machine_id",
    "prediction_id",
];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let (train, test) = groups_parted(&frame, "patient_id", Size::Test(0.1), 42)?;
    bench.write("public/train.csv", &train)?;
    let sides = test.column("patient_id")?.texts().into_iter().zip(test.column("laterality")?.texts());
    let ids: Vec<String> = sides.map(|(patient, side)| format!("{patient}_{side}")).collect();
    bench.write("public/test.csv", &test.clone().with_texts("prediction_id", &ids).keep(&SHOWN)?)?;
    let mut found: BTreeMap<&str, MixedCell> = BTreeMap::new();
    for (id, cell) in ids.iter().zip(test.column("cancer")?.cells()) {
        let known = found.entry(id).or_insert(MixedCell::Missing);
        if *known == MixedCell::Missing {
            *known = cell;
        }
    }
    let cancer = found.values().map(|cell| match cell {
        MixedCell::Integer(_) | MixedCell::Float(_) | MixedCell::Missing => cell.clone(),
        other => MixedCell::Text(cell_text(other.as_cell()).into()),
    });
    let answers = Frame::default().with_texts("prediction_id", found.keys());
    let answers = answers.with("cancer", Column::Mixed(cancer.collect()));
    bench.write("private/answers.csv", &answers)?;
    let known: Vec<f64> = train.column("cancer")?.numbers().flatten().collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    bench.write("public/sample_submission.csv", &answers.with_same("cancer", MixedCell::Float(mean)))?;
    for (part, folder) in [(&train, "train_images"), (&test, "test_images")] {
        let images = part.column("patient_id")?.texts().into_iter().zip(part.column("image_id")?.texts());
        let images: BTreeSet<(String, String)> = images.collect();
        bench.copy_each(images.into_iter().map(|(patient, image)| {
            let path = format!("{patient}/{image}.dcm");
            (format!("train_images/{path}"), format!("public/{folder}/{path}"))
        }))?;
    }
    Ok(())
}
