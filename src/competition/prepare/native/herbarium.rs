//! herbarium-2020-fgvc7, -2021-fgvc8 and -2022-fgvc9: every species is parted on its own, test images are shuffled and
//! numbered anew, and the metadata are written without what tells the species.

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::json::{Encoding, Json, Layout, python_json};
use crate::prepare::native::categories::{Few, Pair, label, parted, unzipped};
use crate::prepare::random::PythonRandom;

pub(crate) fn run_2020(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    run_numbered(bench, "nybg2020/", Encoding::Latin1, "regions")
}

pub(crate) fn run_2021(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    run_numbered(bench, "", Encoding::Utf8, "institutions")
}

fn run_numbered(
    bench: &Workbench<'_>,
    root: &str,
    encoding: Encoding,
    places: &str,
) -> Result<(), PrepareError> {
    let mut document = bench.json_as(&format!("{root}train/metadata.json"), encoding)?;
    let mut parts = parted(&mut document, 0.2, Few::LastIsTest)?;
    PythonRandom::new(0).shuffle(&mut parts.test);
    let train: Vec<Pair> = parts.train.into_iter().flatten().collect();
    let names = train.iter().map(|pair| label(&pair.image, "file_name")).collect::<Result<Vec<_>, _>>()?;
    bench.copy_each(names.into_iter().map(|name| {
        let path = format!("{root}train/{name}");
        (path.clone(), format!("public/{path}"))
    }))?;
    let mut copies = Vec::new();
    for (number, pair) in parts.test.iter_mut().enumerate() {
        let name = format!("images/{:03}/{number}.jpg", number / 1000);
        let old = label(&pair.image, "file_name")?;
        copies.push((format!("{root}train/{old}"), format!("public/{root}test/{name}")));
        pair.image.set("id", Json::text(&number.to_string()));
        pair.image.set("file_name", Json::text(&name));
    }
    bench.copy_each(copies)?;
    answers(bench, &parts.test, 0)?;
    let mut hidden = document.clone();
    let (annotations, images) = unzipped(train);
    document.set("annotations", annotations);
    document.set("images", images);
    write(bench, &format!("public/{root}train/metadata.json"), &document)?;
    hidden.set("images", unzipped(parts.test).1);
    for key in ["annotations", "categories", places] {
        hidden.remove(key);
    }
    write(bench, &format!("public/{root}test/metadata.json"), &hidden)
}

pub(crate) fn run_2022(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut document = bench.json("train_metadata.json")?;
    let mut parts = parted(&mut document, 0.2, Few::Alike)?;
    PythonRandom::new(0).shuffle(&mut parts.test);
    let mut copies = Vec::new();
    for category in &mut parts.train {
        for (number, pair) in category.iter_mut().enumerate() {
            let species: u64 = label(&pair.annotation, "category_id")?
                .parse()
                .map_err(|_| PrepareError::unfit("a category is no number"))?;
            let id = format!("{species:05}__{:03}", number + 1);
            let name = format!("{:03}/{:02}/{id}.jpg", species / 100, species % 100);
            let old = label(&pair.image, "file_name")?;
            copies.push((format!("train_images/{old}"), format!("public/train_images/{name}")));
            pair.annotation.set("image_id", Json::text(&id));
            pair.image.set("image_id", Json::text(&id));
            pair.image.set("file_name", Json::text(&name));
        }
    }
    for (number, pair) in parts.test.iter_mut().enumerate() {
        let name = format!("{:03}/test-{number:06}.jpg", number / 1000);
        let old = label(&pair.image, "file_name")?;
        copies.push((format!("train_images/{old}"), format!("public/test_images/{name}")));
        pair.image.set("image_id", Json::text(&number.to_string()));
        pair.image.set("file_name", Json::text(&name));
    }
    bench.copy_each(copies)?;
    answers(bench, &parts.test, 42)?;
    let (annotations, images) = unzipped(parts.train.into_iter().flatten());
    document.set("annotations", annotations);
    document.set("images", images);
    write(bench, "public/train_metadata.json", &document)?;
    write(bench, "public/test_metadata.json", &unzipped(parts.test).1)
}

fn write(bench: &Workbench<'_>, path: &str, document: &Json) -> Result<(), PrepareError> {
    bench.write_text(path, &python_json(document, Layout::Sorted))
}

/// Test images by their number; `predicted` fills the sample.
fn answers(bench: &Workbench<'_>, test: &[Pair], predicted: i64) -> Result<(), PrepareError> {
    let species =
        test.iter().map(|pair| label(&pair.annotation, "category_id")).collect::<Result<Vec<_>, _>>()?;
    let ids = (0..).zip(test).map(|(number, _)| number);
    let frame = Frame::default().with_integers("Id", ids).with_texts("Predicted", species);
    bench.write("private/answers.csv", &frame)?;
    let sample = frame.with_same("Predicted", MixedCell::Integer(predicted));
    bench.write("public/sample_submission.csv", &sample)
}
