//! ML-Master's Monte-Carlo tree search with parallel workers (Liu et al. 2025, arXiv:2506.16499, section 3). A worker
//! goes down from the root by UCT to a node with room for a child, then stays on that line: it debugs what is broken and
//! improves on what did not improve, until the line has something to report. The rewards are shaped: −1 for a broken
//! program, 1 for one that runs, 1 more for a new best.
//!
//! While a worker is inside, the draft's whole subtree is locked for the others, so each works on an idea of its own.
//! Children in work count against the limits. Where all is locked, a worker waits; where all is closed, it drafts.
//! Debugging is part of the search here, so repairs at once are not needed. A metric of 0 is a metric like any other.

use std::collections::{BTreeMap, BTreeSet};

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::context::Direction;
use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::{at_least_one, invalid, not_negative, share};
use crate::tree_search::policy::uct::{self, Statistics};
use crate::tree_search::policy::{Ask, OperatorUse, Plan, Policy, Told};
use crate::tree_search::view::{Expansion, View, value};

/// The numbers of this policy, and its operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlMasterSpec {
    /// Drafts, at most.
    pub drafts: usize,
    /// Improvements of a good node, at most.
    pub improvements: usize,
    /// Repairs of a buggy node, at most; none any more once one of them is good.
    pub repairs: usize,
    /// A buggy node of this debug depth is the last of its chain.
    pub max_debug_depth: u32,
    /// From this debug depth on, a broken repair is reported and its line given up.
    pub report_debug_depth: u32,
    /// A metric has improved when it is better by more than this, in its own unit.
    pub improvement: f64,
    /// Children without an improvement that a line goes on with; the next one closes it.
    pub failures: u32,
    /// Weight of exploration.
    pub exploration: ExplorationSpec,
    /// The operator for a fresh start.
    pub draft: String,
    /// The operator for a buggy node.
    pub debug: String,
    /// The operator for a good node.
    pub improve: String,
}

/// A weight that falls from `start` to `floor`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplorationSpec {
    /// At the beginning.
    pub start: f64,
    /// At the end.
    pub floor: f64,
    /// What it loses with each step once it falls.
    pub decay: f64,
    /// It falls from this share of the steps on, or sooner: from `drafts · improvements²` steps on.
    pub falls_at: f64,
    /// From this share of the steps on it is the floor.
    pub floor_at: f64,
}

impl Plan for MlMasterSpec {
    fn check(&self) -> Result<(), SpecError> {
        at_least_one("policy.drafts", self.drafts as u64)?;
        at_least_one("policy.improvements", self.improvements as u64)?;
        at_least_one("policy.repairs", self.repairs as u64)?;
        not_negative("policy.improvement", self.improvement)?;
        let exploration = &self.exploration;
        not_negative("policy.exploration.floor", exploration.floor)?;
        not_negative("policy.exploration.decay", exploration.decay)?;
        share("policy.exploration.falls_at", exploration.falls_at)?;
        share("policy.exploration.floor_at", exploration.floor_at)?;
        if !(exploration.start.is_finite() && exploration.start >= exploration.floor) {
            return Err(invalid("policy.exploration.start", "must be a number from the floor on"));
        }
        Ok(())
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        OperatorUse::of_policy([("draft", &self.draft), ("debug", &self.debug), ("improve", &self.improve)])
    }

    fn policy(&self) -> Box<dyn Policy> {
        Box::new(MlMaster {
            spec: self.clone(),
            statistics: Statistics::default(),
            standings: BTreeMap::new(),
            lines: Vec::new(),
            best: f64::NAN,
        })
    }
}

/// Where a node stands on its line.
#[derive(Clone, Copy, Debug)]
struct Standing {
    /// The best metric on its path as far as it counts as improved; NaN: none yet.
    best: f64,
    /// Children since then that did not improve on it.
    failures: u32,
    /// Nothing is made from it any more.
    closed: bool,
    /// It did not improve, and its line went on with it: its one child is the line's next.
    passing: bool,
}

struct MlMaster {
    spec: MlMasterSpec,
    statistics: Statistics,
    standings: BTreeMap<u32, Standing>,
    /// Nodes whose line goes on with a child of theirs, the oldest first.
    lines: Vec<u32>,
    /// The best metric so far; NaN: none yet.
    best: f64,
}

impl Policy for MlMaster {
    fn ask(&mut self, view: &View<'_>, _: &mut Rng) -> Ask {
        let lines: BTreeSet<u32> = self.lines.iter().copied().filter(|id| view.children(*id) == 0).collect();
        if let Some(node) =
            self.lines.iter().filter(|id| lines.contains(id)).find_map(|id| view.tree.get(*id))
        {
            return self.expand(Some(node), "its line goes on");
        }
        if view.drafts() < self.spec.drafts {
            return self.expand(None, &format!("draft {} of {}", view.drafts() + 1, self.spec.drafts));
        }
        let ends = self.ends(view);
        match self.descend(&ends, view) {
            Some(node) => self.expand(Some(node), &format!("by UCT, of {} with room", ends.len())),
            None if view.pending.is_empty() => self.expand(None, "every branch is closed"),
            None => Ask::Wait,
        }
    }

