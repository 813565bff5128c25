//! google-quest-challenge: a plain split, but for one row: where a question type occurs nowhere in test, the first row of
//! test changes places with the first row of train that has it.

use std::collections::HashSet;

use crate::csv::Column;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::split::{Size, train_test_split};

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let mut parts = train_test_split(frame.rows(), Size::Test(0.1), 0);
    let spelling: Vec<f64> =
        frame.column("question_type_spelling")?.numbers().map(|number| number.unwrap_or(f64::NAN)).collect();
    let value = |row: &u32| spelling.get(*row as usize).copied().unwrap_or_default();
    let distinct: HashSet<u64> = parts.test.iter().map(|row| value(row).to_bits()).collect();
    if distinct.len() == 1
        && let Some(train) = parts.train.iter_mut().find(|row| value(row) != 0.0)
        && let Some(test) = parts.test.first_mut()
    {
        std::mem::swap(train, test);
    }
    let (train, test) = (frame.take(&parts.train), frame.take(&parts.test));
    let mut targets = vec!["qa_id".to_owned()];
    targets.extend_from_slice(bench.predicted);
    bench.write("private/test.csv", &test.keep(&targets)?)?;
    bench.write("public/train.csv", &train)?;
    bench.write("public/test.csv", &test.without(bench.predicted)?)?;
    let mut sample = test.keep(&["qa_id"])?;
    for name in bench.predicted {
        sample = sample.with(name, Column::Float(line(test.rows())));
    }
    bench.write("public/sample_submission.csv", &sample)
}

/// numpy's `linspace(0, 1, count)`.
fn line(count: u32) -> Vec<f64> {
    let step = 1.0 / f64::from(count.saturating_sub(1));
    (0..count)
        .map(|place| match place {
            0 => 0.0,
            _ if place + 1 == count => 1.0,
            _ => f64::from(place) * step,
        })
        .collect()
}
