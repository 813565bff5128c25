//! What comes of a call.

use super::Hands;
use crate::codeact::arguments::ArgumentFault;
use crate::codeact::variables::FaultVariables;
use crate::strategy::StrategyError;

/// What a model reads of a call, and what the loop must know of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What the model reads.
    pub text: String,
    /// What it came to, without what differs each time: two calls with the same came to the same.
    pub came_to: String,
    /// It did not do what was asked.
    pub failed: bool,
    /// It waited for a program that goes on, or a crash of the harness cut it: however often, that is no circle.
    pub excused: bool,
    /// The agent is done, in its words.
    pub finished: Option<String>,
}

impl Outcome {
    /// A call that did what was asked, and what the model reads of it.
    pub fn done(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { came_to: text.clone(), text, ..Self::default() }
    }

    /// A call that failed, and what the model reads of it.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { failed: true, ..Self::done(text) }
    }
}

/// A call that cannot be made.
pub(crate) fn fault(hands: &Hands<'_>, fault: &ArgumentFault) -> Result<Outcome, StrategyError> {
    let text = hands.render(&hands.agent.spec.prompts.fault, &FaultVariables::of(fault))?;
    Ok(Outcome { came_to: text.clone(), text, failed: true, ..Outcome::default() })
}
