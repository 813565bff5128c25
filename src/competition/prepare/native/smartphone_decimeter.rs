//! smartphone-decimeter-2022: days are parted, and the drives with them; answers come from the ground truth of each phone.

use std::collections::BTreeSet;

use crate::csv::{Decimals, MixedCell, ReadOptions};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

const SHOWN: [&str; 4] = ["tripId", "UnixTimeMillis", "LatitudeDegrees", "LongitudeDegrees"];

/// The day of a drive, with two digits for month and day.
fn day(drive: &str) -> String {
    let parts: Vec<String> = drive.split('-').take(3).map(|part| format!("{part:0>2}")).collect();
    parts.join("-")
}

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut drives = bench.names("train")?;
    drives.retain(|name| bench.is_folder(&format!("train/{name}")));
    let days: Vec<String> =
        drives.iter().map(|drive| day(drive)).collect::<BTreeSet<_>>().into_iter().collect();
    let parts = train_test_split(rows(&days), Size::Test(0.1), 0);
    let hidden: BTreeSet<String> = at(&days, &parts.test).into_iter().collect();
    let (test, train): (Vec<String>, Vec<String>) =
        drives.into_iter().partition(|drive| hidden.contains(&day(drive)));
    bench.copy_each(train.iter().map(|drive| (format!("train/{drive}"), format!("public/train/{drive}"))))?;
    let mut tables = Vec::new();
    let mut trips = BTreeSet::new();
    for drive in &test {
        for phone in bench.names(&format!("train/{drive}"))? {
            let from = format!("train/{drive}/{phone}");
            if !bench.is_folder(&from) {
                bench.copy(&from, &format!("public/test/{drive}/{phone}"))?;
                continue;
            }
            bench.folder(&format!("public/test/{drive}/{phone}"))?;
            for name in bench.names(&from)?.iter().filter(|name| *name != "ground_truth.csv") {
                bench.copy(&format!("{from}/{name}"), &format!("public/test/{drive}/{phone}/{name}"))?;
            }
            let truth = format!("{from}/ground_truth.csv");
            if !bench.has(&truth) {
                continue;
            }
            let options = ReadOptions { decimals: Decimals::Quick, ..ReadOptions::default() };
            let trip = format!("{drive}-{phone}");
            trips.insert(trip.rsplit_once('-').map(|(drive, _)| drive.to_owned()));
            tables.push(bench.read_with(&truth, options, &[])?.with_text("tripId", &trip).keep(&SHOWN)?);
        }
    }
    demand(trips.len() == test.len(), || {
        "a phone of a test drive has a hyphen, or a drive no truth".to_owned()
    })?;
    let answers = Frame::joined(&tables)?;
    bench.write("private/test.csv", &answers)?;
    let sample = answers
        .with_same("LatitudeDegrees", MixedCell::Float(37.904_611_315_634_504))
        .with_same("LongitudeDegrees", MixedCell::Float(-86.481_078_062_495_48));
    bench.write("public/sample_submission.csv", &sample)?;
    bench.copy("metadata", "public/metadata")
}
