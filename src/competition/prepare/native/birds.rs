//! mlsp-2013-birds: of the recordings whose labels are known a fifth is test; recordings are counted anew in all files.

use std::collections::{HashMap, HashSet};

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::python_text::{python_round, stripped};
use crate::prepare::split::sample;

const ROOT: &str = "mlsp_contest_dataset";
const ESSENTIAL: &str = "mlsp_contest_dataset/essential_data";
const SUPPLEMENTAL: &str = "mlsp_contest_dataset/supplemental_data";
const SPECIES: i64 = 19;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    bench.unpack(&format!("{ROOT}.zip"), "")?;
    let folds = bench.read(&format!("{ESSENTIAL}/CVfolds_2.txt"))?;
    let fold: Vec<Option<f64>> = folds.column("fold")?.numbers().collect();
    let kept = folds.filter(|row| fold.get(*row as usize).copied().flatten() == Some(0.0));
    let count = python_round(0.2 * f64::from(kept.rows()));
    let wanted = bench.constant("test_recordings")?;
    demand(i64::from(count) == wanted, || format!("{count} recordings are test, not {wanted}"))?;
    let test: HashSet<u32> = sample(kept.rows(), count, 0).into_iter().collect();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for (number, old) in (0..).zip(kept.column("rec_id")?.texts()) {
        numbers.insert(old, number);
    }
    let folds = Frame::default()
        .with_integers("rec_id", 0..i64::from(kept.rows()))
        .with_integers("fold", (0..kept.rows()).map(|number| i64::from(test.contains(&number))));
    bench.write("public/essential_data/CVfolds_2.txt", &folds)?;
    let files = files(bench, &numbers)?;
    labels(bench, &numbers, &test)?;
    let hidden = (0..kept.rows()).filter(|number| test.contains(number)).map(i64::from);
    let ids = hidden.flat_map(|number| (0..SPECIES).map(move |species| number * 100 + species));
    let guess = Frame::default().with_integers("Id", ids).with_same("Probability", MixedCell::Integer(0));
    bench.write("public/sample_submission.csv", &guess)?;
    for name in ["histogram_of_segments", "segment_features", "segment_rectangles"] {
        segments(bench, &numbers, name)?;
    }
    bench.copy(&format!("{ESSENTIAL}/species_list.txt"), "public/essential_data/species_list.txt")?;
    let essential = files.iter().map(|file| {
        let path = format!("src_wavs/{file}.wav");
        (format!("{ESSENTIAL}/{path}"), format!("public/essential_data/{path}"))
    });
    bench.copy_each(essential)?;
    let mut pictures = vec!["segment_clusters.bmp".to_owned(), "segment_mosaic.bmp".to_owned()];
    for folder in
        ["filtered_spectrograms", "segmentation_examples", "spectrograms", "supervised_segmentation"]
    {
        let paths = files.iter().map(|file| format!("{folder}/{file}.bmp"));
        pictures.extend(paths.filter(|path| {
            folder != "segmentation_examples" || bench.has(&format!("{SUPPLEMENTAL}/{path}"))
        }));
    }
    bench.copy_each(
        pictures
            .into_iter()
            .map(|path| (format!("{SUPPLEMENTAL}/{path}"), format!("public/supplemental_data/{path}"))),
    )
}

/// The names of the kept recordings, published under their new numbers.
fn files(bench: &Workbench<'_>, numbers: &HashMap<String, u32>) -> Result<Vec<String>, PrepareError> {
    let table = bench.read(&format!("{ESSENTIAL}/rec_id2filename.txt"))?;
    let old = table.column("rec_id")?.texts();
    let kept = table.filter(|row| old.get(*row as usize).is_some_and(|old| numbers.contains_key(old)));
    let new: Vec<i64> = kept
        .column("rec_id")?
        .texts()
        .iter()
        .filter_map(|old| numbers.get(old))
        .map(|number| (*number).into())
        .collect();
    let kept = kept.with_integers("rec_id", new);
    bench.write("public/essential_data/rec_id2filename.txt", &kept)?;
    Ok(kept.column("filename")?.texts())
}

/// Lines as Python reads them in text mode, the header left out.
fn lines(text: &str) -> impl Iterator<Item = String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    lines.into_iter()
}

/// The labels of the kept recordings; those of test become a question mark, and the answers.
fn labels(
    bench: &Workbench<'_>,
    numbers: &HashMap<String, u32>,
    test: &HashSet<u32>,
) -> Result<(), PrepareError> {
    let mut published = "rec_id,[labels]\n".to_owned();
    let (mut ids, mut found) = (Vec::new(), Vec::new());
    for line in lines(&bench.text(&format!("{ESSENTIAL}/rec_labels_test_hidden.txt"))?) {
        let line = stripped(&line);
        let (old, labels) = line.split_once(',').unwrap_or((line, ""));
        let Some(number) = numbers.get(old) else { continue };
        if test.contains(number) {
            published.extend([number.to_string().as_str(), ",?\n"]);
            let labels: HashSet<i64> =
                labels.split(',').filter_map(|label| label.trim().parse().ok()).collect();
            for species in 0..SPECIES {
                ids.push(i64::from(*number) * 100 + species);
                found.push(i64::from(labels.contains(&species)));
            }
        } else if labels.is_empty() {
            published.extend([number.to_string().as_str(), "\n"]);
        } else {
            published.extend([number.to_string().as_str(), ",", labels, "\n"]);
        }
    }
    bench.write_text("public/essential_data/rec_labels_test_hidden.txt", &published)?;
    let answers = Frame::default().with_integers("Id", ids).with_integers("Probability", found);
    bench.write("private/answers.csv", &answers)
}

fn segments(bench: &Workbench<'_>, numbers: &HashMap<String, u32>, name: &str) -> Result<(), PrepareError> {
    let mut published = "rec_id,[histogram of segment features]\n".to_owned();
    for line in lines(&bench.text(&format!("{SUPPLEMENTAL}/{name}.txt"))?) {
        let (old, rest) = line.split_at(line.find(',').unwrap_or(line.len()));
        if let Some(number) = numbers.get(stripped(old)) {
            published.extend([number.to_string().as_str(), rest, "\n"]);
        }
    }
    bench.write_text(&format!("public/supplemental_data/{name}.txt"), &published)
}
