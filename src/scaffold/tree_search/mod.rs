//! Tree search: whole scripts as nodes, each made from earlier ones by an operator, run, reviewed, and built upon.
//!
//! The four things that vary are apart, each a small trait with several implementations that a scaffold file combines:
//! *search policy* ([`policy`]: which node, which operator), *operators* ([`operators`]: how a child is made),
//! *evaluation* ([`evaluation`]: what it is worth) and *final selection* ([`selection`]: which node is handed in). The
//! [`engine`] alone deals with the world; the policy sees a [`view`] and nothing else.

pub mod answer;
mod blueprint;
mod composition;
pub mod engine;
pub mod evaluation;
pub mod expand;
pub mod memory;
pub mod operators;
pub mod policy;
mod samples;
pub mod selection;
pub mod spec;
pub mod variables;
pub mod view;

use std::sync::Arc;

use crate::common::Common;
use crate::context::RunContext;
use crate::strategy::{Strategy, StrategyError, StrategyFuture};
use crate::tree_search::operators::Operator;

pub use spec::TreeSearchSpec;

/// The strategy: a composition of policy, operators and evaluation, as a scaffold file gives it.
#[derive(Clone, Debug)]
pub struct TreeSearch {
    pub(crate) common: Common,
    pub(crate) spec: Arc<TreeSearchSpec>,
}

impl Strategy for TreeSearch {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(engine::run(self, context))
    }
}

/// The operator of this name. A scaffold is checked when it is loaded, so only a policy in Rust can name a wrong one.
pub(crate) fn operator_of<'a>(search: &'a TreeSearch, name: &str) -> Result<&'a dyn Operator, StrategyError> {
    search.spec.operators.get(name).map(|operator| &**operator).ok_or_else(|| {
        StrategyError::Policy(format!("it asks for the operator `{name}`, which the scaffold does not have"))
    })
}
