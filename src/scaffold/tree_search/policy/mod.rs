//! Search policies: which node is expanded next, and by which operator.
//!
//! A policy is *ask and tell*: a deterministic function of the finished nodes, the expansions in work, the budget
//! and its random numbers. It sees no model, no file and no clock, and a resumed run rebuilds its state by telling it
//! the same nodes again. A new policy is one file with its numbers and its [`Policy`], a variant of [`PolicySpec`] and
//! an arm in [`PolicySpec::plan`]. Greedy-like policies need no code: see [`rules`].

pub mod best_first;
pub mod evolution;
pub mod mcts;
pub mod ml_master;
pub mod random;
pub mod repair;
pub mod rules;
mod sketch;
mod uct;

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::tree_search::policy::best_first::BestFirstSpec;
use crate::tree_search::policy::evolution::EvolutionSpec;
use crate::tree_search::policy::mcts::MctsSpec;
use crate::tree_search::policy::ml_master::MlMasterSpec;
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
    /// AIRA-dojo's Monte-Carlo tree search.
    Mcts(MctsSpec),
    /// AIRA-dojo's evolution on islands.
    Evolution(EvolutionSpec),
    /// The best first, and the most unlike of equals.
    BestFirst(BestFirstSpec),
    /// ML-Master's tree search with lines, locks and shaped rewards.
    MlMaster(MlMasterSpec),
}

impl PolicySpec {
    /// The numbers of the policy that is named.
    fn plan(&self) -> &dyn Plan {
        match self {
            Self::Rules(rules) => rules,
            Self::Random(random) => random,
            Self::Mcts(mcts) => mcts,
            Self::Evolution(evolution) => evolution,
            Self::BestFirst(best_first) => best_first,
            Self::MlMaster(ml_master) => ml_master,
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

    /// Whether repairs at once need an operator of their own.
    pub(crate) fn counts_by_operator(&self) -> bool {
        self.plan().counts_by_operator()
    }
}

/// A policy's numbers, as a file has them.
pub(crate) trait Plan {
    /// What is wrong with values that are well formed.
    fn check(&self) -> Result<(), SpecError>;

    /// The operators that the policy asks for: each must be in the file.
    fn operators(&self) -> Vec<OperatorUse<'_>>;

    /// Whether the policy knows its own wishes among the nodes by their operators: repairs at once then need one that
    /// it never asks for.
    fn counts_by_operator(&self) -> bool {
        false
    }

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

    /// The operators under these fields of `policy`.
    pub(crate) fn of_policy<const N: usize>(uses: [(&str, &'a String); N]) -> Vec<Self> {
        uses.map(|(field, name)| Self::policy(field, name)).into()
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
