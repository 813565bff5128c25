//! The trait that scaffolds implement.

use std::future::Future;
use std::pin::Pin;

use crate::context::{ContextError, RunContext};

/// A strategy ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Why, in a few words: `the search policy had nothing left to do`.
    pub reason: String,
}

/// A strategy failed: the run ends as `internal`, with what was selected so far.
#[derive(Debug, thiserror::Error)]
pub enum StrategyError {
    /// A misuse of the run context.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A search policy asked for what cannot be: a mistake in its code.
    #[error("the search policy is wrong: {0}")]
    Policy(String),
    /// A prompt template did not render.
    #[error("prompt `{template}` does not render: {message}")]
    Prompt {
        /// Template name.
        template: String,
        /// The renderer's words.
        message: String,
    },
}

/// The future of a strategy. It need not be `Send`: one single-threaded executor polls it.
pub type StrategyFuture<'a> = Pin<Box<dyn Future<Output = Result<Finished, StrategyError>> + 'a>>;

/// An agent program.
pub trait Strategy {
    /// Runs until it is done. Limits need no care here: when one fires, the future is dropped.
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a>;
}
