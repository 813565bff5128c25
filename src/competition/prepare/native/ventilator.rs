//! ventilator-pressure-prediction: whole breaths are parted; rows are counted anew and doubles written with ten digits.

use crate::csv::MixedCell;
use crate::csv::{Cell, Column, ReadOptions, float64, is_missing};
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::number_text::FloatStyle;
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};
use crate::prepare::writer::Style;

const DOUBLES: [&str; 3] = ["time_step", "u_in", "pressure"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let as_text = DOUBLES.iter().map(|name| (*name).to_owned()).collect();
    let mut frame = bench.read_with("train.csv", ReadOptions { as_text, ..ReadOptions::default() }, &[])?;
    for name in DOUBLES {
        let (view, mut scratch) = (frame.column(name)?, String::new());
        let values = (0..frame.rows()).map(|row| double(view.cell_in(row, &mut scratch)));
        let values = values.collect::<Result<Vec<f64>, _>>()?;
        frame = frame.with(name, Column::Float(values));
    }
    let mut breaths = frame
        .groups("breath_id")?
        .into_iter()
        .map(|(id, places)| Ok((id.parse::<i64>().map_err(|_| no_breath(&id))?, places)))
        .collect::<Result<Vec<_>, PrepareError>>()?;
    breaths.sort();
    let parts = train_test_split(rows(&breaths), Size::Test(0.1), 0);
    let joined = |groups: &[u32]| -> Frame {
        let places: Vec<u32> = at(&breaths, groups).into_iter().flat_map(|(_, places)| places).collect();
        frame.take(&places).with_integers("id", 1..=i64::try_from(places.len()).unwrap_or(i64::MAX))
    };
    let (train, test) = (joined(&parts.train), joined(&parts.test));
    let style = Style { floats: FloatStyle::General, ..Style::default() };
    bench.write_styled("public/train.csv", &train, style)?;
    bench.write_styled("private/test.csv", &test, style)?;
    bench.write_styled("public/test.csv", &test.without(&["pressure"])?, style)?;
    let sample = test.keep(&["id"])?.with_same("pressure", MixedCell::Integer(0));
    bench.write_styled("public/sample_submission.csv", &sample, style)
}

fn no_breath(id: &str) -> PrepareError {
    PrepareError::unfit(format!("`{id}` is no number of a breath"))
}

fn double(cell: Cell<'_>) -> Result<f64, PrepareError> {
    match cell {
        Cell::Text(text) if is_missing(text.as_bytes()) => Ok(f64::NAN),
        Cell::Text(text) => {
            float64(text.as_bytes()).ok_or_else(|| PrepareError::unfit(format!("`{text}` is no number")))
        }
        _ => Ok(f64::NAN),
    }
}
