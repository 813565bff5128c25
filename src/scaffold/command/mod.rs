//! The strategy that runs an agent of the user's own: any program, unmodified, that asks models by the OpenAI protocol.
//!
//! The program runs in the sandbox as one execution, for as long as the run has. What it asks is heard, becomes a chat
//! effect, and is answered. Such a program cannot be resumed at the point where it was: it is started again in a fresh
//! workspace, and what it asks then is answered from before, by the hash of the request and its occurrence. Where it asks
//! otherwise than before, that is noted, and it goes on with new calls.
//!
//! - [`spec`]: the tables of the scaffold file
//! - `agent`: the loop; `ledger`: which question is answered by which call
//! - `log`: a call as people read it; [`variables`]: of the templates

mod agent;
mod blueprint;
mod ledger;
mod log;
pub mod spec;
pub mod variables;

use std::sync::Arc;

use crate::common::Common;
use crate::context::RunContext;
use crate::strategy::{Strategy, StrategyFuture};

pub use spec::CommandSpec;

/// The strategy.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) common: Common,
    pub(crate) spec: Arc<CommandSpec>,
}

impl Strategy for Command {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(agent::run(self, context))
    }
}
