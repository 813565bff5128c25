//! petfinder-pawpularity-score: a plain split whose sample submission holds drawn scores.

use crate::csv::Column;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::parts::rows_parted;
use crate::prepare::random::Pcg64;
use crate::prepare::split::Size;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let (train, test) = rows_parted(&bench.read("train.csv")?, Size::Test(0.1), 0);
    bench.write("public/train.csv", &train)?;
    bench.write("private/test.csv", &test)?;
    bench.write("public/test.csv", &test.without(&["Pawpularity"])?)?;
    let mut random = Pcg64::new(0);
    let scores = (0..test.rows()).map(|_| (random.uniform(1.0, 100.0) * 100.0).round_ties_even() / 100.0);
    let sample = test.keep(&["Id"])?.with("Pawpularity", Column::Float(scores.collect()));
    bench.write("public/sample_submission.csv", &sample)?;
    for (part, folder) in [(&train, "train"), (&test, "test")] {
        let ids = part.column("Id")?.texts();
        bench.copy_each(
            ids.into_iter().map(|id| (format!("train/{id}.jpg"), format!("public/{folder}/{id}.jpg"))),
        )?;
    }
    Ok(())
}
