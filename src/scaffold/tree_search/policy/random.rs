//! A random baseline: what any policy must beat. A draft by a coin, else any finished node with the same chance, debugged
//! when it is buggy and improved when it is good; no metric is looked at. As with random search for hyperparameters
//! (Bergstra and Bengio 2012, JMLR 13:281), a cleverer search that does not beat it has learned nothing.

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::share;
use crate::tree_search::policy::{Ask, OperatorUse, Plan, Policy};
use crate::tree_search::view::{Expansion, View};

/// The numbers of this policy, and its operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomSpec {
    /// Chance of a draft once there is a node; without one it is always a draft.
    pub draft_probability: f64,
    /// The operator for a fresh start.
    pub draft: String,
    /// The operator for a buggy node.
    pub debug: String,
    /// The operator for a good node.
    pub improve: String,
}

impl Plan for RandomSpec {
    fn check(&self) -> Result<(), SpecError> {
        share("policy.draft_probability", self.draft_probability)
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        OperatorUse::of_policy([("draft", &self.draft), ("debug", &self.debug), ("improve", &self.improve)])
    }

    fn policy(&self) -> Box<dyn Policy> {
        Box::new(Random(self.clone()))
    }
}

struct Random(RandomSpec);

impl Policy for Random {
    fn ask(&mut self, view: &View<'_>, rng: &mut Rng) -> Ask {
        let Self(spec) = self;
        let coin = rng.uniform() < spec.draft_probability;
        let nodes: Vec<&NodeRecord> =
            view.tree.nodes().filter(|node| !view.in_repair.contains(&node.id)).collect();
        Ask::Expand(match rng.pick(&nodes).filter(|_| !coin) {
            None => Expansion {
                operator: spec.draft.clone(),
                parents: Vec::new(),
                reason: "by the coin".to_owned(),
            },
            Some(node) => {
                let operator = if node.is_good() { &spec.improve } else { &spec.debug };
                let reason = format!("one of {} nodes", nodes.len());
                Expansion { operator: operator.clone(), parents: vec![node.id], reason }
            }
        })
    }
}
