//! histopathologic-cancer-detection: as large a part is test as Kaggle's own test set was; rows stay in the file's order.

use crate::csv::{Decimals, MixedCell, ReadOptions};
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::python_text::has_end;
use crate::prepare::split::{Size, train_test_split};

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let options = ReadOptions { decimals: Decimals::Quick, ..ReadOptions::default() };
    let frame = bench.read_with("train_labels.csv", options, &[])?;
    let images = bench.names("test")?.iter().filter(|name| has_end(name, ".tif")).count() as f64;
    let share = images / (f64::from(frame.rows()) + images);
    let mut parts = train_test_split(frame.rows(), Size::Test(share), 0);
    parts.train.sort_unstable();
    parts.test.sort_unstable();
    let (train, test) = (frame.take(&parts.train), frame.take(&parts.test));
    copy(bench, &train, "train")?;
    copy(bench, &test, "test")?;
    bench.write("public/train_labels.csv", &train)?;
    bench.write("private/answers.csv", &test)?;
    bench.write("public/sample_submission.csv", &test.with_same("label", MixedCell::Integer(0)))
}

fn copy(bench: &Workbench<'_>, part: &Frame, folder: &str) -> Result<(), PrepareError> {
    let ids = part.column("id")?.texts();
    bench
        .copy_each(ids.into_iter().map(|id| (format!("train/{id}.tif"), format!("public/{folder}/{id}.tif"))))
}
