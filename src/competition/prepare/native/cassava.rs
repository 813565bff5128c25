//! cassava-leaf-disease-classification: record files are parted, and the images with the records they are in.

use std::collections::HashSet;

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::native::records::image_names;
use crate::prepare::parts::{at, rows};
use crate::prepare::python_text::has_end;
use crate::prepare::split::{Size, train_test_split};

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut files = bench.names("train_tfrecords")?;
    files.retain(|name| has_end(name, ".tfrec"));
    let parts = train_test_split(rows(&files), Size::Test(0.1), 0);
    let (train_files, test_files) = (at(&files, &parts.train), at(&files, &parts.test));
    let mut hidden = HashSet::new();
    for file in &test_files {
        hidden.extend(image_names(&bench.find(&format!("train_tfrecords/{file}"))?)?);
    }
    let frame = bench.read("train.csv")?;
    let ids = frame.column("image_id")?.texts();
    let part =
        |test: bool| frame.filter(|row| ids.get(*row as usize).is_some_and(|id| hidden.contains(id)) == test);
    let (train, test) = (part(false), part(true));
    bench.write("public/train.csv", &train)?;
    bench.write("private/test.csv", &test)?;
    bench.write("public/sample_submission.csv", &test.clone().with_same("label", MixedCell::Integer(4)))?;
    for (files, kind) in [(&train_files, "train"), (&test_files, "test")] {
        bench.copy_each(files.iter().enumerate().map(|(number, file)| {
            let stem = file.strip_suffix(".tfrec").unwrap_or(file);
            let count = stem.split('-').nth(1).unwrap_or_default();
            let name = format!("ld_{kind}{number:02}-{count}.tfrec");
            (format!("train_tfrecords/{file}"), format!("public/{kind}_tfrecords/{name}"))
        }))?;
    }
    for (part, folder) in [(&train, "train_images"), (&test, "test_images")] {
        let ids = part.column("image_id")?.texts();
        bench.copy_each(
            ids.into_iter().map(|id| (format!("train_images/{id}"), format!("public/{folder}/{id}"))),
        )?;
    }
    bench.copy("label_num_to_disease_map.json", "public/label_num_to_disease_map.json")
}
