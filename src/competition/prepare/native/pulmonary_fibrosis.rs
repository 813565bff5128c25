//! osic-pulmonary-fibrosis-progression: patients are parted; for each one of test every week is asked for.

use std::collections::HashMap;

use crate::csv::{Cell, Column, MixedCell};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::{Frame, View, texts};
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

const COLUMNS: [&str; 7] = ["Patient", "Weeks", "FVC", "Percent", "Age", "Sex", "SmokingStatus"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let mut patients = frame.groups("Patient")?;
    patients.sort();
    let parts = train_test_split(rows(&patients), Size::Test(0.1), 0);
    let (train, test) = (at(&patients, &parts.train), at(&patients, &parts.test));
    let joined = |groups: &[(String, Vec<u32>)]| {
        let places: Vec<u32> = groups.iter().flat_map(|(_, places)| places.iter().copied()).collect();
        frame.take(&places)
    };
    bench.write("public/train.csv", &joined(&train))?;
    bench.write("public/test.csv", &firsts(&frame, &test)?)?;
    let asked = asked(&frame, &test, &joined(&test))?;
    bench.write("private/test.csv", &asked)?;
    let sample =
        asked.keep(&["Patient_Week", "FVC", "Confidence"])?.with_same("FVC", MixedCell::Integer(2000));
    bench.write("public/sample_submission.csv", &sample)?;
    for (groups, folder) in [(&train, "train"), (&test, "test")] {
        bench.copy_each(
            groups
                .iter()
                .map(|(patient, _)| (format!("train/{patient}"), format!("public/{folder}/{patient}"))),
        )?;
    }
    Ok(())
}

fn week(view: View<'_>, row: u32) -> Result<i64, PrepareError> {
    match view.cell(row) {
        MixedCell::Integer(week) => Ok(week),
        _ => Err(PrepareError::unfit("a week is no whole number")),
    }
}

/// One row a patient: of every column the first cell by week that is not missing.
fn firsts(frame: &Frame, test: &[(String, Vec<u32>)]) -> Result<Frame, PrepareError> {
    let weeks = frame.column("Weeks")?;
    let mut ordered = Vec::new();
    for (patient, places) in test {
        let mut places = places
            .iter()
            .map(|row| Ok((week(weeks, *row)?, *row)))
            .collect::<Result<Vec<_>, PrepareError>>()?;
        places.sort_by_key(|(week, _)| *week);
        ordered.push((patient, places));
    }
    ordered.sort();
    let mut found = Frame::default();
    for name in COLUMNS {
        let view = frame.column(name)?;
        let first: Vec<MixedCell> = ordered
            .iter()
            .map(|(_, places)| {
                let mut cells = places.iter().map(|(_, row)| view.cell(*row));
                cells.find(|cell| *cell != MixedCell::Missing).unwrap_or(MixedCell::Missing)
            })
            .collect();
        found = found.with(name, like(view, &first));
    }
    Ok(found)
}

/// Cells as a column of the kind that they come from.
fn like(view: View<'_>, cells: &[MixedCell]) -> Column {
    let cells = cells.iter().map(MixedCell::as_cell);
    if !view.is_numeric() {
        return texts(cells.map(|cell| if let Cell::Text(text) = cell { Some(text) } else { None }));
    }
    let whole: Option<Vec<i64>> =
        cells.clone().map(|cell| if let Cell::Integer(value) = cell { Some(value) } else { None }).collect();
    match whole {
        Some(whole) => Column::Integer(whole),
        None => Column::Float(cells.map(|cell| cell.number().unwrap_or(f64::NAN)).collect()),
    }
}

/// Every week of the test rows for each patient, joined with what is known.
fn asked(frame: &Frame, test: &[(String, Vec<u32>)], rows: &Frame) -> Result<Frame, PrepareError> {
    let weeks = (0..rows.rows())
        .map(|row| week(rows.column("Weeks")?, row))
        .collect::<Result<Vec<_>, PrepareError>>()?;
    let (Some(first), Some(last)) = (weeks.iter().min(), weeks.iter().max()) else {
        return Err(PrepareError::unfit("no patient is test"));
    };
    let view = frame.column("Weeks")?;
    let mut places = Vec::new();
    let (mut patients, mut asked, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for (patient, known) in test {
        let mut by_week = HashMap::new();
        for row in known {
            let twice = by_week.insert(week(view, *row)?, *row).is_some();
            demand(!twice, || format!("patient {patient} has a week twice"))?;
        }
        for week in *first..=*last {
            places.push(by_week.get(&week).copied());
            patients.push(patient.as_str());
            asked.push(week);
            ids.push(format!("{patient}_{week}"));
        }
    }
    let mut found = Frame::default().with_texts("Patient", patients).with_integers("Weeks", asked);
    for name in COLUMNS.iter().skip(2) {
        let view = frame.column(name)?;
        let cells: Vec<MixedCell> =
            places.iter().map(|row| row.map_or(MixedCell::Missing, |row| view.cell(row))).collect();
        found = found.with(name, like(view, &cells));
    }
    Ok(found.with_texts("Patient_Week", ids).with_same("Confidence", MixedCell::Integer(100)))
}
