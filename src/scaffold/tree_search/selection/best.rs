//! The node with the best metric, as AIDE hands it in.

use futures_util::future::LocalBoxFuture;

use crate::strategy::StrategyError;
use crate::tree_search::selection::{Choice, Selector};

/// The best good node; the earliest of equals.
pub(crate) struct Best;

impl Selector for Best {
    fn choose<'a>(
        &'a mut self,
        choice: Choice<'a>,
    ) -> LocalBoxFuture<'a, Result<Option<u32>, StrategyError>> {
        let best = choice.tree.best(choice.direction).map(|node| node.id);
        Box::pin(std::future::ready(Ok(best)))
    }
}
