//! Monte-Carlo tree search as AIRA-dojo has it (Toledo et al. 2025, arXiv:2507.02554, section 4): drafts hang below the
//! root, the search goes down by UCT to a leaf and gives it a fixed number of children in a row. The metrics of good
//! nodes, scaled to 0 (worst) to 1 (best), are backed up to the root along first parents.
//!
//! Buggy nodes are meant to be repaired at once ([`super::repair`]); what an expansion came to counts when its repairs
//! have ended. One that stays buggy counts as a visit of the value 0 and is a dead end; a node, or the root, below which
//! there are only dead ends is a leaf again. So several drafts that all fail lead to new drafts, never to an improvement
//! of a broken program. Work in flight counts as a visit of the value 0 too, which sends other workers elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::{at_least_one, not_negative};
use crate::tree_search::policy::uct::{self, Statistics};
use crate::tree_search::policy::{Ask, OperatorUse, Plan, Policy, Told};
use crate::tree_search::view::{Expansion, View, value};

/// The numbers of this policy, and its operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MctsSpec {
    /// Drafts at the root, and children of each leaf that is expanded.
    pub children: usize,
    /// Weight of exploration against scaled metrics.
    pub exploration: f64,
    /// The operator for a fresh start.
    pub draft: String,
    /// The operator for a good node.
    pub improve: String,
}

impl Plan for MctsSpec {
    fn check(&self) -> Result<(), SpecError> {
        at_least_one("policy.children", self.children as u64)?;
        not_negative("policy.exploration", self.exploration)
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        OperatorUse::of_policy([("draft", &self.draft), ("improve", &self.improve)])
    }

    fn counts_by_operator(&self) -> bool {
        true
    }

    fn policy(&self) -> Box<dyn Policy> {
        Box::new(Mcts { spec: self.clone(), statistics: Statistics::default(), ends: BTreeMap::new() })
    }
}

/// A node of the tree that this policy sees; `None` is the root. Repairs are no nodes of it: an expansion is what it
/// came to.
type Place = Option<u32>;

struct Mcts {
    spec: MctsSpec,
    statistics: Statistics,
    /// What the children of each place came to.
    ends: BTreeMap<Place, Vec<u32>>,
}

impl Policy for Mcts {
    fn ask(&mut self, view: &View<'_>, _: &mut Rng) -> Ask {
        let begun = self.begun(view);
        if let Some((place, number)) =
            begun.iter().find(|(place, begun)| self.is_open(**place, **begun, view))
        {
            let number = number % self.spec.children + 1;
            return self.expand(*place, &format!("child {number} of {}", self.spec.children));
        }
        let leaves = self.leaves(&begun, view);
        match self.descend(&leaves, view) {
            Some(place) => self.expand(place, &format!("by UCT, of {} leaves", leaves.len())),
            None => Ask::Wait,
        }
    }

    fn tell(&mut self, told: Told<'_>, view: &View<'_>) {
        let parent = told.asked.parents.first().copied();
        self.ends.entry(parent).or_default().push(told.result.id);
        let metric = value(told.result);
        let metric = (told.result.is_good() && metric.is_finite()).then_some(metric);
        self.statistics.back_up(&view.tree.path(told.result.id), metric);
    }
}

impl Mcts {
    fn expand(&self, place: Place, why: &str) -> Ask {
        let (operator, reason) = match place {
            None => (&self.spec.draft, format!("the root, {why}")),
            Some(id) => (&self.spec.improve, format!("node {id}, {why}")),
        };
        let parents = place.into_iter().collect();
        Ask::Expand(Expansion { operator: operator.clone(), parents, reason })
    }

    fn ends(&self, place: Place) -> &[u32] {
        self.ends.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The children that were asked for so far, by place: those in work and in repair included, repairs not.
    fn begun(&self, view: &View<'_>) -> BTreeMap<Place, usize> {
        let finished = view.tree.nodes().map(|node| (&node.operator, &node.parents));
        let pending = view.pending.values().map(|work| (&work.operator, &work.parents));
        let mut begun = BTreeMap::new();
        for (operator, parents) in finished.chain(pending) {
            if *operator == self.spec.draft || *operator == self.spec.improve {
                *begun.entry(parents.first().copied()).or_default() += 1;
            }
        }
        begun
    }

    /// Whether a place has got some of its children and not yet all.
    fn is_open(&self, place: Place, begun: usize, view: &View<'_>) -> bool {
        !begun.is_multiple_of(self.spec.children) && place.is_none_or(|id| is_good(id, view))
    }

    /// The root and the good nodes of which no child is open, and none came to a good end.
    fn leaves(&self, begun: &BTreeMap<Place, usize>, view: &View<'_>) -> BTreeSet<Place> {
        let ends = self.ends.values().flatten().filter(|id| is_good(**id, view)).map(|id| Some(*id));
        let is_leaf = |place: &Place| {
            let ends = self.ends(*place);
            let begun = begun.get(place).copied().unwrap_or_default();
            begun <= ends.len() && !ends.iter().any(|id| is_good(*id, view))
        };
        ends.chain([None]).filter(is_leaf).collect()
    }

    /// From the root to a leaf, always to the child with the largest bound among those below which there is a leaf.
    fn descend(&self, leaves: &BTreeSet<Place>, view: &View<'_>) -> Option<Place> {
        let lead: BTreeSet<u32> =
            leaves.iter().flatten().flat_map(|id| view.tree.path(*id)).map(|node| node.id).collect();
        let scale = view.scale(view.tree.good());
        let below = view.in_work_below();
        let in_work = |id: u32| below.get(&id).copied().unwrap_or_default();
        let mut place = None;
        let mut visits = self.statistics.of(None).count + view.pending.len();
        while !leaves.contains(&place) {
            let children = self.ends(place).iter().filter(|id| lead.contains(id) && is_good(**id, view));
            let bounds = children.map(|id| {
                let own = self.statistics.of(Some(*id));
                let count = own.count + in_work(*id);
                let total = own.mean().map_or(0.0, |mean| scale.of(mean)) * own.valued as f64;
                (*id, uct::bound(total / count.max(1) as f64, self.spec.exploration, visits, count))
            });
            let (id, _) = uct::highest(bounds)?;
            place = Some(id);
            visits = self.statistics.of(place).count + in_work(id);
        }
        Some(place)
    }
}

fn is_good(id: u32, view: &View<'_>) -> bool {
    view.tree.get(id).is_some_and(NodeRecord::is_good)
}