    fn tell(&mut self, told: Told<'_>, view: &View<'_>) {
        let node = told.result;
        let parent = told.asked.parents.first().and_then(|parent| self.standings.get(parent)).copied();
        self.lines.retain(|id| view.tree.children(*id).is_empty());
        let blank = Standing { best: f64::NAN, failures: 0, closed: false, passing: false };
        let before = Standing { closed: false, passing: false, ..parent.unwrap_or(blank) };
        let (standing, reports) = self.stand(node, before, view);
        if reports {
            self.statistics.back_up(&view.tree.path(node.id), Some(self.reward(node, view.direction)));
        } else {
            self.lines.push(node.id);
        }
        self.standings.insert(node.id, standing);
        if node.is_good() && view.direction.better(value(node), self.best) {
            self.best = value(node);
        }
    }
}

impl MlMaster {
    fn expand(&self, node: Option<&NodeRecord>, why: &str) -> Ask {
        let operator = match node {
            None => &self.spec.draft,
            Some(node) if node.is_good() => &self.spec.improve,
            Some(_) => &self.spec.debug,
        };
        let parents = node.map(|node| node.id).into_iter().collect();
        Ask::Expand(Expansion { operator: operator.clone(), parents, reason: why.to_owned() })
    }

    /// Where a node stands that was made on a line that stood `before`, and whether the line has something to report.
    fn stand(&self, node: &NodeRecord, before: Standing, view: &View<'_>) -> (Standing, bool) {
        if !node.is_good() {
            let depth = view.tree.debug_depth(node.id);
            let closed = depth >= self.spec.max_debug_depth;
            return (Standing { closed, ..before }, closed || depth >= self.spec.report_debug_depth);
        }
        let gain = match view.direction {
            Direction::Lower => before.best - value(node),
            Direction::Higher => value(node) - before.best,
        };
        if before.best.is_nan() || gain > self.spec.improvement {
            return (Standing { best: value(node), failures: 0, ..before }, true);
        }
        let closed = before.failures >= self.spec.failures;
        let failures = before.failures.saturating_add(1);
        (Standing { failures, closed, passing: !closed, ..before }, closed)
    }

    fn reward(&self, node: &NodeRecord, direction: Direction) -> f64 {
        match node.is_good() {
            false => -1.0,
            true if direction.better(value(node), self.best) => 2.0,
            true => 1.0,
        }
    }

    /// The nodes with room for a child, in subtrees where no worker is.
    fn ends(&self, view: &View<'_>) -> BTreeSet<u32> {
        let draft_of = |id: u32| view.tree.path(id).last().map(|node| node.id);
        let working = view.pending.values().filter_map(|work| work.parents.first());
        let locked: BTreeSet<u32> = working.filter_map(|id| draft_of(*id)).collect();
        let has_room = |node: &&NodeRecord| {
            let children = view.children(node.id);
            match self.standings.get(&node.id) {
                None => false,
                Some(standing) if standing.closed => false,
                Some(standing) if standing.passing => children == 0,
                Some(_) if node.is_good() => children < self.spec.improvements,
                Some(_) => children < self.spec.repairs && !is_mended(node.id, view),
            }
        };
        let free = |node: &&NodeRecord| draft_of(node.id).is_some_and(|draft| !locked.contains(&draft));
        view.tree.nodes().filter(has_room).filter(free).map(|node| node.id).collect()
    }

    /// From the root to the first node with room on the way, always to the child with the largest bound among those
    /// below which there is one.
    fn descend<'a>(&self, ends: &BTreeSet<u32>, view: &View<'a>) -> Option<&'a NodeRecord> {
        let lead: BTreeSet<u32> =
            ends.iter().flat_map(|id| view.tree.path(*id)).map(|node| node.id).collect();
        let exploration = self.exploration(view);
        let drafts = view.tree.nodes().filter(|node| node.parents.is_empty());
        let mut children: Vec<u32> = drafts.map(|node| node.id).collect();
        let mut above = None;
        loop {
            let visits = self.statistics.of(above).count;
            let bounds = children.iter().filter(|id| lead.contains(id)).map(|id| {
                let own = self.statistics.of(Some(*id));
                (*id, uct::bound(own.mean().unwrap_or_default(), exploration, visits, own.count))
            });
            let (id, _) = uct::highest(bounds)?;
            if ends.contains(&id) {
                return view.tree.get(id);
            }
            children = view.tree.children(id).to_vec();
            above = Some(id);
        }
    }

    /// The weight of exploration as of now.
    fn exploration(&self, view: &View<'_>) -> f64 {
        let spec = &self.spec.exploration;
        let (step, limit) = (f64::from(view.budget.steps), view.budget.step_limit.map(f64::from));
        if limit.is_some_and(|limit| step >= spec.floor_at * limit) {
            return spec.floor;
        }
        let spread = self.spec.improvements.saturating_mul(self.spec.improvements);
        let full = self.spec.drafts.saturating_mul(spread) as f64;
        let falls = limit.map_or(full, |limit| full.min(spec.falls_at * limit));
        (spec.start - spec.decay * (step - falls).max(0.0)).max(spec.floor)
    }
}

/// Whether a buggy node has a good child.
fn is_mended(id: u32, view: &View<'_>) -> bool {
    view.tree.children(id).iter().filter_map(|child| view.tree.get(*child)).any(NodeRecord::is_good)
}
