//! freesound-audio-tagging-2019: the download is public as it is; the answers are in an archive that was published after
//! the competition (`FSDKaggle2019.meta.zip`) and that the user lays beside the download.

use std::collections::HashSet;

use crate::csv::{Column, Decimals, ReadOptions};
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;

const META: &str = "FSDKaggle2019.meta";

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    for name in bench.top()?.iter().filter(|name| !name.contains(META)) {
        bench.copy(name, &format!("public/{name}"))?;
    }
    if !bench.has(&format!("{META}/test_post_competition.csv")) {
        let places = ["", "external/", "../external/"].map(|place| format!("{place}{META}.zip"));
        let archive = places.iter().find(|place| bench.has(place));
        let archive = archive.ok_or_else(|| PrepareError::NoRaw { file: format!("{META}.zip") })?;
        bench.unpack(archive, "")?;
    }
    let options = ReadOptions { decimals: Decimals::Quick, ..ReadOptions::default() };
    let clips = bench.read_with(&format!("{META}/test_post_competition.csv"), options, &[])?;
    let usage = clips.column("usage")?.texts();
    let clips = clips.filter(|row| usage.get(*row as usize).is_some_and(|usage| usage == "Private"));
    let labels = clips.column("labels")?.texts();
    let labels: Vec<HashSet<&str>> = labels.iter().map(|labels| labels.split(',').collect()).collect();
    let mut answers = clips.keep(&["fname"])?;
    for class in bench.predicted {
        let cells = labels.iter().map(|labels| i64::from(labels.contains(class.as_str())));
        answers = answers.with(class, Column::Integer(cells.collect()));
    }
    bench.write("private/test.csv", &answers)
}
