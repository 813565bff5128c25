//! The research loop: one agent that thinks in six fields, takes one action a step, and lives in the run's home
//! workspace. `MLAgentBench`'s `ResearchAgent`, as MLE-bench ran it and beyond.
//!
//! Each step builds one prompt of the task, the actions, the plan, what is remembered and the last few steps; reads the
//! answer; takes the action; and keeps the observation, which ends with the time and the steps that remain. An action is
//! one small file behind [`action::Action`], or a command that the scaffold file declares.
//!
//! - [`spec`]: the tables of a scaffold file; [`blueprint`]: what is made of them
//! - [`answer`]: how an answer is read
//! - [`action`]: the actions
//! - [`engine`]: the loop; [`step`]: one step of it; [`history`]: what is kept of steps
//! - [`bench`]: what actions work with; [`words`]: what they say, which templates word
//! - [`diff`]: what an edit changed; [`digest`]: long texts read by the fast model

pub mod action;
pub mod answer;
mod bench;
mod blueprint;
mod diff;
mod digest;
mod engine;
mod history;
pub mod spec;
mod step;
mod words;

use std::sync::Arc;

use crate::common::Common;
use crate::context::RunContext;
use crate::strategy::{Strategy, StrategyFuture};

pub use bench::Bench;
pub use spec::ResearchLoopSpec;

/// The strategy.
#[derive(Clone, Debug)]
pub struct ResearchLoop {
    pub(crate) common: Common,
    pub(crate) spec: Arc<ResearchLoopSpec>,
}

impl Strategy for ResearchLoop {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(engine::run(self, context))
    }
}
