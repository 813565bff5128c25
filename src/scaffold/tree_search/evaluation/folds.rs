//! The score of a node's out-of-fold predictions, made anew by the harness: by the competition's own metric, over folds
//! that are the same for all nodes, with the spread between them. The labels are in the training table, so that a program
//! can fit them; that it did not is its own word.

use futures_util::future::LocalBoxFuture;
use podium_types::evaluation::Labels;

use crate::strategy::StrategyError;
use crate::tree_search::evaluation::holdout::scored;
use crate::tree_search::evaluation::{Case, MetricSource, Reading};

/// Out-of-fold predictions.
pub(crate) struct Folds;

impl MetricSource for Folds {
    fn name(&self) -> &'static str {
        "folds"
    }

    fn measure<'a>(&'a self, case: Case<'a>) -> LocalBoxFuture<'a, Result<Reading, StrategyError>> {
        let folds = case.context.task().validation.as_ref().and_then(|told| told.folds.as_ref());
        let path = folds.map(|folds| folds.predictions.as_str());
        Box::pin(scored(case, self.name(), Labels::OutOfFold, path))
    }
}
