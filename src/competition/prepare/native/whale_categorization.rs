//! whale-categorization-playground: of every whale with two or more images one is train and one is test; of the others a
//! tenth of the whales is test, and of what is left a tenth of the images. A whale of test that train does not show is new.

use std::collections::HashSet;

use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::parts::{at, rows};
use crate::prepare::random::Pcg64;
use crate::prepare::split::{Size, sample, train_test_split};

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let (mut train, mut test) = (Vec::new(), Vec::new());
    let mut random = Pcg64::new(0);
    for (_, places) in frame.groups("Id")? {
        match places.as_slice() {
            [only] => {
                let part = if random.double() >= 0.9 / (0.9 + 0.1) { &mut test } else { &mut train };
                part.push(*only);
            }
            _ => {
                let drawn = at(&places, &sample(rows(&places), 2, 0));
                train.extend(drawn.first());
                test.extend(drawn.get(1));
            }
        }
    }
    let decided: HashSet<u32> = train.iter().chain(&test).copied().collect();
    let left = frame.places(|row| !decided.contains(row));
    let parts = train_test_split(rows(&left), Size::Test(0.1), 0);
    train.extend(at(&left, &parts.train));
    test.extend(at(&left, &parts.test));
    train.sort_unstable();
    test.sort_unstable();
    let (train, test) = (frame.take(&train), frame.take(&test));
    let shown: HashSet<String> = train.column("Id")?.texts().into_iter().collect();
    let whales: Vec<String> = test
        .column("Id")?
        .texts()
        .into_iter()
        .map(|id| if shown.contains(&id) { id } else { "new_whale".to_owned() })
        .collect();
    demand(whales.iter().any(|id| id == "new_whale"), || "no whale of test is new".to_owned())?;
    let test = test.with_texts("Id", whales);
    bench.write("private/test.csv", &test)?;
    bench.write("public/train.csv", &train)?;
    let guess = "new_whale w_1287fbc w_98baff9 w_7554f44 w_1eafe46";
    bench.write("public/sample_submission.csv", &test.clone().with_text("Id", guess))?;
    copy(bench, &train, "train")?;
    copy(bench, &test, "test")
}

fn copy(bench: &Workbench<'_>, part: &Frame, folder: &str) -> Result<(), PrepareError> {
    let names = part.column("Image")?.texts();
    bench
        .copy_each(names.into_iter().map(|name| (format!("train/{name}"), format!("public/{folder}/{name}"))))
}
