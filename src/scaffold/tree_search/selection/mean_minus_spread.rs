//! The best metric less its spread: a node that is a little worse and much steadier between folds is the safer one to
//! hand in. Among the best `top` by metric the winner is the one with the best `metric ∓ weight · spread`, where the
//! spread is the standard deviation between folds of the signal that the metric was taken from; a node without folds
//! keeps the largest spread among them, so that not measuring is never an advantage.

use futures_util::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

use crate::context::Direction;
use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::{at_least_one, invalid};
use crate::strategy::StrategyError;
use crate::tree_search::selection::{Choice, Selector};
use crate::tree_search::view::{Tree, value};

/// The numbers of this rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanMinusSpreadSpec {
    /// Nodes that are compared, the best by metric.
    pub top: usize,
    /// Times the spread.
    pub weight: f64,
}

impl MeanMinusSpreadSpec {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        at_least_one("selection.top", self.top as u64)?;
        if !(self.weight.is_finite() && self.weight >= 0.0) {
            return Err(invalid("selection.weight", "must be a number from 0"));
        }
        Ok(())
    }
}

/// The rule.
pub(crate) struct MeanMinusSpread(pub(super) MeanMinusSpreadSpec);

impl Selector for MeanMinusSpread {
    fn choose<'a>(
        &'a mut self,
        choice: Choice<'a>,
    ) -> LocalBoxFuture<'a, Result<Option<u32>, StrategyError>> {
        Box::pin(std::future::ready(Ok(choose(&self.0, choice.tree, choice.direction))))
    }
}

fn choose(spec: &MeanMinusSpreadSpec, tree: &Tree, direction: Direction) -> Option<u32> {
    let mut best = tree.ranked(direction);
    best.truncate(spec.top);
    let spread = |node: &NodeRecord| {
        let source = node.metric_source.as_deref()?;
        node.signal(source)?.spread.map(|spread| spread.0).filter(|spread| spread.is_finite())
    };
    let largest = best.iter().filter_map(|node| spread(node)).fold(0.0, f64::max);
    let careful = |node: &NodeRecord| {
        let loss = spec.weight * spread(node).unwrap_or(largest);
        match direction {
            Direction::Lower => value(node) + loss,
            Direction::Higher => value(node) - loss,
        }
    };
    let winner = best
        .into_iter()
        .reduce(|best, node| if direction.better(careful(node), careful(best)) { node } else { best });
    winner.map(|node| node.id)
}

#[cfg(test)]
mod tests {
    use podium_types::number::Number;
    use podium_types::verdict::Verdict;

    use super::*;
    use crate::node::Signal;

    fn node(id: u32, metric: f64, spread: Option<f64>) -> NodeRecord {
        let signal = Signal { source: "folds".into(), value: Number(metric), spread: spread.map(Number) };
        NodeRecord {
            id,
            parents: Vec::new(),
            operator: "draft".into(),
            plan: String::new(),
            code: String::new(),
            code_sha256: String::new(),
            buggy: None,
            metric: Some(Number(metric)),
            signals: vec![signal],
            metric_source: Some("folds".into()),
            flags: Vec::new(),
            summary: String::new(),
            predictions: std::collections::BTreeMap::new(),
            submission: Verdict::Missing { found: String::new() },
            execution_ms: 0,
            reason: String::new(),
        }
    }

    #[test]
    fn steady_nodes_win_among_the_best() {
        let nodes = [
            node(0, 0.90, Some(0.10)),
            node(1, 0.89, Some(0.01)),
            node(2, 0.70, Some(0.0)),
            node(3, 0.91, None),
        ];
        let mut tree = Tree::default();
        for node in nodes {
            tree.push(node);
        }
        let cases = [
            (4, 1.0, Direction::Higher, 1),
            (4, 0.0, Direction::Higher, 3),
            (1, 1.0, Direction::Higher, 3),
            (2, 1.0, Direction::Higher, 3),
            (4, 9.0, Direction::Higher, 1),
            (4, 30.0, Direction::Higher, 2),
            (4, 1.0, Direction::Lower, 2),
        ];
        for (top, weight, direction, expected) in cases {
            let spec = MeanMinusSpreadSpec { top, weight };
            assert_eq!(choose(&spec, &tree, direction), Some(expected), "{spec:?} {direction}");
        }
        assert_eq!(
            choose(&MeanMinusSpreadSpec { top: 3, weight: 1.0 }, &Tree::default(), Direction::Lower),
            None
        );
    }
}
