//! statoil-iceberg-classifier-challenge: records are objects of a JSON list in a 7z archive, and go back into one.

use crate::csv::MixedCell;
use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::{Json, Layout, float_of, python_json};
use crate::prepare::native::categories::{label, member};
use crate::prepare::native::pizza::shown;
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};
use crate::prepare::writer::Style;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    bench.unpack("train.json.7z", "")?;
    bench.unpack("test.json.7z", "")?;
    let records = bench.json("data/processed/train.json")?;
    let records = records.items();
    let parts = train_test_split(rows(records), Size::Test(0.2), 0);
    let (train, test) = (at(records, &parts.train), at(records, &parts.test));
    let fields = {
        let others = bench.json("data/processed/test.json")?;
        others.items().first().map(|first| first.members().to_vec()).unwrap_or_default()
    };
    demand(!fields.is_empty(), || "test.json has no record".to_owned())?;
    let shown = shown(&test, &fields)?;
    for (name, list) in [("train", Json::List(train)), ("test", Json::List(shown))] {
        bench.pack_text(
            &format!("public/{name}.json.7z"),
            &format!("{name}.json"),
            &python_json(&list, Layout::Line),
        )?;
    }
    let ids = test.iter().map(|record| label(record, "id")).collect::<Result<Vec<_>, _>>()?;
    let labels = test.iter().map(whole).collect::<Result<Vec<_>, _>>()?;
    let answers = Frame::default().with_texts("id", ids).with_integers("is_iceberg", labels);
    bench.write("private/test.csv", &answers)?;
    let sample = answers.with_same("is_iceberg", MixedCell::Float(0.5));
    bench.write("private/sample_submission.csv", &sample)?;
    let name = "sample_submission.csv";
    bench.pack_table(&format!("public/{name}.7z"), Packing::Compressed, name, &sample, Style::default())
}

/// The label as Python's `int` has it.
#[expect(clippy::cast_possible_truncation, reason = "as Python does, towards zero")]
fn whole(record: &Json) -> Result<i64, PrepareError> {
    match member(record, "is_iceberg")? {
        Json::Boolean(value) => Ok(i64::from(*value)),
        Json::Number(spelled) => match float_of(spelled) {
            Some(value) => Ok(value as i64),
            None => spelled.parse().map_err(|_| PrepareError::unfit("a label is too long")),
        },
        _ => Err(PrepareError::unfit("a label is no number")),
    }
}
