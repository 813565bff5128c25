//! The tree as a search policy sees it: the finished nodes, the expansions in work, and the usual questions about
//! both. Everything here is a function of the journal; ids, not positions, link nodes, so the order of completion
//! never matters except where "earliest" is asked for, and then it means first finished.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

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
    children: Vec<u32>,
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
                parent.children.push(record.id);
            }
        }
        self.places.insert(record.id, self.nodes.len());
        self.nodes.push(Placed { record, debug_depth, children: Vec::new() });
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

    /// The good nodes from the best; of equals the earlier first; those without a number last.
    pub fn ranked(&self, direction: Direction) -> Vec<&NodeRecord> {
        best_first(self.good().collect(), direction)
    }

    /// The finished children of a node, in the order in which they finished.
    pub fn children(&self, id: u32) -> &[u32] {
        self.placed(id).map_or(&[], |placed| &placed.children)
    }

    /// The node and its first parents up to the draft it comes from, the node itself first.
    pub fn path(&self, id: u32) -> Vec<&NodeRecord> {
        let up = |node: &&NodeRecord| node.parents.first().and_then(|parent| self.get(*parent));
        std::iter::successors(self.get(id), up).collect()
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

/// `nodes` from the best; of equals the earlier first; those without a number last.
pub(crate) fn best_first(mut nodes: Vec<&NodeRecord>, direction: Direction) -> Vec<&NodeRecord> {
    nodes.sort_by(|left, right| order(direction, value(left), value(right)));
    nodes
}

/// The better metric first; NaN last.
fn order(direction: Direction, left: f64, right: f64) -> Ordering {
    if direction.better(left, right) {
        Ordering::Less
    } else if direction.better(right, left) {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// A node's metric; NaN when it has none.
pub fn value(node: &NodeRecord) -> f64 {
    node.metric.map_or(f64::NAN, |metric| metric.0)
}

/// Metrics as shares of a range, more is better: 0 is the worst of some nodes, 1 the best.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    least: f64,
    most: f64,
    direction: Direction,
}

impl Scale {
    /// A metric on this scale: 0.5 where all nodes are equal, 0 for one that is not finite.
    pub fn of(&self, value: f64) -> f64 {
        match self.direction {
            _ if !value.is_finite() => 0.0,
            _ if self.most <= self.least => 0.5,
            Direction::Higher => (value - self.least) / (self.most - self.least),
            Direction::Lower => (self.most - value) / (self.most - self.least),
        }
    }
}

/// What a policy decides upon.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The finished nodes.
    pub tree: &'a Tree,
    /// The expansions in work, by the number of the node they will make.
    pub pending: &'a BTreeMap<u32, Expansion>,
    /// Finished nodes that are being repaired (see [`crate::tree_search::policy::repair`]): what they will come to is
    /// not known yet.
    pub in_repair: &'a BTreeSet<u32>,
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

    /// `nodes` from the best; of equals the earlier first; those without a number last.
    pub fn ranked(&self, nodes: &[&'a NodeRecord]) -> Vec<&'a NodeRecord> {
        best_first(nodes.to_vec(), self.direction)
    }

    /// The better of two metrics first; NaN last.
    pub fn order(&self, left: f64, right: f64) -> Ordering {
        order(self.direction, left, right)
    }

    /// The scale on which the worst of `nodes` is 0 and the best 1.
    pub fn scale(&self, nodes: impl Iterator<Item = &'a NodeRecord>) -> Scale {
        let finite = nodes.map(value).filter(|value| value.is_finite());
        let (least, most) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        Scale { least, most, direction: self.direction }
    }

    /// The metrics of `nodes` on their own [`Scale`], in their order.
    pub fn scaled(&self, nodes: &[&'a NodeRecord]) -> Vec<f64> {
        let scale = self.scale(nodes.iter().copied());
        nodes.iter().map(|node| scale.of(value(node))).collect()
    }

    /// The share of the steps or of the run time that is used, whichever is more: 0 to 1; 0 without limits.
    pub fn progress(&self) -> f64 {
        let share = |used: u64, limit: Option<u64>| {
            limit.filter(|limit| *limit > 0).map_or(0.0, |limit| used as f64 / limit as f64)
        };
        let steps = share(u64::from(self.budget.steps), self.budget.step_limit.map(u64::from));
        steps.max(share(self.budget.run_ms, self.budget.run_limit_ms)).min(1.0)
    }

    /// Drafts, those in work included.
    pub fn drafts(&self) -> usize {
        let finished = self.tree.nodes().filter(|node| node.parents.is_empty()).count();
        finished + self.pending.values().filter(|expansion| expansion.parents.is_empty()).count()
    }

    /// Children of a node that are in work.
    pub fn children_in_work(&self, id: u32) -> usize {
        self.pending.values().filter(|work| work.parents.contains(&id)).count()
    }

    /// Children of a node, those in work included.
    pub fn children(&self, id: u32) -> usize {
        self.tree.children(id).len() + self.children_in_work(id)
    }

    /// Expansions in work below each node, along first parents up to the draft. Nodes without any are left out.
    pub fn in_work_below(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        let parents = self.pending.values().filter_map(|work| work.parents.first());
        for node in parents.flat_map(|parent| self.tree.path(*parent)) {
            *counts.entry(node.id).or_default() += 1;
        }
        counts
    }

    /// Buggy nodes without a child, in work or finished, of at most this debug depth.
    pub fn buggy_leaves(&self, max_debug_depth: u32) -> Vec<&'a NodeRecord> {
        self.tree
            .nodes
            .iter()
            .filter(|placed| !placed.record.is_good() && placed.children.is_empty())
            .filter(|placed| placed.debug_depth <= max_debug_depth)
            .filter(|placed| self.children_in_work(placed.record.id) == 0)
            .map(|placed| &placed.record)
            .collect()
    }
}
