//! vesuvius-challenge-ink-detection: the third of three fragments is test, under the name `a`.

use std::fs::File;
use std::io::Read;

use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;

const HIDDEN: [&str; 3] = ["inklabels.png", "inklabels_rle.csv", "ir.png"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    for fragment in ["train/1", "train/2"] {
        bench.copy(fragment, &format!("public/{fragment}"))?;
    }
    let labels = bench.read("train/3/inklabels_rle.csv")?;
    demand(labels.rows() == 1, || "the labels of fragment 3 are not one row".to_owned())?;
    let gold = labels.with_text("Id", "a").keep(&["Id", "Predicted"])?;
    let (width, height) = png_size(bench, "train/3/ir.png")?;
    let answers = gold.clone().with_integers("width", [width]).with_integers("height", [height]);
    bench.write("private/inklabels_rle.csv", &answers)?;
    bench.write("private/gold_submission.csv", &gold)?;
    bench.folder("public/test/a")?;
    for name in bench.names("train/3")?.iter().filter(|name| !HIDDEN.contains(&name.as_str())) {
        bench.copy(&format!("train/3/{name}"), &format!("public/test/a/{name}"))?;
    }
    let sample = Frame::default().with_texts("Id", ["a"]).with_text("Predicted", "1 1 5 1");
    bench.write("public/sample_submission.csv", &sample)
}

/// Width and height of a PNG, from its head: the image itself is huge.
fn png_size(bench: &Workbench<'_>, file: &str) -> Result<(i64, i64), PrepareError> {
    let path = bench.find(file)?;
    let mut head = [0u8; 24];
    let mut image = File::open(&path).map_err(PrepareError::io("open", &path))?;
    image.read_exact(&mut head).map_err(PrepareError::io("read", &path))?;
    demand(head.starts_with(b"\x89PNG\r\n\x1a\n"), || format!("{file} is no PNG"))?;
    let number = |place: usize| {
        let bytes = head.get(place..).and_then(|rest| rest.first_chunk::<4>());
        bytes.map_or(0, |bytes| i64::from(u32::from_be_bytes(*bytes)))
    };
    Ok((number(16), number(20)))
}
