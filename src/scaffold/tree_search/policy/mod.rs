//! Search policies: which node is expanded next, and by which operator.
//!
//! A policy is *ask and tell*: a deterministic function of the finished nodes, the expansions in work, the budget
//! and its random numbers. It sees no model, no file and no clock, and a resumed run rebuilds its state by telling it
//! the same nodes again. A new policy is one file with its numbers and its [`Policy`], a variant of [`PolicySpec`] and
//! an arm in [`PolicySpec::plan`]. Greedy-like policies need no code: see [`rules`].

pub mod random;
pub mod repair;
pub mod rules;

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::tree_search::policy::random::RandomSpec;
use crate::tree_search::policy::repair::{Repair, RepairSpec};
use crate::tree_search::policy::rules::RulesSpec;
use crate::tree_search::view::{Expansion, View};

/// The policies that a file may name, each with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PolicySpec {
    /// An ordered list of rules.
    Rules(RulesSpec),
    /// A coin and any node.
    Random(RandomSpec),
}

impl PolicySpec {
    /// The numbers of the policy that is named.
    fn plan(&self) -> &dyn Plan {
        match self {
            Self::Rules(rules) => rules,
            Self::Random(random) => random,
        }
    }

    /// What is wrong with values that are well formed.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        self.plan().check()
    }

    /// The operators that the policy asks for.
    pub(crate) fn operators(&self) -> Vec<OperatorUse<'_>> {
        self.plan().operators()
    }
}

/// A policy's numbers, as a file has them.
pub(crate) trait Plan {
    /// What is wrong with values that are well formed.
    fn check(&self) -> Result<(), SpecError>;

    /// The operators that the policy asks for: each must be in the file.
    fn operators(&self) -> Vec<OperatorUse<'_>>;

    /// The policy at its beginning.
    fn policy(&self) -> Box<dyn Policy>;
}

/// An operator that a policy names, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorUse<'a> {
    /// Path of the value in the file.
    pub path: String,
    /// The operator.
    pub name: &'a str,
}

impl<'a> OperatorUse<'a> {
    /// The operator under `policy.<field>`.
    pub(crate) fn policy(field: &str, name: &'a str) -> Self {
        Self { path: format!("policy.{field}"), name }
    }
}

/// What a policy wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// One more node.
    Expand(Expansion),
    /// Nothing before an expansion in work has finished; with none in work, the run is over.
    Wait,
    /// Nothing any more: the run is over once all in work has finished.
    Stop {
        /// Why, in a few words.
        reason: String,
    },
}

/// What came of an expansion.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The node that was asked for.
    pub asked: &'a NodeRecord,
    /// What it came to: itself or, where buggy nodes are repaired at once, the last of its repairs.
    pub result: &'a NodeRecord,
}

/// A search policy.
pub trait Policy {
    /// The next wish. Called again at once after `Expand` while a worker is free, with the wish among the pending.
    fn ask(&mut self, view: &View<'_>, rng: &mut Rng) -> Ask;

    /// An expansion has come to its end: the moment to update statistics. Its nodes are in the view.
    fn tell(&mut self, _told: Told<'_>, _view: &View<'_>) {}
}

/// The policy that a scaffold names, at its beginning, with repairs at once where it asks for them.
pub fn build(spec: &PolicySpec, repair: Option<&RepairSpec>) -> Box<dyn Policy> {
    let policy = spec.plan().policy();
    match repair {
        Some(repair) => Box::new(Repair::new(policy, repair.clone())),
        None => policy,
    }
}
