//! the-icml-2013-whale-challenge-right-whale-redux: two days are train and two are test; clips are counted anew.

use std::collections::BTreeSet;

use crate::csv::MixedCell;
use crate::prepare::archive::{Packer, Packing};
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::python_text::has_end;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    bench.unpack("train2.zip", "")?;
    let mut clips = bench.names("train2")?;
    clips.retain(|name| has_end(name, ".aif"));
    let day = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
    let days: Vec<String> = clips.iter().map(|name| day(name)).collect::<BTreeSet<_>>().into_iter().collect();
    let [first, second, _, _] = days.as_slice() else {
        return Err(PrepareError::unfit(format!("the clips are of {} days, not of 4", days.len())));
    };
    let (train, test): (Vec<String>, Vec<String>) =
        clips.into_iter().partition(|name| [first, second].contains(&&day(name)));
    let renamed = train.iter().enumerate().map(|(number, name)| (renumbered(name, number), name));
    pack(bench, "train2", renamed)?;
    let (mut names, mut labels) = (Vec::new(), Vec::new());
    for (number, name) in test.iter().enumerate() {
        let start = name.split("TRAIN").next().unwrap_or_default();
        names.push(format!("{start}Test{number}.aif"));
        labels.push(i64::from(name.strip_suffix(".aif").is_some_and(|stem| has_end(stem, "_1"))));
    }
    demand(!names.is_empty(), || "no clip is test".to_owned())?;
    pack(bench, "test2", names.iter().cloned().zip(&test))?;
    let answers = Frame::default().with_texts("clip", names).with_integers("probability", labels);
    bench.write("private/test.csv", &answers)?;
    let sample = answers.with_same("probability", MixedCell::Integer(0));
    bench.write("public/sampleSubmission.csv", &sample)
}

/// Every `TRAIN` with its digits gets the new number.
fn renumbered(name: &str, number: usize) -> String {
    let mut parts = name.split("TRAIN");
    let mut new = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        new.push_str("TRAIN");
        if rest.len() < part.len() {
            new.push_str(&number.to_string());
        }
        new.push_str(rest);
    }
    new
}

fn pack<'a>(
    bench: &Workbench<'_>,
    folder: &str,
    clips: impl Iterator<Item = (String, &'a String)>,
) -> Result<(), PrepareError> {
    let mut packer = Packer::create(&bench.place(&format!("public/{folder}.zip"))?, Packing::Compressed)?;
    packer.folder(&format!("{folder}/"))?;
    for (name, old) in clips {
        bench.pack_one(&mut packer, &format!("{folder}/{name}"), &format!("train2/{old}"))?;
    }
    packer.finish()
}
