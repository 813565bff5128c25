//! Final selection: which node is handed in. Asked after every finished node, so that the best by the rule in force is
//! always in place and a run stopped at any moment has a result. A rule may look at other numbers than the search does;
//! neither policies nor prompts ever see its own.
//!
//! A new rule is one file that implements [`Selector`], a variant of [`SelectionSpec`] and an arm in [`build`].

mod best;
mod holdout;
mod mean_minus_spread;

use futures_util::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

use crate::context::{Direction, RunContext};
use crate::spec::SpecError;
use crate::strategy::StrategyError;
use crate::tree_search::view::Tree;

pub use holdout::HoldoutSelectionSpec;
pub use mean_minus_spread::MeanMinusSpreadSpec;

/// The rule, as a file names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SelectionSpec {
    /// The best metric; the earliest of equals.
    Best,
    /// The best metric less its spread between folds, among the best few.
    MeanMinusSpread(MeanMinusSpreadSpec),
    /// The best by held-out labels that the search never sees, among the best few.
    Holdout(HoldoutSelectionSpec),
}

impl SelectionSpec {
    /// What is wrong with values that are well formed.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Best => Ok(()),
            Self::MeanMinusSpread(spec) => spec.check(),
            Self::Holdout(spec) => spec.check(),
        }
    }
}

/// What a rule chooses from.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'a> {
    /// The run; for rules that ask the harness.
    pub(crate) context: &'a dyn RunContext,
    /// The finished nodes.
    pub(crate) tree: &'a Tree,
    /// Which way the metric improves.
    pub(crate) direction: Direction,
}

/// A rule of final selection.
pub(crate) trait Selector {
    /// The node to hand in as of now, a good one; none: there is none yet.
    fn choose<'a>(&'a mut self, choice: Choice<'a>)
    -> LocalBoxFuture<'a, Result<Option<u32>, StrategyError>>;
}

/// The rule that a scaffold names.
pub(crate) fn build(spec: &SelectionSpec) -> Box<dyn Selector> {
    match spec {
        SelectionSpec::Best => Box::new(best::Best),
        SelectionSpec::MeanMinusSpread(spec) => Box::new(mean_minus_spread::MeanMinusSpread(spec.clone())),
        SelectionSpec::Holdout(spec) => Box::new(holdout::Holdout::new(spec.clone())),
    }
}
