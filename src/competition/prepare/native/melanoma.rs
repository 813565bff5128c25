//! siim-isic-melanoma-classification: the images of two record files are test.

use std::collections::HashSet;

use crate::csv::{Decimals, MixedCell, ReadOptions};
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::native::records::image_names;
use crate::prepare::python_text::has_end;

const TEST: [&str; 2] = ["train00-2071.tfrec", "train06-2071.tfrec"];
const SHOWN: [&str; 5] = ["image_name", "patient_id", "sex", "age_approx", "anatom_site_general_challenge"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let options = ReadOptions { decimals: Decimals::Quick, ..ReadOptions::default() };
    let frame = bench.read_with("train.csv", options, &[])?;
    let mut hidden = HashSet::new();
    for file in TEST {
        hidden.extend(image_names(&bench.find(&format!("tfrecords/{file}"))?)?);
    }
    let names = frame.column("image_name")?.texts();
    let part = |test: bool| {
        frame.filter(|row| names.get(*row as usize).is_some_and(|name| hidden.contains(name)) == test)
    };
    let (train, test) = (part(false), part(true));
    bench.write("public/train.csv", &train)?;
    bench.write("public/test.csv", &test.keep(&SHOWN)?)?;
    let answers = test.keep(&["image_name", "target"])?;
    bench.write("private/test.csv", &answers)?;
    bench.write("public/sample_submission.csv", &answers.with_same("target", MixedCell::Integer(0)))?;
    for (part, folder) in [(&train, "train"), (&test, "test")] {
        let names = part.column("image_name")?.texts();
        bench.copy_each(names.iter().flat_map(|name| {
            [
                (format!("train/{name}.dcm"), format!("public/{folder}/{name}.dcm")),
                (format!("jpeg/train/{name}.jpg"), format!("public/jpeg/{folder}/{name}.jpg")),
            ]
        }))?;
    }
    let files = bench.names("tfrecords")?;
    let files = files.iter().filter(|name| name.starts_with("train") && has_end(name, ".tfrec"));
    let (mut trains, mut tests) = (0, 0);
    bench.copy_each(files.map(|file| {
        let count = file.rsplit_once('-').map_or(file.as_str(), |(_, count)| count);
        let (kind, number) =
            if TEST.contains(&file.as_str()) { ("test", &mut tests) } else { ("train", &mut trains) };
        let name = format!("{kind}{number:02}-{count}");
        *number += 1;
        (format!("tfrecords/{file}"), format!("public/tfrecords/{name}"))
    }))
}
