//! icecube-neutrinos-in-deep-ice: batches of events are parted; the tables are parquet and are read group by group.

use std::collections::HashSet;

use crate::csv::{Column, MixedCell};
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::{Frame, texts};
use crate::prepare::number_text::shortest32;
use crate::prepare::parquet::{Kind, Reader, Values, Writer};
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

const META: &str = "train_meta.parquet";
const ANGLES: [&str; 2] = ["azimuth", "zenith"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut reader = Reader::open(&bench.find(META)?)?;
    let columns = reader.columns.clone();
    let place = |name: &str| {
        let place = columns.iter().position(|(known, _)| known == name);
        place.ok_or_else(|| PrepareError::unfit(format!("{META} has no column `{name}`")))
    };
    let (batch, event) = (place("batch_id")?, place("event_id")?);
    let angles = [place("azimuth")?, place("zenith")?];
    let (mut batches, mut known) = (Vec::new(), HashSet::new());
    for group in 0..reader.groups() {
        let column = reader.column(group, batch)?;
        let ids = (0..column.bits.len()).filter_map(|row| column.integer(row));
        batches.extend(ids.filter(|id| known.insert(*id)));
    }
    let parts = train_test_split(rows(&batches), Size::Test(0.1), 0);
    let hidden: HashSet<i64> = at(&batches, &parts.test).into_iter().collect();
    let shown: Vec<usize> = (0..columns.len()).filter(|place| !angles.contains(place)).collect();
    let of_test = shown.iter().filter_map(|place| columns.get(*place)).cloned().collect();
    let mut train = Writer::create(&bench.place("public/train_meta.parquet")?, columns.clone())?;
    let mut test = Writer::create(&bench.place("public/test_meta.parquet")?, of_test)?;
    let (mut events, mut truth) = (Vec::new(), [Angle::default(), Angle::default()]);
    for group in 0..reader.groups() {
        let values =
            (0..columns.len()).map(|place| reader.column(group, place)).collect::<Result<Vec<_>, _>>()?;
        let Some(ids) = values.get(batch) else { continue };
        let count = u32::try_from(ids.bits.len()).unwrap_or(u32::MAX);
        let is_test = |row: &u32| ids.integer(*row as usize).is_some_and(|id| hidden.contains(&id));
        let (tests, trains): (Vec<u32>, Vec<u32>) = (0..count).partition(is_test);
        let part = |rows: &[u32], places: &[usize]| -> Vec<Values> {
            places.iter().filter_map(|place| values.get(*place)).map(|column| column.take(rows)).collect()
        };
        train.group(&part(&trains, &(0..columns.len()).collect::<Vec<_>>()))?;
        test.group(&part(&tests, &shown))?;
        for column in part(&tests, &[event]) {
            events.extend((0..column.bits.len()).map(|row| column.integer(row).unwrap_or_default()));
        }
        for (angle, column) in truth.iter_mut().zip(part(&tests, &angles)) {
            angle.extend(&column);
        }
    }
    train.finish()?;
    test.finish()?;
    let ids = Frame::default().with_integers("event_id", events);
    let mut answers = ids.clone();
    for (name, angle) in ANGLES.iter().zip(truth) {
        answers = answers.with(name, angle.column());
    }
    bench.write("private/test.csv", &answers)?;
    let one = || MixedCell::Integer(1);
    bench
        .write("public/sample_submission.csv", &ids.with_same("azimuth", one()).with_same("zenith", one()))?;
    bench.copy("sensor_geometry.csv", "public/sensor_geometry.csv")?;
    let mut copies = Vec::new();
    for name in bench.names("train")? {
        let Some(stem) = name.strip_suffix(".parquet") else { continue };
        let id = stem.rsplit('_').next().and_then(|number| number.parse::<i64>().ok());
        let id = id.ok_or_else(|| PrepareError::unfit(format!("train/{name} names no batch")))?;
        let folder = if hidden.contains(&id) { "test" } else { "train" };
        copies.push((format!("train/{name}"), format!("public/{folder}/{name}")));
    }
    bench.copy_each(copies)
}

/// An angle of the test events: doubles, or 32-bit floats, which have a text of their own.
#[derive(Default)]
struct Angle {
    doubles: Vec<f64>,
    singles: Vec<Option<f32>>,
}

impl Angle {
    fn extend(&mut self, column: &Values) {
        for (row, bits) in column.bits.iter().enumerate() {
            let known = column.is_known(row);
            if column.kind == Kind::Float {
                let value = f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or_default());
                self.singles.push(Some(value).filter(|value| known && !value.is_nan()));
            } else {
                self.doubles.push(if known { f64::from_bits(*bits) } else { f64::NAN });
            }
        }
    }

    fn column(self) -> Column {
        if self.singles.is_empty() {
            return Column::Float(self.doubles);
        }
        texts(self.singles.into_iter().map(|value| value.map(shortest32)))
    }
}
