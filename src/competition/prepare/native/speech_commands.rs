//! tensorflow-speech-recognition-challenge: recordings are parted, background noise among them.

use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::parts::{at, rows};
use crate::prepare::python_text::has_end;
use crate::prepare::split::{Size, train_test_split};

/// A recording: its label and name, and where it lies.
#[derive(Clone)]
struct Recording {
    label: String,
    name: String,
    path: String,
}

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    bench.unpack("train.7z", "")?;
    let mut recordings = Vec::new();
    gather(bench, "train/audio", &mut recordings)?;
    recordings.sort_by_cached_key(|one| format!("{}_{}", one.label, one.name));
    let parts = train_test_split(rows(&recordings), Size::Test(0.1), 0);
    let test = at(&recordings, &parts.test);
    bench.copy_each(
        at(&recordings, &parts.train)
            .into_iter()
            .map(|one| (one.path, format!("public/train/audio/{}/{}", one.label, one.name))),
    )?;
    let names: Vec<String> = (0..test.len()).map(|number| format!("clip_{number:08}.wav")).collect();
    let labels: Vec<String> = test.iter().map(|one| one.label.clone()).collect();
    bench.copy_each(
        test.into_iter().zip(&names).map(|(one, name)| (one.path, format!("public/test/audio/{name}"))),
    )?;
    let answers = Frame::default().with_texts("fname", names).with_texts("label", labels);
    bench.write("private/test.csv", &answers)?;
    bench.write("public/sample_submission.csv", &answers.with_text("label", "silence"))
}

fn gather(bench: &Workbench<'_>, folder: &str, found: &mut Vec<Recording>) -> Result<(), PrepareError> {
    let label = folder.rsplit('/').next().unwrap_or(folder);
    for name in bench.names(folder)? {
        let path = format!("{folder}/{name}");
        if bench.is_folder(&path) {
            gather(bench, &path, found)?;
        } else if has_end(&name, ".wav") {
            found.push(Recording { label: label.to_owned(), name, path });
        }
    }
    Ok(())
}
