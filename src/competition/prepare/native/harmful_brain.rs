//! hms-harmful-brain-activity-classification: whole spectrograms are parted; the gold submission holds the share of votes.

use std::collections::BTreeSet;

use crate::csv::{Column, MixedCell};
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::parts::groups_parted;
use crate::prepare::split::Size;

const VOTES: [&str; 6] = ["seizure_vote", "lpd_vote", "gpd_vote", "lrda_vote", "grda_vote", "other_vote"];

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let (train, test) = groups_parted(&frame, "spectrogram_id", Size::Test(0.1), 0)?;
    bench.write("public/train.csv", &train)?;
    bench.write("private/test.csv", &test)?;
    bench.write("public/test.csv", &test.keep(&["spectrogram_id", "eeg_id", "patient_id"])?)?;
    let mut sums = vec![0.0; test.rows() as usize];
    for name in VOTES {
        for (sum, votes) in sums.iter_mut().zip(test.column(name)?.numbers()) {
            *sum += votes.unwrap_or(f64::NAN);
        }
    }
    let (mut gold, mut sample) = (test.keep(&["eeg_id"])?, test.keep(&["eeg_id"])?);
    for name in VOTES {
        let votes = test.column(name)?.numbers();
        let shares = votes.zip(&sums).map(|(votes, sum)| votes.unwrap_or(f64::NAN) / sum);
        gold = gold.with(name, Column::Float(shares.collect()));
        sample = sample.with_same(name, MixedCell::Float(1.0 / 6.0));
    }
    bench.write("private/gold_submission.csv", &gold)?;
    bench.write("public/sample_submission.csv", &sample)?;
    bench.copy("example_figures", "public/example_figures")?;
    for (part, prefix) in [(&train, "train"), (&test, "test")] {
        for (column, kind) in [("eeg_id", "eegs"), ("spectrogram_id", "spectrograms")] {
            let ids: BTreeSet<String> = part.column(column)?.texts().into_iter().collect();
            bench.copy_each(ids.into_iter().map(|id| {
                (format!("train_{kind}/{id}.parquet"), format!("public/{prefix}_{kind}/{id}.parquet"))
            }))?;
        }
    }
    Ok(())
}
