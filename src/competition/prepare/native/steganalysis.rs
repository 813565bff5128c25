//! alaska2-image-steganalysis: images are parted by number; of each test image one of four versions is shown.

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::parts::{at, rows};
use crate::prepare::python_text::has_end;
use crate::prepare::random::PythonRandom;
use crate::prepare::split::{Size, train_test_split};

const COVER: &str = "Cover";
const HIDING: [&str; 3] = ["JMiPOD", "JUNIWARD", "UERD"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut images = bench.names(COVER)?;
    images.retain(|name| has_end(name, ".jpg"));
    let parts = train_test_split(rows(&images), Size::TestRows(bench.count("test_images")?), 42);
    let train = at(&images, &parts.train);
    bench.copy_each((1..).zip(&train).flat_map(|(number, name): (usize, _)| {
        let versions = [COVER].into_iter().chain(HIDING);
        versions
            .map(move |version| (format!("{version}/{name}"), format!("public/{version}/{number:05}.jpg")))
    }))?;
    let mut test = at(&images, &parts.test);
    let mut random = PythonRandom::new(0);
    random.shuffle(&mut test);
    let (mut names, mut labels, mut copies) = (Vec::new(), Vec::new(), Vec::new());
    for (number, image) in (1..).zip(&test) {
        let number: usize = number;
        let hidden = random.below(2) == 1;
        let version =
            if hidden { HIDING.get(random.below(3) as usize).copied().unwrap_or(COVER) } else { COVER };
        let name = format!("{number:04}.jpg");
        copies.push((format!("{version}/{image}"), format!("public/Test/{name}")));
        names.push(name);
        labels.push(i64::from(hidden));
    }
    bench.copy_each(copies)?;
    let answers = Frame::default().with_texts("Id", names).with_integers("Label", labels);
    bench.write("private/test.csv", &answers)?;
    bench.write("public/sample_submission.csv", &answers.with_same("Label", MixedCell::Integer(0)))
}
