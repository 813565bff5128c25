//! Areas under ROC curves that are weighted by parts of the curve.

use podium_metric as metric;

use crate::grade::align;
use crate::grade::cells::{Side, Whose};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::shared;

/// ALASKA2: the part of the curve with a true positive rate below 0.4 counts twice.
pub(super) fn alaska(input: &Input<'_>) -> Result<Score, Fault> {
    const BANDS: [metric::Band; 2] =
        [metric::Band { from: 0.0, to: 0.4, weight: 2.0 }, metric::Band { from: 0.4, to: 1.0, weight: 1.0 }];
    let (submission, answers) = (input.submission, input.truth()?);
    align::same_row_count(submission, answers)?;
    align::column(submission, "Id")?;
    align::column(submission, "Label")?;
    let pairing = align::sort_by_key(submission, answers, "Id")?;
    let key = Some("Id");
    let guess = Side { whose: Whose::Submission, table: submission, key, rows: &pairing.submission };
    let truth = Side { whose: Whose::Answers, table: answers, key, rows: &pairing.answers };
    let guess = guess.numbers("Label")?;
    let truth: Vec<bool> = truth.numbers("Label")?.iter().map(|label| *label >= 1.0).collect();
    let value = metric::weighted_roc_auc(&truth, &guess, &BANDS).map_err(shared::fault)?;
    let score = Score::numpy(value).noting(pairing.repeats);
    let positives = truth.iter().filter(|positive| **positive).count();
    Ok(if positives == 0 {
        score.note("the answers hold no positive row: the official score is then 0")
    } else if positives == truth.len() {
        score.note("the answers hold positive rows only: the score is not a number")
    } else {
        score
    })
}
