//! What several graders share: notes on quirks, and the fault of a metric.

use podium_metric::MetricError;

use crate::grade::input::Fault;
use crate::grade::outcome::AnswersFault;

/// A metric that cannot be computed: the submission's fault where its error names a prediction.
pub(super) fn fault(error: MetricError) -> Fault {
    match error {
        MetricError::PredictionOutOfDomain { value, domain, .. } => {
            Fault::Submission(format!("found {value}, expected a value that is {domain}"))
        }
        MetricError::Empty => Fault::submission("there are no rows to score"),
        MetricError::LengthMismatch { truth, predicted } => {
            Fault::Submission(format!("{predicted} rows are to be scored, expected {truth}"))
        }
        other => Fault::Answers(AnswersFault::Metric(other)),
    }
}
