//! inaturalist-2019-fgvc6: every species is parted on its own; images come packed and go packed.

use crate::csv::MixedCell;
use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::json::{Json, Layout, python_json};
use crate::prepare::native::categories::{Few, Pair, label, parted, unzipped};
use crate::prepare::random::PythonRandom;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    if !bench.has("train_val2019") {
        bench.unpack("train_val2019.tar.gz", "")?;
    }
    let mut document = bench.json("train2019.json")?;
    let mut parts = parted(&mut document, 0.12, Few::LastIsTest)?;
    PythonRandom::new(0).shuffle(&mut parts.test);
    let train: Vec<Pair> = parts.train.into_iter().flatten().collect();
    pack(bench, &train, "public/train_val2019.tar.gz", "train_val2019/")?;
    let mut members = Vec::new();
    for pair in &mut parts.test {
        let old = label(&pair.image, "file_name")?;
        let last = old.rsplit('/').next().unwrap_or(&old).to_owned();
        members.push((last.clone(), old.clone()));
        pair.image.set("file_name", Json::text(&format!("test2019/{last}")));
    }
    bench.pack_raw("public/test2019.tar.gz", Packing::Stored, members)?;
    bench.copy("val2019.json", "public/val2019.json")?;
    let texts = |key: &str, of: fn(&Pair) -> &Json| {
        parts.test.iter().map(|pair| label(of(pair), key)).collect::<Result<Vec<_>, _>>()
    };
    let frame = Frame::default()
        .with_texts("id", texts("id", |pair| &pair.image)?)
        .with_texts("predicted", texts("category_id", |pair| &pair.annotation)?);
    bench.write("private/answers.csv", &frame)?;
    // The official one draws from a generator that it makes anew for every row.
    let drawn = i64::from(PythonRandom::new(42).randint(0, 1009));
    let sample = frame.with_same("predicted", MixedCell::Integer(drawn));
    bench.write("public/kaggle_sample_submission.csv", &sample)?;
    let mut hidden = document.clone();
    let (annotations, images) = unzipped(train);
    document.set("annotations", annotations);
    document.set("images", images);
    bench.write_text("public/train2019.json", &python_json(&document, Layout::Sorted))?;
    hidden.set("images", unzipped(parts.test).1);
    hidden.remove("annotations");
    hidden.remove("categories");
    bench.write_text("public/test2019.json", &python_json(&hidden, Layout::Sorted))
}

/// Packs images by their names below a folder.
fn pack(bench: &Workbench<'_>, pairs: &[Pair], archive: &str, root: &str) -> Result<(), PrepareError> {
    let mut members = Vec::new();
    for pair in pairs {
        let name = label(&pair.image, "file_name")?;
        let below = name.strip_prefix(root).unwrap_or(&name).to_owned();
        members.push((below, name));
    }
    bench.pack_raw(archive, Packing::Stored, members)
}
