//! 3d-object-detection-for-autonomous-vehicles: drives (logs) are parted, and everything that hangs on them. Both lists of
//! maps name the drives of test, which is a fault of the official preparation and kept.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::csv::{Decimals, MixedCell, ReadOptions};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::{Json, Layout, python_json};
use crate::prepare::native::categories::label;
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

/// What belongs to one part.
struct Part {
    name: &'static str,
    logs: HashSet<String>,
    samples: HashSet<String>,
}

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let read = |name: &str| bench.json(&format!("train_data/{name}.json"));
    let (log, sample, scene) = (read("log")?, read("sample")?, read("scene")?);
    let tokens = texts(log.items(), "token")?;
    let parts = train_test_split(rows(&tokens), Size::Test(0.2), 0);
    let hidden = at(&tokens, &parts.test);
    let mut maps = read("map")?;
    if let Json::List(maps) = &mut maps {
        for map in maps {
            map.set("log_tokens", Json::List(hidden.iter().map(|token| Json::text(token)).collect()));
        }
    }
    let (data, annotations) = (read("sample_data")?, read("sample_annotation")?);
    let sensors = by_token(&read("calibrated_sensor")?)?;
    let poses = by_token(&read("ego_pose")?)?;
    let instances = read("instance")?;
    let of = |name, places: &[u32]| -> Result<Part, PrepareError> {
        let logs: HashSet<String> = at(&tokens, places).into_iter().collect();
        let mut samples = HashSet::new();
        for sample in sample.items() {
            if logs.contains(&label(sample, "scene_token")?) {
                samples.insert(label(sample, "token")?);
            }
        }
        Ok(Part { name, logs, samples })
    };
    let (train, test) = (of("train", &parts.train)?, of("test", &parts.test)?);
    demand(train.samples.len() + test.samples.len() == sample.items().len(), || {
        "samples are left over".to_owned()
    })?;
    for part in [&train, &test] {
        let write = |name: &str, list: Vec<Json>| {
            let path = format!("public/{}_data/{name}.json", part.name);
            bench.write_text(&path, &python_json(&Json::List(list), Layout::Line))
        };
        write("log", kept(log.items(), "token", &part.logs)?)?;
        write("sample", kept(sample.items(), "scene_token", &part.logs)?)?;
        write("scene", kept(scene.items(), "log_token", &part.logs)?)?;
        write("map", maps.items().to_vec())?;
        let mine = kept(data.items(), "sample_token", &part.samples)?;
        let mut used = HashSet::new();
        let (mut own_sensors, mut own_poses) = (Vec::new(), Vec::new());
        for entry in &mine {
            let sensor = label(entry, "calibrated_sensor_token")?;
            if used.insert(sensor.clone()) {
                own_sensors.push(found(&sensors, &sensor)?);
            }
            own_poses.push(found(&poses, &label(entry, "ego_pose_token")?)?);
        }
        copy_files(bench, &mine, part.name)?;
        write("sample_data", mine)?;
        write("calibrated_sensor", own_sensors)?;
        write("ego_pose", own_poses)?;
        for name in ["attribute", "category", "sensor", "visibility"] {
            bench.copy(
                &format!("train_data/{name}.json"),
                &format!("public/{}_data/{name}.json", part.name),
            )?;
        }
        bench.copy(
            "train_maps/map_raster_palo_alto.png",
            &format!("public/{}_maps/map_raster_palo_alto.png", part.name),
        )?;
        if part.name == "train" {
            let mine = kept(annotations.items(), "sample_token", &part.samples)?;
            let used: HashSet<String> = texts(&mine, "instance_token")?.into_iter().collect();
            write("sample_annotation", mine)?;
            write("instance", kept(instances.items(), "token", &used)?)?;
        }
    }
    tables(bench, &train.samples, &test.samples)
}

fn texts(items: &[Json], key: &str) -> Result<Vec<String>, PrepareError> {
    items.iter().map(|item| label(item, key)).collect()
}

fn kept(items: &[Json], key: &str, wanted: &HashSet<String>) -> Result<Vec<Json>, PrepareError> {
    let keys = texts(items, key)?;
    Ok(items.iter().zip(keys).filter(|(_, key)| wanted.contains(key)).map(|(item, _)| item.clone()).collect())
}

fn by_token(list: &Json) -> Result<HashMap<String, Json>, PrepareError> {
    list.items().iter().map(|item| Ok((label(item, "token")?, item.clone()))).collect()
}

fn found(known: &HashMap<String, Json>, token: &str) -> Result<Json, PrepareError> {
    known.get(token).cloned().ok_or_else(|| PrepareError::unfit(format!("nothing has the token {token}")))
}

/// Images and point clouds of a part.
fn copy_files(bench: &Workbench<'_>, data: &[Json], part: &str) -> Result<(), PrepareError> {
    let mut copies = BTreeSet::new();
    for entry in data {
        let name = label(entry, "filename")?;
        let name = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let kind = if label(entry, "fileformat")? == "jpeg" { "images" } else { "lidar" };
        copies.insert((format!("train_{kind}/{name}"), format!("public/{part}_{kind}/{name}")));
    }
    bench.copy_each(copies)
}

fn tables(
    bench: &Workbench<'_>,
    train: &HashSet<String>,
    test: &HashSet<String>,
) -> Result<(), PrepareError> {
    let options = ReadOptions { decimals: Decimals::Quick, ..ReadOptions::default() };
    let frame = bench.read_with("train.csv", options, &[])?;
    let ids = frame.column("Id")?.texts();
    let part = |wanted: &HashSet<String>| -> Frame {
        frame.filter(|row| ids.get(*row as usize).is_some_and(|id| wanted.contains(id)))
    };
    bench.write("public/train.csv", &part(train))?;
    let answers = part(test);
    let mut boxes = Vec::new();
    for line in answers.column("PredictionString")?.texts() {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let (groups, rest) = words.as_chunks::<8>();
        demand(rest.is_empty(), || "a row of boxes is cut".to_owned())?;
        let certain: Vec<String> = groups.iter().map(|group| format!("1.0 {}", group.join(" "))).collect();
        boxes.push(certain.join(" "));
    }
    bench.write("private/test.csv", &answers.clone().with_texts("PredictionString", boxes))?;
    bench.write("public/sample_submission.csv", &answers.with_same("PredictionString", MixedCell::Missing))
}
