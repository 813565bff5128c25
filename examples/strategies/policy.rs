//! A search policy: best-first with an epsilon. A few drafts, then the best node is improved; but with a chance of
//! epsilon it is any good node, so that a search does not stay where it was lucky first.
//!
//! In a scaffold made from `best-first`:
//!
//! ```toml
//! [policy]
//! kind = "epsilon"
//! drafts = 2
//! epsilon = 0.2
//! draft = "draft"
//! improve = "improve"
//! ```

use podium_scaffold::prelude::*;
use serde::{Deserialize, Serialize};

/// The numbers of the policy, and its operators: the keys of `[policy]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EpsilonSpec {
    /// Drafts before anything is improved.
    drafts: usize,
    /// The chance that any good node is taken.
    epsilon: f64,
    /// The operator for a fresh start.
    draft: String,
    /// The operator for a good node.
    improve: String,
}

impl Plan for EpsilonSpec {
    fn check(&self) -> Result<(), SpecError> {
        check::at_least_one("policy.drafts", self.drafts as u64)?;
        check::share("policy.epsilon", self.epsilon)
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        OperatorUse::of_policy([("draft", &self.draft), ("improve", &self.improve)])
    }

    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

impl Policy for EpsilonSpec {
    fn ask(&mut self, view: &View<'_>, rng: &mut Rng) -> Ask {
        let good: Vec<&NodeRecord> = view.tree.good().collect();
        // One draw for each wish, whatever comes of it: a replay draws the same.
        let explores = rng.uniform() < self.epsilon;
        let chosen = if explores { rng.pick(&good).copied() } else { view.best_of(&good) };
        match chosen {
            Some(node) if view.drafts() >= self.drafts => Ask::Expand(Expansion {
                operator: self.improve.clone(),
                parents: vec![node.id],
                reason: if explores { "any good node" } else { "the best node" }.to_owned(),
            }),
            None if view.drafts() >= self.drafts && !view.pending.is_empty() => Ask::Wait,
            _ => Ask::Expand(Expansion {
                operator: self.draft.clone(),
                parents: Vec::new(),
                reason: format!("draft {}", view.drafts() + 1),
            }),
        }
    }
}
