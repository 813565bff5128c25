//! hubmap-kidney-segmentation: three of fifteen images are test. The `.json` beside a test image shows its masks, which is a
//! known leak of the official preparation: the original keeps it, the fixed variant does not.

use std::collections::HashSet;

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::parts::rows_parted;
use crate::prepare::split::Size;

const INFORMATION: &str = "HuBMAP-20-dataset_information.csv";

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    demand(frame.rows() == 15, || format!("train.csv has {} rows, not 15", frame.rows()))?;
    let (train, test) = rows_parted(&frame, Size::Both { train: 12, test: 3 }, 0);
    let information = bench.read(INFORMATION)?;
    let ids: Vec<String> =
        information.column("image_file")?.texts().iter().map(|name| name.replace(".tiff", "")).collect();
    let known: HashSet<String> = frame.column("id")?.texts().into_iter().collect();
    let shown = information.filter(|row| ids.get(*row as usize).is_some_and(|id| known.contains(id)));
    bench.write(&format!("public/{INFORMATION}"), &shown)?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (row, id) in (0..).zip(test.column("id")?.texts()) {
        for (other, _) in (0..).zip(&ids).filter(|(_, known)| **known == id) {
            left.push(row);
            right.push(other);
        }
    }
    let sizes = information.take(&right).keep(&["width_pixels", "height_pixels"])?;
    bench.write("public/train.csv", &train)?;
    let answers = test.take(&left).beside(&sizes);
    bench.write("private/test.csv", &answers)?;
    let gold = answers.keep(&["id", "encoding"])?.rename("encoding", "predicted")?;
    bench.write("private/gold_submission.csv", &gold)?;
    let sample = gold.with_same("predicted", MixedCell::Missing);
    bench.write("public/sample_submission.csv", &sample)?;
    bench.write("public/test/sample_submission.csv", &sample)?;
    for (part, folder) in [(&train, "train"), (&test, "test")] {
        let ids = part.column("id")?.texts();
        bench.copy_each(ids.iter().flat_map(|id| {
            [".tiff", ".json", "-anatomical-structure.json"]
                .map(|end| (format!("train/{id}{end}"), format!("public/{folder}/{id}{end}")))
        }))?;
    }
    Ok(())
}
