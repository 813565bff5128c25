//! siim-covid19-detection: studies are parted, and their images with them; both are asked for in one table.

use std::collections::HashSet;

use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::parts::rows_parted;
use crate::prepare::split::Size;

const CLASSES: [(&str, &str); 4] = [
    ("Negative for Pneumonia", "negative"),
    ("Typical Appearance", "typical"),
    ("Indeterminate Appearance", "indeterminate"),
    ("Atypical Appearance", "atypical"),
];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let (train, test) = rows_parted(&bench.read("train_study_level.csv")?, Size::Test(0.1), 0);
    let (train, test) = (train.sorted_by_text("id")?, test.sorted_by_text("id")?);
    bench.write("public/train_study_level.csv", &train)?;
    let images = bench.read("train_image_level.csv")?;
    let studies = images.column("StudyInstanceUID")?.texts();
    let of = |part: &Frame| -> Result<Frame, PrepareError> {
        let ids: HashSet<String> = part.column("id")?.texts().into_iter().collect();
        images
            .filter(|row| {
                studies.get(*row as usize).is_some_and(|study| ids.contains(&format!("{study}_study")))
            })
            .sorted_by_text("id")
    };
    bench.write("public/train_image_level.csv", &of(&train)?)?;
    let images = of(&test)?;
    let classes = CLASSES
        .iter()
        .map(|(column, word)| Ok((test.column(column)?.numbers().collect::<Vec<_>>(), *word)))
        .collect::<Result<Vec<_>, PrepareError>>()?;
    let labels = (0..test.rows() as usize).map(|row| {
        let mut best = (f64::NEG_INFINITY, "");
        for (cells, word) in &classes {
            let value = cells.get(row).copied().flatten().unwrap_or(f64::NEG_INFINITY);
            if value > best.0 {
                best = (value, *word);
            }
        }
        format!("{} 1 0 0 1 1", best.1)
    });
    let mut ids = test.column("id")?.texts();
    ids.extend(images.column("id")?.texts());
    let answers = labels.chain(images.column("label")?.texts());
    let frame = Frame::default().with_texts("id", &ids);
    bench.write("private/test.csv", &frame.clone().with_texts("PredictionString", answers))?;
    let none = std::iter::repeat_n("none 1 0 0 1 1", images.rows() as usize);
    let sample = std::iter::repeat_n("negative 1 0 0 1 1", test.rows() as usize).chain(none);
    bench.write("public/sample_submission.csv", &frame.with_texts("PredictionString", sample))?;
    for (part, folder) in [(&train, "train"), (&test, "test")] {
        let mut copies = Vec::new();
        for id in part.column("id")?.texts() {
            let study = id.strip_suffix("_study");
            demand(study.is_some(), || format!("`{id}` is no study"))?;
            let study = study.unwrap_or_default();
            copies.push((format!("train/{study}"), format!("public/{folder}/{study}")));
        }
        bench.copy_each(copies)?;
    }
    Ok(())
}
