//! learning-agency-lab-automated-essay-scoring-2: a plain split whose sample submission holds drawn scores.

use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::parts::rows_parted;
use crate::prepare::random::RandomState;
use crate::prepare::split::Size;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let (train, test) = rows_parted(&bench.read("train.csv")?, Size::Test(0.1), 0);
    bench.write("private/answers.csv", &test)?;
    bench.write("public/train.csv", &train)?;
    bench.write("public/test.csv", &test.without(&["score"])?)?;
    let mut random = RandomState::new(42);
    let scores: Vec<i64> = (0..test.rows()).map(|_| random.randint(1, 7)).collect();
    let sample = test.keep(&["essay_id"])?.with_integers("score", scores);
    bench.write("public/sample_submission.csv", &sample)
}
