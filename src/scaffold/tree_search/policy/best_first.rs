//! Best-first search (for language model agents: Koh et al. 2024, arXiv:2407.01476): the best node of the frontier is
//! expanded next, where the frontier is the good nodes that have not got all their children yet. Unlike a greedy search
//! it leaves a node after a fixed number of tries.
//!
//! Metrics of machine learning are noisy, so nodes within a tolerance of the best count as equals, and of equals the one
//! is taken whose program is least like those that were expanded already. Buggy nodes are meant to be repaired at once
//! ([`super::repair`]); one that stays buggy is never expanded.

use std::collections::BTreeMap;

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::{at_least_one, not_negative};
use crate::tree_search::policy::sketch::Sketch;
use crate::tree_search::policy::{Ask, OperatorUse, Plan, Policy, Told};
use crate::tree_search::view::{Expansion, View, value};

/// The numbers of this policy, and its operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestFirstSpec {
    /// Drafts before anything is improved.
    pub drafts: usize,
    /// Children of a node, at most.
    pub children: usize,
    /// Metrics count as equal to the best when they differ by no more than this part of it.
    pub tolerance: f64,
    /// The operator for a fresh start.
    pub draft: String,
    /// The operator for a good node.
    pub improve: String,
}

impl Plan for BestFirstSpec {
    fn check(&self) -> Result<(), SpecError> {
        at_least_one("policy.drafts", self.drafts as u64)?;
        at_least_one("policy.children", self.children as u64)?;
        not_negative("policy.tolerance", self.tolerance)
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        OperatorUse::of_policy([("draft", &self.draft), ("improve", &self.improve)])
    }

    fn policy(&self) -> Box<dyn Policy> {
        Box::new(BestFirst { spec: self.clone(), sketches: BTreeMap::new() })
    }
}

struct BestFirst {
    spec: BestFirstSpec,
    /// Of the good nodes.
    sketches: BTreeMap<u32, Sketch>,
}

impl Policy for BestFirst {
    fn ask(&mut self, view: &View<'_>, _: &mut Rng) -> Ask {
        let draft = |reason: String| {
            Ask::Expand(Expansion { operator: self.spec.draft.clone(), parents: Vec::new(), reason })
        };
        let drafts = view.drafts();
        if drafts < self.spec.drafts {
            return draft(format!("draft {} of {}", drafts + 1, self.spec.drafts));
        }
        let has_room = |node: &&NodeRecord| view.children(node.id) < self.spec.children;
        let frontier: Vec<&NodeRecord> = view.tree.good().filter(has_room).collect();
        let Some(best) = view.best_of(&frontier) else {
            // What is in work may yet open the frontier; without it only a fresh start can.
            let idle = view.pending.is_empty();
            return if idle { draft("no node has room for a child".to_owned()) } else { Ask::Wait };
        };
        let equals: Vec<&NodeRecord> =
            frontier.iter().copied().filter(|node| self.equal(node, best)).collect();
        let node = self.least_alike(&equals, view).unwrap_or(best);
        let reason = format!("one of {} at the front of {}", equals.len(), frontier.len());
        Ask::Expand(Expansion { operator: self.spec.improve.clone(), parents: vec![node.id], reason })
    }

    fn tell(&mut self, told: Told<'_>, _: &View<'_>) {
        if told.result.is_good() {
            self.sketches.insert(told.result.id, Sketch::of(&told.result.code));
        }
    }
}

impl BestFirst {
    fn equal(&self, node: &NodeRecord, best: &NodeRecord) -> bool {
        let (metric, best) = (value(node), value(best));
        metric.total_cmp(&best).is_eq() || (metric - best).abs() <= self.spec.tolerance * best.abs()
    }

    /// The node that is least like the most similar program that was expanded already; of equals the better, then the
    /// earlier.
    fn least_alike<'a>(&self, nodes: &[&'a NodeRecord], view: &View<'a>) -> Option<&'a NodeRecord> {
        let expanded: Vec<&Sketch> = self
            .sketches
            .iter()
            .filter(|(id, _)| view.children(**id) > 0)
            .map(|(_, sketch)| sketch)
            .collect();
        let likeness = |node: &NodeRecord| {
            let own = self.sketches.get(&node.id)?;
            expanded.iter().map(|other| own.likeness(other)).reduce(f64::max)
        };
        let ranked = view.ranked(nodes).into_iter().map(|node| (likeness(node).unwrap_or_default(), node));
        ranked.reduce(|least, other| if other.0 < least.0 { other } else { least }).map(|(_, node)| node)
    }
}
