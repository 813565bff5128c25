//! vinbigdata-chest-xray-abnormalities-detection: images are parted; of the findings of one class in one image the first
//! known cells count.

use std::collections::BTreeMap;

use crate::csv::{Column, MixedCell};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::{Frame, texts};
use crate::prepare::number_text::shortest;
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

const BOX: [&str; 4] = ["x_min", "y_min", "x_max", "y_max"];
/// The class that means that nothing was found.
const NOTHING: i64 = 14;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let groups = frame.groups("image_id")?;
    let parts = train_test_split(rows(&groups), Size::Test(0.1), 0);
    for (part, name) in [(&parts.train, "train_images"), (&parts.test, "test_images")] {
        let wanted = bench.count(name)? as usize;
        demand(part.len() == wanted, || format!("{} images are {name}, not {wanted}", part.len()))?;
    }
    let (train, test) = (at(&groups, &parts.train), at(&groups, &parts.test));
    let mut places: Vec<u32> = train.iter().flat_map(|(_, places)| places.iter().copied()).collect();
    places.sort_unstable();
    bench.write("public/train.csv", &frame.take(&places))?;
    let sample = Frame::default().with_texts("image_id", test.iter().map(|(image, _)| image));
    bench.write("public/sample_submission.csv", &sample.with_text("PredictionString", "14 1 0 0 1 1"))?;
    let answers = answers(&frame, &test)?;
    bench.write("private/answers.csv", &answers)?;
    bench.write("private/gold_submission.csv", &gold(&answers)?)?;
    for (groups, folder) in [(&train, "train"), (&test, "test")] {
        bench.copy_each(
            groups
                .iter()
                .map(|(image, _)| (format!("train/{image}.dicom"), format!("public/{folder}/{image}.dicom"))),
        )?;
    }
    Ok(())
}

/// One row for each class of each image.
fn answers(frame: &Frame, test: &[(String, Vec<u32>)]) -> Result<Frame, PrepareError> {
    let classes = frame.column("class_id")?;
    let mut findings: BTreeMap<(&str, i64), Vec<u32>> = BTreeMap::new();
    for (image, places) in test {
        for place in places {
            let MixedCell::Integer(class) = classes.cell(*place) else {
                return Err(PrepareError::unfit("a class is no whole number"));
            };
            findings.entry((image.as_str(), class)).or_default().push(*place);
        }
    }
    let mut found = Frame::default()
        .with_texts("image_id", findings.keys().map(|(image, _)| image))
        .with_integers("class_id", findings.keys().map(|(_, class)| *class));
    for name in ["class_name", "rad_id"] {
        let view = frame.column(name)?;
        let first = findings.values().map(|places| {
            let mut cells = places.iter().map(|place| view.text(*place));
            Some(cells.find(|cell| !cell.is_empty()).unwrap_or_else(|| "0".to_owned()))
        });
        found = found.with(name, texts(first));
    }
    for (place, name) in BOX.iter().enumerate() {
        let view = frame.column(name)?;
        let first = findings.iter().map(|((_, class), places)| {
            if *class == NOTHING && place >= 2 {
                return 1.0;
            }
            places.iter().find_map(|place| view.cell(*place).as_cell().number()).unwrap_or(0.0)
        });
        found = found.with(name, Column::Float(first.collect()));
    }
    Ok(found)
}

/// All findings of an image as one prediction.
fn gold(answers: &Frame) -> Result<Frame, PrepareError> {
    let classes = answers.column("class_id")?.texts();
    let mut lines: Vec<String> = classes.iter().map(|class| format!("{class} 1.0")).collect();
    for name in BOX {
        for (line, value) in lines.iter_mut().zip(answers.column(name)?.numbers()) {
            line.push(' ');
            line.push_str(&shortest(value.unwrap_or(f64::NAN)));
        }
    }
    let (mut images, mut predictions): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (image, line) in answers.column("image_id")?.texts().into_iter().zip(lines) {
        match predictions.last_mut().filter(|_| images.last() == Some(&image)) {
            Some(prediction) => {
                prediction.push(' ');
                prediction.push_str(&line);
            }
            None => {
                images.push(image);
                predictions.push(line);
            }
        }
    }
    Ok(Frame::default().with_texts("image_id", images).with_texts("PredictionString", predictions))
}
