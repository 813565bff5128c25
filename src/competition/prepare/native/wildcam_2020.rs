//! iwildcam-2020-fgvc7: camera locations are parted, then moved from one part to the other until the shares of images are
//! right. Records pass through a table, as in the official preparation, which gives every record every column.

use std::collections::{HashMap, HashSet};

use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::json::{Json, Layout, float_of, python_json};
use crate::prepare::native::categories::{label, member};
use crate::prepare::number_text::shortest;
use crate::prepare::parts::{at, rows};
use crate::prepare::random::RandomState;
use crate::prepare::split::{Size, train_test_split};

const SHARE: f64 = 0.22;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let document = bench.json("iwildcam2020_train_annotations.json")?;
    let others = bench.json("iwildcam2020_test_information.json")?;
    let images = table(member(&document, "images")?.items());
    let annotations = table(member(&document, "annotations")?.items());
    let places = images.iter().map(|image| label(image, "location")).collect::<Result<Vec<_>, _>>()?;
    let hidden = hidden(&places);
    let (mut test, mut train) = (Vec::new(), Vec::new());
    for (image, place) in images.into_iter().zip(&places) {
        let part = if hidden.contains(place) { &mut test } else { &mut train };
        part.push(image);
    }
    let ids = |part: &[Json]| part.iter().map(|image| label(image, "id")).collect::<Result<HashSet<_>, _>>();
    let (train_ids, test_ids) = (ids(&train)?, ids(&test)?);
    let of = |ids: &HashSet<String>| -> Result<Vec<Json>, PrepareError> {
        let images = annotations.iter().map(|one| label(one, "image_id")).collect::<Result<Vec<_>, _>>()?;
        Ok(annotations
            .iter()
            .zip(images)
            .filter(|(_, image)| ids.contains(image))
            .map(|(one, _)| one.clone())
            .collect())
    };
    let truth = of(&test_ids)?;
    let column = |key: &str| truth.iter().map(|one| label(one, key)).collect::<Result<Vec<_>, _>>();
    let answers = Frame::default().with_texts("Id", column("image_id")?);
    bench.write("private/answers.csv", &answers.clone().with_texts("Category", column("category_id")?))?;
    let mut random = RandomState::new(0);
    let guesses: Vec<i64> = truth.iter().map(|_| random.randint(0, 676)).collect();
    bench.write("public/sample_submission.csv", &answers.with_integers("Category", guesses))?;
    let list = |list: &Json| Json::List(table(list.items()));
    let info = |document: &Json| member(document, "info").cloned();
    let shown = object([
        ("annotations", Json::List(of(&train_ids)?)),
        ("images", Json::List(train)),
        ("categories", list(member(&document, "categories")?)),
        ("info", info(&document)?),
    ]);
    bench.write_text("public/iwildcam2020_train_annotations.json", &python_json(&shown, Layout::Line))?;
    let asked = object([
        ("images", Json::List(test)),
        ("categories", list(member(&others, "categories")?)),
        ("info", info(&others)?),
    ]);
    bench.write_text("public/iwildcam2020_test_information.json", &python_json(&asked, Layout::Line))?;
    bench.copy("iwildcam2020_megadetector_results.json", "public/iwildcam2020_megadetector_results.json")?;
    for (ids, folder) in [(&train_ids, "train"), (&test_ids, "test")] {
        bench.copy_each(
            ids.iter().map(|id| (format!("train/{id}.jpg"), format!("public/{folder}/{id}.jpg"))),
        )?;
    }
    Ok(())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.as_bytes().into(), value)).collect())
}

/// The locations that are test.
fn hidden(places: &[String]) -> HashSet<String> {
    let mut counts: HashMap<&String, u32> = HashMap::new();
    let mut locations: Vec<String> = Vec::new();
    for place in places {
        let count = counts.entry(place).or_insert_with(|| {
            locations.push(place.clone());
            0
        });
        *count += 1;
    }
    let parts = train_test_split(rows(&locations), Size::Test(SHARE), 0);
    let (mut train, mut test) = (at(&locations, &parts.train), at(&locations, &parts.test));
    let all = f64::from(rows(places));
    // The denominator is odd, and kept.
    let ratio = |test: &[String]| {
        let images = f64::from(test.iter().filter_map(|place| counts.get(place)).sum::<u32>());
        images / (all + images)
    };
    while ratio(&test) < SHARE
        && let Some(last) = train.pop()
    {
        test.push(last);
    }
    while ratio(&test) > SHARE
        && let Some(last) = test.pop()
    {
        train.push(last);
    }
    test.into_iter().collect()
}

/// What a column holds, as pandas would have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Numbers, some of them doubles or missing: all are doubles.
    Doubles,
    /// Nothing but gaps, some of them missing keys.
    Gaps,
    /// Cells stay what they are.
    Any,
}

/// Records that went through a table: every one has every column, in the order in which the columns first come.
fn table(records: &[Json]) -> Vec<Json> {
    let mut columns: Vec<(Box<[u8]>, Kind)> = Vec::new();
    let mut known: HashSet<Box<[u8]>> = HashSet::new();
    for record in records {
        for (key, _) in record.members() {
            if known.insert(key.clone()) {
                columns.push((key.clone(), Kind::Any));
            }
        }
    }
    let rows: Vec<HashMap<&[u8], &Json>> = records
        .iter()
        .map(|record| record.members().iter().map(|(key, value)| (&**key, value)).collect())
        .collect();
    for (key, kind) in &mut columns {
        *kind = kind_of(rows.iter().map(|row| row.get(&**key).copied()));
    }
    rows.iter()
        .map(|row| {
            let cells =
                columns.iter().map(|(key, kind)| (key.clone(), cell(row.get(&**key).copied(), *kind)));
            Json::Object(cells.collect())
        })
        .collect()
}

fn kind_of<'a>(cells: impl Iterator<Item = Option<&'a Json>>) -> Kind {
    let (mut missing, mut nulls, mut whole, mut doubles, mut others) = (0, 0, 0, 0, 0);
    for cell in cells {
        match cell {
            None => missing += 1,
            Some(Json::Null) => nulls += 1,
            Some(Json::Number(spelled)) if float_of(spelled).is_some() => doubles += 1,
            Some(Json::Number(_)) => whole += 1,
            Some(_) => others += 1,
        }
    }
    let numbers = whole + doubles;
    match (others, numbers, missing) {
        (0, 1.., _) if doubles + missing + nulls > 0 => Kind::Doubles,
        (0, 0, 1..) => Kind::Gaps,
        _ => Kind::Any,
    }
}

fn cell(cell: Option<&Json>, kind: Kind) -> Json {
    let nan = || Json::Number("NaN".into());
    match (cell, kind) {
        (None, _) | (Some(Json::Null), Kind::Doubles | Kind::Gaps) => nan(),
        (Some(Json::Number(spelled)), Kind::Doubles) => {
            let value: f64 = float_of(spelled).or_else(|| spelled.parse().ok()).unwrap_or(f64::NAN);
            if value.is_finite() {
                Json::Number(shortest(value).into())
            } else {
                Json::Number(spelled.clone())
            }
        }
        (Some(value), _) => value.clone(),
    }
}
