//! kuzushiji-recognition: pages are parted and their images packed; the gold submission has a point beside the corner of
//! each character's box.

use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::parts::rows_parted;
use crate::prepare::python_text::{python_integer, words};
use crate::prepare::split::Size;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let (train, test) = rows_parted(&bench.read("train.csv")?, Size::Test(0.1), 0);
    bench.write("public/train.csv", &train)?;
    bench.write("private/test.csv", &test)?;
    bench.unpack("train_images.zip", "images")?;
    pack(bench, &train, "public/train_images.zip")?;
    pack(bench, &test, "public/test_images.zip")?;
    bench.copy("unicode_translation.csv", "public/unicode_translation.csv")?;
    let sample = test.clone().with_text("labels", "U+003F 1 1 U+FF2F 2 2");
    bench.write("public/sample_submission.csv", &sample)?;
    let points =
        test.column("labels")?.texts().iter().map(|labels| points(labels)).collect::<Result<Vec<_>, _>>()?;
    bench.write("private/gold_submission.csv", &test.with_texts("labels", points))
}

fn pack(bench: &Workbench<'_>, part: &Frame, archive: &str) -> Result<(), PrepareError> {
    let images: Vec<_> = part
        .column("image_id")?
        .texts()
        .into_iter()
        .map(|id| (format!("{id}.jpg"), format!("images/{id}.jpg")))
        .collect();
    bench.pack_raw(archive, Packing::Compressed, images)
}

fn points(labels: &str) -> Result<String, PrepareError> {
    let words: Vec<&str> = words(labels).collect();
    let (groups, rest) = words.as_chunks::<5>();
    demand(rest.is_empty() && !groups.is_empty(), || format!("labels `{labels}` are no boxes"))?;
    let mut points = Vec::new();
    for [class, x, y, _, _] in groups {
        let number = |word: &str| {
            python_integer(word).ok_or_else(|| PrepareError::unfit(format!("`{word}` is no whole number")))
        };
        points.push(format!("{class} {} {}", number(x)? + 1, number(y)? + 1));
    }
    Ok(points.join(" "))
}
