//! Search policies: which node is expanded next, and by which operator.
//!
//! A policy is *ask and tell*: a deterministic function of the finished nodes, the expansions in work, the budget
//! and its random numbers. It sees no model, no file and no clock, and a resumed run rebuilds its state by telling it
//! the same nodes again. A new policy is one file that implements [`Policy`], a word in
//! [`PolicyKind`] and an arm in [`build`].

mod rules;

use podium_types::rng::Rng;

use crate::node::NodeRecord;
use crate::tree_search::spec::{PolicyKind, PolicySpec};
use crate::tree_search::view::{Expansion, View};

pub use rules::Rules;

/// What a policy wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// One more node.
    Expand(Expansion),
    /// Nothing before an expansion in work has finished; with none in work, the run is over.
    Wait,
}

/// A search policy.
pub trait Policy {
    /// The next wish. Called again at once after `Expand` while a worker is free, with the wish among the pending.
    fn ask(&mut self, view: &View<'_>, rng: &mut Rng) -> Ask;

    /// A node has finished: the moment to update statistics. It is in the view from now on.
    fn tell(&mut self, _node: &NodeRecord) {}
}

/// The policy that a scaffold names, at its beginning.
pub fn build(spec: &PolicySpec) -> Box<dyn Policy> {
    match spec.kind {
        PolicyKind::Rules => Box::new(Rules::new(spec.rule.clone())),
    }
}
