//! stanford-covid-vaccine: a tenth of the sequences, all of good quality, is test; every position of one is asked for.

use std::collections::HashSet;

use crate::csv::{Column, MixedCell};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::{Json, pandas_line, pandas_number, parse};
use crate::prepare::native::categories::{label, member};
use crate::prepare::number_text::FloatStyle;
use crate::prepare::parts::{at, rows};
use crate::prepare::split::sample;
use crate::prepare::writer::Style;

const VALUES: [&str; 5] = ["reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let records = records(bench, "train.json")?;
    let good = records
        .iter()
        .zip(0u32..)
        .filter(|(record, _)| number(record, "SN_filter").is_ok_and(|value| value > 0.0))
        .map(|(_, place)| place)
        .collect::<Vec<_>>();
    let count = rows(&records) / 10;
    let hidden: HashSet<u32> = at(&good, &sample(rows(&good), count, 0)).into_iter().collect();
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (place, record) in (0..).zip(records) {
        let part = if hidden.contains(&place) { &mut test } else { &mut train };
        part.push(record);
    }
    for part in [&mut train, &mut test] {
        for (place, record) in part.iter_mut().enumerate() {
            if record.get("index").is_some() {
                record.set("index", Json::integer(place));
            }
        }
    }
    let answers = answers(&test)?;
    let style = Style { floats: FloatStyle::Fixed, ..Style::default() };
    bench.write_styled("private/test.csv", &answers, style)?;
    let sample = VALUES
        .iter()
        .fold(answers.keep(&["id_seqpos"])?, |frame, name| frame.with_same(name, MixedCell::Float(0.0)));
    bench.write_styled("public/sample_submission.csv", &sample, style)?;
    let columns = self::records(bench, "test.json")?;
    let columns = columns.first().map(Json::members).unwrap_or_default();
    let shown = crate::prepare::native::pizza::shown(&test, columns)?;
    for (name, list) in [("train", &train), ("test", &shown)] {
        let mut text = String::new();
        for record in list {
            text.push_str(&pandas_line(record));
            text.push('\n');
        }
        bench.write_text(&format!("public/{name}.json"), &text)?;
    }
    Ok(())
}

/// The records of a file of JSON lines. Columns of doubles that are all whole become whole numbers, as pandas has it.
fn records(bench: &Workbench<'_>, file: &str) -> Result<Vec<Json>, PrepareError> {
    let text = bench.bytes(file)?;
    let mut records = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let record = parse(line).map_err(|source| PrepareError::Json { file: file.to_owned(), source })?;
        records.push(record);
    }
    let keys: Vec<String> = records
        .first()
        .map(|first| {
            first.members().iter().map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect()
        })
        .unwrap_or_default();
    for key in keys {
        let mut doubles = 0;
        let values: Option<Vec<f64>> = records
            .iter()
            .map(|record| match record.get(&key) {
                Some(Json::Number(spelled)) => {
                    let double = pandas_number(spelled);
                    doubles += u32::from(double.is_some());
                    double.or_else(|| spelled.parse().ok())
                }
                _ => None,
            })
            .collect();
        let Some(values) = values.filter(|_| doubles > 0) else { continue };
        let whole = values.iter().all(|value| value.fract() == 0.0 && value.abs() < 1e15);
        for (record, value) in records.iter_mut().zip(values) {
            // A whole number among doubles is a double.
            let spelled = if whole { format!("{value:.0}") } else { format!("{value:?}") };
            let known = record
                .get(&key)
                .is_some_and(|known| matches!(known, Json::Number(text) if pandas_number(text).is_some()));
            if whole || !known {
                record.set(&key, Json::Number(spelled.into()));
            }
        }
    }
    Ok(records)
}

fn number(record: &Json, key: &str) -> Result<f64, PrepareError> {
    let found = if let Json::Number(spelled) = member(record, key)? {
        pandas_number(spelled).or_else(|| spelled.parse().ok())
    } else {
        None
    };
    found.ok_or_else(|| PrepareError::unfit(format!("`{key}` is no number")))
}

fn answers(test: &[Json]) -> Result<Frame, PrepareError> {
    let mut ids = Vec::new();
    let mut keep = Vec::new();
    let mut values: [Vec<f64>; 5] = Default::default();
    let whole = |record: &Json, key: &str| {
        label(record, key)?.parse::<usize>().map_err(|_| PrepareError::unfit(format!("`{key}` is no length")))
    };
    let length = test.first().map(|first| whole(first, "seq_length")).transpose()?;
    for record in test {
        let (scored, positions) = (whole(record, "seq_scored")?, whole(record, "seq_length")?);
        demand(scored < positions && Some(positions) == length, || {
            "lengths of sequences do not fit".to_owned()
        })?;
        let id = label(record, "id")?;
        ids.extend((0..positions).map(|position| format!("{id}_{position}")));
        keep.extend((0..positions).map(|position| position < scored));
        for (cells, name) in values.iter_mut().zip(VALUES) {
            let list = member(record, name)?.items();
            demand(list.len() == scored, || format!("`{name}` of {id} has not {scored} values"))?;
            for item in list {
                let value = if let Json::Number(spelled) = item {
                    pandas_number(spelled).or_else(|| spelled.parse().ok())
                } else {
                    None
                };
                cells.push(value.unwrap_or(f64::NAN));
            }
            cells.resize(ids.len(), 0.0);
        }
    }
    let mut frame = Frame::default().with_texts("id_seqpos", ids);
    for (name, cells) in VALUES.iter().zip(values) {
        frame = frame.with(name, Column::Float(cells));
    }
    Ok(frame.with("keep", Column::Boolean(keep)))
}
