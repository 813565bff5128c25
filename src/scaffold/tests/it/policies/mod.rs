//! The search policies on trees made by hand, as the shipped files write them.

mod best_first;
mod courses;
mod evolution;
mod mcts;
mod ml_master;
mod properties;
mod random;
mod repair;

use std::collections::{BTreeMap, BTreeSet};

use podium_scaffold::context::Direction;
use podium_scaffold::node::NodeRecord;
use podium_scaffold::tree_search::policy::{Ask, Policy, Told, build};
use podium_scaffold::tree_search::view::{Expansion, Tree, View};
use podium_scaffold::{Budget, Scaffold};
use podium_types::rng::Rng;

use crate::support::{budget, node, scaffold, tables};

/// A policy with its tree, moved on by hand.
pub(crate) struct Hand {
    policy: Box<dyn Policy>,
    pub(crate) tree: Tree,
    pub(crate) pending: BTreeMap<u32, Expansion>,
    pub(crate) direction: Direction,
    pub(crate) budget: Budget,
    pub(crate) seed: u64,
    next: u32,
}

/// What a policy wants: operator and parents; `wait` and the reason of a stop stand in the operator's place.
pub(crate) type Wish = (String, Vec<u32>);

pub(crate) fn wish(operator: &str, parents: &[u32]) -> Wish {
    (operator.to_owned(), parents.to_vec())
}

impl Hand {
    /// The policy of a shipped scaffold with overrides, its repairs included.
    pub(crate) fn new(id: &str, overrides: &[(&str, &str)]) -> Self {
        Self::of(&scaffold(id, overrides))
    }

    pub(crate) fn of(scaffold: &Scaffold) -> Self {
        let spec = tables(scaffold);
        Self {
            policy: build(&*spec.policy, spec.repair.as_ref()),
            tree: Tree::default(),
            pending: BTreeMap::new(),
            direction: Direction::Higher,
            budget: Budget { steps: 0, step_limit: Some(500), run_ms: 0, ..budget() },
            seed: 1,
            next: 0,
        }
    }

    /// What it wants now. Nothing changes by it.
    pub(crate) fn look(&mut self) -> Ask {
        let in_repair = BTreeSet::new();
        let (tree, pending) = (&self.tree, &self.pending);
        let view =
            View { tree, pending, in_repair: &in_repair, budget: self.budget, direction: self.direction };
        self.policy.ask(&view, &mut Rng::new(self.seed))
    }

    pub(crate) fn wants(&mut self) -> Wish {
        match self.look() {
            Ask::Expand(expansion) => (expansion.operator, expansion.parents),
            Ask::Wait => wish("wait", &[]),
            Ask::Stop { reason } => (reason, vec![]),
        }
    }

    /// Puts its wish among the pending.
    pub(crate) fn begin(&mut self) -> Wish {
        let Ask::Expand(expansion) = self.look() else { return self.wants() };
        let wish = (expansion.operator.clone(), expansion.parents.clone());
        self.pending.insert(self.next, expansion);
        self.next += 1;
        self.budget.steps += 1;
        wish
    }

    /// Finishes a pending node: good with this metric, or buggy.
    pub(crate) fn finish(&mut self, id: u32, metric: Option<f64>) {
        let work = self.pending.remove(&id).unwrap();
        let record = NodeRecord { operator: work.operator, ..node(id, &work.parents, metric) };
        self.record(record);
    }

    /// Tells of a finished node.
    pub(crate) fn record(&mut self, record: NodeRecord) {
        let id = record.id;
        self.next = self.next.max(id + 1);
        self.tree.push(record);
        let node = self.tree.get(id).unwrap();
        let in_repair = BTreeSet::new();
        let (tree, pending) = (&self.tree, &self.pending);
        let view =
            View { tree, pending, in_repair: &in_repair, budget: self.budget, direction: self.direction };
        self.policy.tell(Told { asked: node, result: node }, &view);
    }

    /// Begins and finishes one node, with one worker.
    pub(crate) fn step(&mut self, metric: Option<f64>) -> Wish {
        let (id, wish) = (self.next, self.begin());
        self.finish(id, metric);
        wish
    }

    /// One step for each metric; the wishes as `operator parents`.
    pub(crate) fn steps(&mut self, metrics: &[Option<f64>]) -> Vec<String> {
        metrics.iter().map(|metric| text(&self.step(*metric))).collect()
    }
}

/// `improve 3`, `crossover 1 4`, `draft`.
pub(crate) fn text((operator, parents): &Wish) -> String {
    let words = std::iter::once(operator.clone()).chain(parents.iter().map(u32::to_string));
    words.collect::<Vec<_>>().join(" ")
}

/// The course of `metrics` mirrored: what is best when less is better.
pub(crate) fn mirrored(metrics: &[Option<f64>]) -> Vec<Option<f64>> {
    metrics.iter().map(|metric| metric.map(|metric| 1.0 - metric)).collect()
}
