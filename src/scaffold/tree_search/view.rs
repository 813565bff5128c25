//! The tree as a search policy sees it: the finished nodes, the expansions in work, and the usual questions about
//! both. Everything here is a function of the journal; ids, not positions, link nodes, so the order of completion
//! never matters except where "earliest" is asked for, and then it means first finished.

use std::collections::BTreeMap;

use crate::context::{Budget, Direction};
use crate::node::NodeRecord;

/// One request to grow the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The operator.
    pub operator: String,
    /// The nodes to make the new one from.
    pub parents: Vec<u32>,
    /// Why, in a few words, for the journal.
    pub reason: String,
}

/// The finished nodes of a run, in the order in which they finished.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Placed>,
    places: BTreeMap<u32, usize>,
}

#[derive(Clone, Debug)]
struct Placed {
    record: NodeRecord,
    debug_depth: u32,
    children: usize,
}

impl Tree {
    /// Adds a finished node. Its parents have finished before: a policy can only name finished nodes.
    pub fn push(&mut self, record: NodeRecord) {
        let debug_depth = record
            .parents
            .first()
            .and_then(|parent| self.placed(*parent))
            .filter(|parent| !parent.record.is_good())
            .map_or(0, |parent| parent.debug_depth + 1);
        for parent in &record.parents {
            if let Some(parent) = self.places.get(parent).and_then(|place| self.nodes.get_mut(*place)) {
                parent.children += 1;
            }
        }
        self.places.insert(record.id, self.nodes.len());
        self.nodes.push(Placed { record, debug_depth, children: 0 });
    }

    /// The node with this number, once it has finished.
    pub fn get(&self, id: u32) -> Option<&NodeRecord> {
        self.placed(id).map(|placed| &placed.record)
    }

    /// All finished nodes.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = &NodeRecord> {
        self.nodes.iter().map(|placed| &placed.record)
    }

    /// The nodes that may be built upon and handed in.
    pub fn good(&self) -> impl DoubleEndedIterator<Item = &NodeRecord> {
        self.nodes().filter(|node| node.is_good())
    }

    /// The good node with the best metric; the earliest of equals; one without a number only when there is no other.
    pub fn best(&self, direction: Direction) -> Option<&NodeRecord> {
        best_of(self.good(), direction)
    }

    /// 0 unless the node was made from a buggy one; then one more than that one's.
    pub fn debug_depth(&self, id: u32) -> u32 {
        self.placed(id).map_or(0, |placed| placed.debug_depth)
    }

    fn placed(&self, id: u32) -> Option<&Placed> {
        self.nodes.get(*self.places.get(&id)?)
    }
}

/// The node with the best metric; the earliest of equals.
fn best_of<'a>(nodes: impl Iterator<Item = &'a NodeRecord>, direction: Direction) -> Option<&'a NodeRecord> {
    nodes.reduce(|best, node| if direction.better(value(node), value(best)) { node } else { best })
}

/// A node's metric; NaN when it has none.
pub fn value(node: &NodeRecord) -> f64 {
    node.metric.map_or(f64::NAN, |metric| metric.0)
}

/// What a policy decides upon.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The finished nodes.
    pub tree: &'a Tree,
    /// The expansions in work, by the number of the node they will make.
    pub pending: &'a BTreeMap<u32, Expansion>,
    /// What is left.
    pub budget: Budget,
    /// Which way the metric improves.
    pub direction: Direction,
}

impl<'a> View<'a> {
    /// The one of `nodes` with the best metric; the earliest of equals.
    pub fn best_of(&self, nodes: &[&'a NodeRecord]) -> Option<&'a NodeRecord> {
        best_of(nodes.iter().copied(), self.direction)
    }

    /// Drafts, those in work included.
    pub fn drafts(&self) -> usize {
        let finished = self.tree.nodes().filter(|node| node.parents.is_empty()).count();
        finished + self.pending.values().filter(|expansion| expansion.parents.is_empty()).count()
    }

    /// Buggy nodes without a child, in work or finished, of at most this debug depth.
    pub fn buggy_leaves(&self, max_debug_depth: u32) -> Vec<&'a NodeRecord> {
        self.tree
            .nodes
            .iter()
            .filter(|placed| !placed.record.is_good() && placed.children == 0)
            .filter(|placed| placed.debug_depth <= max_debug_depth)
            .filter(|placed| !self.pending.values().any(|work| work.parents.contains(&placed.record.id)))
            .map(|placed| &placed.record)
            .collect()
    }
}
