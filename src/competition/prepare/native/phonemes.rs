//! ml2021spring-hw2: rows of arrays are parted; as large a part is test as Kaggle's own test set was.

use std::io::Write;

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::native::npy::Array;
use crate::prepare::split::{Size, train_test_split};

const FOLDER: &str = "timit_11/timit_11";

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let bytes = |name: &str| bench.bytes(&format!("{FOLDER}/{name}.npy"));
    let (train_bytes, label_bytes) = (bytes("train_11")?, bytes("train_label_11")?);
    let train = Array::read(&train_bytes, "train_11.npy")?;
    let labels = Array::read(&label_bytes, "train_label_11.npy")?;
    let rows = |array: &Array<'_>| array.shape.first().copied().unwrap_or_default();
    let hidden = {
        let bytes = bytes("test_11")?;
        rows(&Array::read(&bytes, "test_11.npy")?)
    };
    demand(rows(&train) == rows(&labels), || "there are not as many labels as rows".to_owned())?;
    demand(!train.fortran && !labels.fortran, || "the arrays lie column by column".to_owned())?;
    let count = u32::try_from(rows(&train)).map_err(|_| PrepareError::unfit("too many rows"))?;
    let share = hidden as f64 / (f64::from(count) + hidden as f64);
    let parts = train_test_split(count, Size::Test(share), 0);
    let files = [
        ("train_11", &train, &parts.train),
        ("train_label_11", &labels, &parts.train),
        ("test_11", &train, &parts.test),
    ];
    for (name, array, places) in files {
        bench.stream(&format!("public/{FOLDER}/{name}.npy"), |output| {
            output.write_all(&array.head(places.len()))?;
            places.iter().try_for_each(|place| output.write_all(array.row_at(*place as usize)))
        })?;
    }
    let known: Option<Vec<String>> = parts.test.iter().map(|place| labels.label(*place as usize)).collect();
    let known = known.ok_or_else(|| PrepareError::unfit("a label is neither a text nor a whole number"))?;
    let ids = (0..).zip(&known).map(|(id, _)| id);
    let answers = Frame::default().with_integers("Id", ids).with_texts("ClassId", known);
    bench.write("private/answers.csv", &answers)?;
    bench.write("public/sampleSubmission.csv", &answers.with_same("ClassId", MixedCell::Integer(0)))
}
