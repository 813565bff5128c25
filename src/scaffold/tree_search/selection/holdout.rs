//! The best by labels that the search has never seen. A search that looks at one validation score again and again ends
//! with the node that this score flatters most; so the best few by its metric are compared once more, on a slice of
//! training labels that serves this choice and nothing else (AIRA₂ keeps such a split as well). A small slice is noisy,
//! so the metric that brought a node there may keep a part of the say.
//!
//! The scores stay in here: no node holds them, so neither policies nor prompts can.

use std::collections::BTreeMap;

use futures_util::future::LocalBoxFuture;
use podium_types::evaluation::Labels;
use podium_types::key::EffectKey;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::{at_least_one, invalid};
use crate::strategy::StrategyError;
use crate::tree_search::selection::{Choice, Selector};
use crate::tree_search::view::value;

/// The numbers of this rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldoutSelectionSpec {
    /// Nodes that are compared, the best by metric.
    pub top: usize,
    /// Share of the final slice in `weight · final + (1 − weight) · metric`, above 0; 1: it decides alone.
    pub weight: f64,
}

impl HoldoutSelectionSpec {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        if !(self.weight > 0.0 && self.weight <= 1.0) {
            return Err(invalid("selection.weight", "must be above 0 and at most 1"));
        }
        at_least_one("selection.top", self.top as u64)
    }
}

/// The rule, with what it has asked for so far.
pub(crate) struct Holdout {
    spec: HoldoutSelectionSpec,
    /// By node; none: its predictions have no score.
    scores: BTreeMap<u32, Option<f64>>,
}

impl Holdout {
    pub(super) const fn new(spec: HoldoutSelectionSpec) -> Self {
        Self { spec, scores: BTreeMap::new() }
    }

    /// The score of a node, asked for once.
    async fn score(&mut self, choice: Choice<'_>, node: &NodeRecord) -> Result<Option<f64>, StrategyError> {
        if let Some(score) = self.scores.get(&node.id) {
            return Ok(*score);
        }
        let held = choice.context.task().validation.as_ref().and_then(|told| told.holdout.as_ref());
        let file = held.and_then(|held| node.predictions.get(&held.predictions));
        let score = match file {
            Some(sha256) => {
                let key = EffectKey::node(node.id, "final", 0);
                choice.context.evaluate(key, Labels::HoldoutFinal, sha256).await?.score()
            }
            None => None,
        };
        self.scores.insert(node.id, score);
        Ok(score)
    }

    async fn best(&mut self, choice: Choice<'_>) -> Result<Option<u32>, StrategyError> {
        let ranked = choice.tree.ranked(choice.direction);
        let first = ranked.first().map(|node| node.id);
        let mut best: Option<(u32, f64)> = None;
        for node in ranked.into_iter().take(self.spec.top) {
            let Some(score) = self.score(choice, node).await? else { continue };
            let score = self.spec.weight * score + (1.0 - self.spec.weight) * value(node);
            if best.is_none_or(|(_, best)| choice.direction.better(score, best)) {
                best = Some((node.id, score));
            }
        }
        // Nodes without such a score are handed in only where no other is there.
        Ok(best.map(|(id, _)| id).or(first))
    }
}

impl Selector for Holdout {
    fn choose<'a>(
        &'a mut self,
        choice: Choice<'a>,
    ) -> LocalBoxFuture<'a, Result<Option<u32>, StrategyError>> {
        Box::pin(self.best(choice))
    }
}
