//! The score of a node's predictions for rows that the harness holds out for the search: its program has not seen their
//! labels, so it cannot have fitted them, whatever it prints of itself. The slice for the final choice is another.

use futures_util::future::LocalBoxFuture;
use podium_types::evaluation::{Evaluation, Labels};
use podium_types::execution::Collected;
use podium_types::key::EffectKey;

use crate::context::HeldOut;
use crate::strategy::StrategyError;
use crate::tree_search::evaluation::{Case, MetricSource, Reading};

/// Held-out rows.
pub(crate) struct Holdout;

impl MetricSource for Holdout {
    fn name(&self) -> &'static str {
        "holdout"
    }

    fn measure<'a>(&'a self, case: Case<'a>) -> LocalBoxFuture<'a, Result<Reading, StrategyError>> {
        let held = case.context.task().validation.as_ref().and_then(|told| told.holdout.as_ref());
        let path = held.filter(|held: &&HeldOut| held.search).map(|held| held.predictions.as_str());
        Box::pin(scored(case, self.name(), Labels::HoldoutSearch, path))
    }
}

/// Scores the file that was collected from `path`.
pub(super) async fn scored(
    case: Case<'_>,
    name: &str,
    labels: Labels,
    path: Option<&str>,
) -> Result<Reading, StrategyError> {
    let Some(path) = path else { return Ok(Reading::default()) };
    let remark =
        |problem: &str| Reading { remark: Some(format!("`./{path}`: {problem}")), ..Reading::default() };
    let sha256 = match case.execution.collected.get(path) {
        Some(Collected::File { sha256, .. }) => sha256,
        Some(Collected::Missing { found }) => return Ok(remark(&format!("found {found}"))),
        None => return Ok(Reading::default()),
    };
    let key = EffectKey::node(case.node.id, name, 0);
    Ok(match case.context.evaluate(key, labels, sha256).await? {
        Evaluation::Refused { reason } => remark(&reason),
        evaluation @ Evaluation::Scored { .. } => {
            Reading { value: evaluation.score(), spread: evaluation.spread(), remark: None }
        }
    })
}
