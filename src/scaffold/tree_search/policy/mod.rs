//! Search policies: which node is expanded next, and by which operator.
//!
//! A policy is *ask and tell*: a deterministic function of the finished nodes, the expansions in work, the budget
//! and its random numbers. It sees no model, no file and no clock, and a resumed run rebuilds its state by telling it
//! the same nodes again. A new policy is one file with its numbers ([`Plan`]) and its [`Policy`], and a line in
//! `ship`, or in a program of the user's own one in its registry. Greedy-like policies need no code: see [`rules`].

pub mod best_first;
pub mod evolution;
pub mod mcts;
pub mod ml_master;
pub mod random;
pub mod repair;
pub mod rules;
mod sketch;
mod uct;

use std::sync::Arc;

use podium_types::rng::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::node::NodeRecord;
use crate::parts::Kinds;
use crate::spec::SpecError;
use crate::tree_search::policy::best_first::BestFirstSpec;
use crate::tree_search::policy::evolution::EvolutionSpec;
use crate::tree_search::policy::mcts::MctsSpec;
use crate::tree_search::policy::ml_master::MlMasterSpec;
use crate::tree_search::policy::random::RandomSpec;
use crate::tree_search::policy::repair::{Repair, RepairSpec};
use crate::tree_search::policy::rules::RulesSpec;
use crate::tree_search::view::{Expansion, View};

/// The policies of this package, by the words that files use.
pub(crate) fn ship(kinds: &mut Kinds<dyn Plan>) {
    kinds.insert("rules", read::<RulesSpec>);
    kinds.insert("random", read::<RandomSpec>);
    kinds.insert("mcts", read::<MctsSpec>);
    kinds.insert("evolution", read::<EvolutionSpec>);
    kinds.insert("best_first", read::<BestFirstSpec>);
    kinds.insert("ml_master", read::<MlMasterSpec>);
}

/// Reads a policy's numbers.
pub(crate) fn read<P>(table: toml::Table) -> Result<(Arc<dyn Plan>, Json), toml::de::Error>
where
    P: Plan + Serialize + DeserializeOwned + 'static,
{
    let plan: P = table.try_into()?;
    let values = serde_json::to_value(&plan).unwrap_or_default();
    Ok((Arc::new(plan), values))
}

/// A policy's numbers, as a file has them.
pub trait Plan: std::fmt::Debug + Send + Sync {
    /// What is wrong with values that are well formed.
    fn check(&self) -> Result<(), SpecError>;

    /// The operators that the policy asks for: each must be in the file.
    fn operators(&self) -> Vec<OperatorUse<'_>>;

    /// Whether the policy knows its own wishes among the nodes by their operators: repairs at once then need one that
    /// it never asks for.
    fn counts_by_operator(&self) -> bool {
        false
    }

    /// What it does in a few words, where its numbers alone do not say it.
    fn told(&self) -> Option<String> {
        None
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
    pub fn policy(field: &str, name: &'a str) -> Self {
        Self { path: format!("policy.{field}"), name }
    }

    /// The operators under these fields of `policy`.
    pub fn of_policy<const N: usize>(uses: [(&str, &'a String); N]) -> Vec<Self> {
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
pub fn build(plan: &dyn Plan, repair: Option<&RepairSpec>) -> Box<dyn Policy> {
    let policy = plan.policy();
    match repair {
        Some(repair) => Box::new(Repair::new(policy, repair.clone())),
        None => policy,
    }
}
