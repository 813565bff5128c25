//! iwildcam-2019-fgvc6: whole camera locations are parted. The sample submission bears the row numbers of the raw table,
//! as the official one does.

use std::collections::BTreeSet;

use crate::csv::MixedCell;
use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::parts::groups_parted;
use crate::prepare::split::Size;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let rows = 0..i64::from(frame.rows());
    let (train, test) = groups_parted(&frame.with_integers("", rows), "location", Size::Test(0.1), 8)?;
    bench.write("public/train.csv", &train.without(&[""])?)?;
    bench.write("private/test.csv", &test.without(&[""])?)?;
    bench.write("public/test.csv", &test.without(&["", "category_id"])?)?;
    let answers =
        test.keep(&["", "id", "category_id"])?.rename("id", "Id")?.rename("category_id", "Category")?;
    bench.write("private/answers.csv", &answers.without(&[""])?)?;
    bench.write("public/sample_submission.csv", &answers.with_same("Category", MixedCell::Integer(0)))?;
    bench.unpack("train_images.zip", "images")?;
    pack(bench, &train, "public/train_images.zip")?;
    pack(bench, &test, "public/test_images.zip")
}

fn pack(bench: &Workbench<'_>, part: &Frame, archive: &str) -> Result<(), PrepareError> {
    let ids: BTreeSet<String> = part.column("id")?.texts().into_iter().collect();
    let images: Vec<_> =
        ids.into_iter().map(|id| (format!("{id}.jpg"), format!("images/{id}.jpg"))).collect();
    bench.pack_raw(archive, Packing::Compressed, images)
}
