//! Files of the real preparation that follow from counts and names alone: their official MD5 is met without Kaggle's data.

use md5::{Digest, Md5};
use podium_competition::csv::MixedCell;
use podium_competition::prepare::frame::Frame;
use podium_competition::prepare::random::PythonRandom;
use podium_competition::prepare::split::{Size, sample, train_test_split};
use podium_competition::prepare::writer::{Style, to_text};

use crate::oracle::cases::competition;

fn sum(text: &str) -> String {
    Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn recorded(id: &str, path: &str) -> String {
    let sums = competition(id).data.md5.unwrap();
    let (folder, name) = path.split_once('/').unwrap();
    let folder = if folder == "public" { sums.public } else { sums.private };
    folder[name].clone()
}

fn numbers(name: &str, cells: impl IntoIterator<Item = i64>) -> Frame {
    Frame::default().with_integers(name, cells)
}

/// Test rows of a table whose first column counts from `first`.
fn parted(name: &str, first: i64, rows: u32, share: f64) -> Frame {
    let parts = train_test_split(rows, Size::Test(share), 0);
    Frame::of(name, podium_competition::csv::Column::Integer((first..first + i64::from(rows)).collect()))
        .take(&parts.test)
}

#[test]
fn files_of_the_real_preparation_have_their_official_sums() {
    let half = || MixedCell::Float(0.5);
    let whole = MixedCell::Integer;
    let mut files: Vec<(&str, &str, Frame)> = Vec::new();
    let mut birds: Vec<i64> = sample(322, 64, 0).into_iter().map(i64::from).collect();
    birds.sort_unstable();
    let ids = birds.iter().flat_map(|bird| (0..19).map(move |species| bird * 100 + species));
    files.push((
        "mlsp-2013-birds",
        "public/sample_submission.csv",
        numbers("Id", ids).with_same("Probability", whole(0)),
    ));
    let mut pets: Vec<(String, i64)> =
        (0..12500).flat_map(|pet| [(format!("cat.{pet}.jpg"), 0), (format!("dog.{pet}.jpg"), 1)]).collect();
    pets.sort();
    let parts = train_test_split(25000, Size::Test(0.1), 0);
    let labels = parts.test.iter().map(|row| pets[*row as usize].1);
    let id = "dogs-vs-cats-redux-kernels-edition";
    files.push((id, "private/answers.csv", numbers("id", 1..=2500).with_integers("label", labels)));
    files.push((id, "public/sample_submission.csv", numbers("id", 1..=2500).with_same("label", half())));
    let share = 451_552.0 / f64::from(1_229_932 + 451_552);
    let rows = i64::from(Size::Test(share).rows(1_229_932).1);
    let sample = numbers("Id", 0..rows).with_same("ClassId", whole(0));
    files.push(("ml2021spring-hw2", "public/sampleSubmission.csv", sample));
    let plants = Frame::default().with_texts("image_id", (0..183).map(|plant| format!("Test_{plant}")));
    let id = "plant-pathology-2020-fgvc7";
    files.push((id, "public/test.csv", plants.clone()));
    let quarter = |frame: Frame, name: &str| frame.with_same(name, MixedCell::Float(0.25));
    let diseases = ["healthy", "multiple_diseases", "rust", "scab"].into_iter().fold(plants, quarter);
    files.push((id, "public/sample_submission.csv", diseases));
    let species = parted("name", 1, 2295, 0.2).with_same("invasive", half());
    files.push(("invasive-species-monitoring", "private/sample_submission.csv", species));
    let conductors = numbers("id", 1..=240)
        .with_same("formation_energy_ev_natom", MixedCell::Float(0.1779))
        .with_same("bandgap_energy_ev", MixedCell::Float(1.8892));
    files.push(("nomad2018-predict-transparent-conductors", "public/sample_submission.csv", conductors));
    let covers = parted("Id", 0, 4_000_000, 0.1).with_same("Cover_Type", whole(2));
    files.push(("tabular-playground-series-dec-2021", "public/sample_submission.csv", covers));
    let targets = numbers("id", 800_000..900_000).with_same("target", half());
    files.push(("tabular-playground-series-may-2022", "public/sample_submission.csv", targets));
    let enzymes = parted("id", 0, 14838, 0.1).with_same("EC1", half()).with_same("EC2", half());
    files.push(("playground-series-s3e18", "public/sample_submission.csv", enzymes));
    let phrases = parted("PhraseId", 1, 156_060, 0.3).with_same("Sentiment", whole(2));
    files.push(("movie-review-sentiment-analysis-kernels-only", "public/sampleSubmission.csv", phrases));
    for (id, rows, predicted) in [
        ("herbarium-2020-fgvc7", 219_124, 0),
        ("herbarium-2021-fgvc8", 477_806, 0),
        ("herbarium-2022-fgvc9", 174_052, 42),
    ] {
        let sample = numbers("Id", 0..rows).with_same("Predicted", whole(predicted));
        files.push((id, "public/sample_submission.csv", sample));
    }
    let breaths = numbers("id", 1..=603_600).with_same("pressure", whole(0));
    files.push(("ventilator-pressure-prediction", "public/sample_submission.csv", breaths));
    let clips = Frame::default()
        .with_texts("fname", (0..6473).map(|clip| format!("clip_{clip:08}.wav")))
        .with_text("label", "silence");
    files.push(("tensorflow-speech-recognition-challenge", "public/sample_submission.csv", clips));
    let kidneys = Frame::default()
        .with_texts("id", ["8242609fa", "0486052bb", "095bf7a1f"])
        .with_same("predicted", MixedCell::Missing);
    files.push(("hubmap-kidney-segmentation", "public/sample_submission.csv", kidneys));
    // Which of 5000 images come in which of four ways, by one stream.
    let mut random = PythonRandom::new(0);
    random.shuffle(&mut [0u8; 5000]);
    let labels: Vec<i64> = (0..5000)
        .map(|_| {
            let label = random.below(2);
            if label == 1 {
                random.below(3);
            }
            i64::from(label)
        })
        .collect();
    let images = Frame::default().with_texts("Id", (1..=5000).map(|image| format!("{image:04}.jpg")));
    let id = "alaska2-image-steganalysis";
    files.push((id, "private/test.csv", images.clone().with_integers("Label", labels)));
    files.push((id, "public/sample_submission.csv", images.with_same("Label", whole(0))));
    for (id, path, frame) in &files {
        assert_eq!(sum(&to_text(frame, Style::default())), recorded(id, path), "{id} {path}");
    }
    println!("{} official sums", files.len());
}
