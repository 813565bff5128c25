//! uw-madison-gi-tract-image-segmentation: cases are parted, and of a train case with more than four days the later ones
//! are test too.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::csv::{Column, MixedCell};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::parts::{at, rows};
use crate::prepare::python_text::has_end;
use crate::prepare::split::{Size, train_test_split};

/// Days of a train case that stay.
const DAYS: usize = 4;

struct Scan {
    case: String,
    day: String,
    slice: String,
}

fn scan(id: &str) -> Result<Scan, PrepareError> {
    let parts: Vec<&str> = id.split('_').collect();
    match parts.as_slice() {
        [case, day, .., slice] => {
            Ok(Scan { case: (*case).to_owned(), day: (*day).to_owned(), slice: (*slice).to_owned() })
        }
        _ => Err(PrepareError::unfit(format!("`{id}` is no scan"))),
    }
}

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let scans = frame.column("id")?.texts().iter().map(|id| scan(id)).collect::<Result<Vec<_>, _>>()?;
    let mut cases: Vec<String> = Vec::new();
    let mut days: HashMap<&str, BTreeSet<(u64, &str)>> = HashMap::new();
    for scan in &scans {
        let known = days.entry(&scan.case).or_insert_with(|| {
            cases.push(scan.case.clone());
            BTreeSet::new()
        });
        let number = scan.day.trim_start_matches("day").parse::<u64>();
        known.insert((number.map_err(|_| PrepareError::unfit("a day has no number"))?, scan.day.as_str()));
    }
    let parts = train_test_split(rows(&cases), Size::Test(0.1), 42);
    let hidden: HashSet<String> = at(&cases, &parts.test).into_iter().collect();
    let late: HashSet<(&str, &str)> = days
        .iter()
        .filter(|(case, _)| !hidden.contains(**case))
        .flat_map(|(case, days)| days.iter().skip(DAYS).map(move |(_, day)| (*case, *day)))
        .collect();
    let is_test =
        |scan: &Scan| hidden.contains(&scan.case) || late.contains(&(scan.case.as_str(), scan.day.as_str()));
    let part =
        |test: bool| frame.filter(|row| scans.get(*row as usize).is_some_and(|scan| is_test(scan) == test));
    let (train, test) = (part(false), part(true));
    bench.write("public/train.csv", &train.keep(&["id", "class", "segmentation"])?)?;
    bench.write("public/test.csv", &test.keep(&["id", "class"])?)?;
    let (widths, heights) = sizes(bench, scans.iter().filter(|scan| is_test(scan)))?;
    let answers = test
        .keep(&["id", "class", "segmentation"])?
        .rename("segmentation", "predicted")?
        .with("image_width", Column::Float(widths))
        .with("image_height", Column::Float(heights));
    bench.write("private/test.csv", &answers)?;
    let sample = answers.keep(&["id", "class", "predicted"])?;
    bench.write(
        "public/sample_submission.csv",
        &sample.with_same("predicted", MixedCell::Text("1 1 5 2".into())),
    )?;
    for case in &cases {
        if hidden.contains(case) {
            bench.copy(&format!("train/{case}"), &format!("public/test/{case}"))?;
            continue;
        }
        bench.folder(&format!("public/train/{case}"))?;
        for name in bench.names(&format!("train/{case}"))? {
            let day = name.strip_prefix(case.as_str()).and_then(|rest| rest.strip_prefix('_'));
            let is_late = day.is_some_and(|day| late.contains(&(case.as_str(), day)));
            let to = if is_late { "test" } else { "train" };
            bench.copy(&format!("train/{case}/{name}"), &format!("public/{to}/{case}/{name}"))?;
        }
    }
    Ok(())
}

/// Width and height from the names of the images.
fn sizes<'a>(
    bench: &Workbench<'_>,
    scans: impl Iterator<Item = &'a Scan>,
) -> Result<(Vec<f64>, Vec<f64>), PrepareError> {
    let mut folders: HashMap<String, Vec<String>> = HashMap::new();
    let (mut widths, mut heights) = (Vec::new(), Vec::new());
    for Scan { case, day, slice } in scans {
        let folder = format!("train/{case}/{case}_{day}/scans");
        if !folders.contains_key(&folder) {
            folders.insert(folder.clone(), bench.names(&folder)?);
        }
        let start = format!("slice_{slice}_");
        let names = folders.get(&folder).into_iter().flatten();
        let found: Vec<&String> =
            names.filter(|name| name.starts_with(&start) && has_end(name, ".png")).collect();
        let [name] = found.as_slice() else {
            return Err(PrepareError::unfit(format!("{folder} has no single image of slice {slice}")));
        };
        let mut numbers = name.split('_').skip(2).map(|part| part.parse::<f64>().ok());
        let size = (numbers.next().flatten(), numbers.next().flatten());
        demand(size.0.is_some() && size.1.is_some(), || format!("{name} tells no size"))?;
        widths.extend(size.0);
        heights.extend(size.1);
    }
    Ok((widths, heights))
}
