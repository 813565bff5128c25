//! dogs-vs-cats-redux-kernels-edition: images are parted by their sorted names and numbered anew.

use crate::csv::MixedCell;
use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::parts::{at, rows};
use crate::prepare::python_text::has_end;
use crate::prepare::split::{Size, train_test_split};

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    bench.unpack("train.zip", "")?;
    let images: Vec<String> =
        bench.names("train")?.into_iter().filter(|name| has_end(name, ".jpg")).collect();
    let parts = train_test_split(rows(&images), Size::Test(0.1), 0);
    let (mut cats, mut dogs) = (0, 0);
    let train = at(&images, &parts.train).into_iter().map(|name| {
        let (kind, number) = if name.contains("cat") { ("cat", &mut cats) } else { ("dog", &mut dogs) };
        let new = format!("{kind}.{number}.jpg");
        *number += 1;
        (name, new)
    });
    lay(bench, "train", train.collect())?;
    let test = at(&images, &parts.test);
    let labels: Vec<i64> = test.iter().map(|name| i64::from(name.contains("dog"))).collect();
    lay(
        bench,
        "test",
        test.into_iter().zip(1..).map(|(name, number)| (name, format!("{number}.jpg"))).collect(),
    )?;
    let answers = Frame::default().with_integers("id", (1..).zip(&labels).map(|(id, _)| id));
    bench.write("private/answers.csv", &answers.clone().with_integers("label", labels))?;
    bench.write("public/sample_submission.csv", &answers.with_same("label", MixedCell::Float(0.5)))
}

/// Copies images under new names to a folder and packs them as well.
fn lay(bench: &Workbench<'_>, folder: &str, names: Vec<(String, String)>) -> Result<(), PrepareError> {
    bench.folder(&format!("public/{folder}"))?;
    let files = names.iter().map(|(old, new)| (new.clone(), format!("train/{old}")));
    bench.pack_raw(&format!("public/{folder}.zip"), Packing::Compressed, files)?;
    bench.copy_each(
        names.into_iter().map(|(old, new)| (format!("train/{old}"), format!("public/{folder}/{new}"))),
    )
}
