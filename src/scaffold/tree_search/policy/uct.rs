//! What the finished expansions came to, summed up for each node on the way from the root, and the bound by which a
//! tree search weighs a promising child against a little known one (UCT: Kocsis and Szepesvári 2006, Bandit based
//! Monte-Carlo planning).

use std::collections::BTreeMap;

use crate::node::NodeRecord;

/// What came of the expansions below a node, itself included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Visits {
    /// Expansions that came to their end.
    pub(crate) count: usize,
    /// Those that came to a value.
    pub(crate) valued: usize,
    /// The sum of their values.
    pub(crate) sum: f64,
}

impl Visits {
    fn add(&mut self, value: Option<f64>) {
        self.count += 1;
        self.valued += usize::from(value.is_some());
        self.sum += value.unwrap_or_default();
    }

    /// The mean of the values there are; none without any.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.valued > 0).then(|| self.sum / self.valued as f64)
    }
}

/// The visits of a whole tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    nodes: BTreeMap<u32, Visits>,
    root: Visits,
}

impl Statistics {
    /// Backs up what an expansion came to: at each node of its path and at the root.
    pub(crate) fn back_up(&mut self, path: &[&NodeRecord], value: Option<f64>) {
        for node in path {
            self.nodes.entry(node.id).or_default().add(value);
        }
        self.root.add(value);
    }

    /// The visits of a node; `None` is the root, from which drafts are made.
    pub(crate) fn of(&self, node: Option<u32>) -> Visits {
        node.map_or(self.root, |id| self.nodes.get(&id).copied().unwrap_or_default())
    }
}

/// The upper bound: `value + c · sqrt(ln(parent's visits) / visits)`; infinite without a visit.
pub(crate) fn bound(value: f64, exploration: f64, parent_visits: usize, visits: usize) -> f64 {
    if visits == 0 {
        return f64::INFINITY;
    }
    value + exploration * ((parent_visits.max(1) as f64).ln() / visits as f64).sqrt()
}

/// The candidate with the largest bound; the earliest of equals.
pub(crate) fn highest(bounds: impl Iterator<Item = (u32, f64)>) -> Option<(u32, f64)> {
    bounds.reduce(|best, other| if other.1 > best.1 { other } else { best })
}
