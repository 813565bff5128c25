//! CodeAct: an agent that acts by calling tools (a shell, a Python kernel, an editor), sees what comes of it, and goes on
//! until it is done. After OpenHands' agent of that name, as MLE-bench ran it and in its present form.
//!
//! - [`format`]: how a model says which tool it calls; [`arguments`]: what it may say
//! - [`tools`]: what the tools do; [`submission`]: the file that counts
//! - [`history`]: what the model is shown of what was; [`stuck`]: when it goes in circles
//! - `agent`: the loop; `turn`: one answer and its calls; `opening`: the first messages
//! - [`spec`], [`variables`]: the tables and the variables of the templates
//!
//! Shells and kernels live for a sitting of the harness, files for the run. An act that a crash has cut is told as such,
//! and so is a shell or kernel that is new.

mod agent;
pub mod arguments;
mod blueprint;
pub mod format;
pub mod history;
mod opening;
mod parse;
pub mod spec;
pub mod stuck;
pub mod submission;
pub mod tools;
mod turn;
pub mod variables;

use std::sync::Arc;

use crate::codeact::tools::Catalogue;
use crate::common::Common;
use crate::context::RunContext;
use crate::strategy::{Strategy, StrategyFuture};

pub use spec::CodeActSpec;

/// The strategy.
#[derive(Clone, Debug)]
pub struct CodeAct {
    pub(crate) common: Common,
    pub(crate) spec: Arc<CodeActSpec>,
    pub(crate) tools: Arc<Catalogue>,
}

impl Strategy for CodeAct {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(agent::run(self, context))
    }
}
