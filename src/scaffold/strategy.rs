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
    /// The program of a strategy in another language failed, or broke its protocol.
    #[error("the strategy's program {0}")]
    Program(String),
    /// Its program could not be started, or was lost with its sandbox.
    #[error("the strategy's program {0}")]
    ProgramLost(String),
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

/// How sure it is that a strategy asks for nothing more before something it has asked for is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quiet {
    /// Not at all: it is thinking.
    Busy,
    /// It has been silent for a while. That is enough to end a run by a limit.
    Silent,
    /// Quite: it waits for answers and nothing else.
    Waiting,
}

/// An agent program.
pub trait Strategy {
    /// Runs until it is done. Limits need no care here: when one fires, the future is dropped.
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a>;

    /// Whether it may ask for more though its future is idle. One in Rust waits for effects and nothing else; one whose
    /// program runs elsewhere may be thinking there, and wakes its future when it has heard of it.
    fn quiet(&self) -> Quiet {
        Quiet::Waiting
    }
}
