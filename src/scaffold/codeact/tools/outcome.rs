//! What comes of a call.

use super::Hands;
use crate::codeact::arguments::ArgumentFault;
use crate::codeact::variables::FaultVariables;
use crate::strategy::StrategyError;

/// What a model reads of a call, and what the loop must know of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// What the model reads.
    pub(crate) text: String,
    /// What it came to, without what differs each time: two calls with the same came to the same.
    pub(crate) came_to: String,
    /// It did not do what was asked.
    pub(crate) failed: bool,
    /// It waited for a program that goes on, or a crash of the harness cut it: however often, that is no circle.
    pub(crate) excused: bool,
    /// The agent is done, in its words.
    pub(crate) finished: Option<String>,
}

/// A call that cannot be made.
pub(crate) fn fault(hands: &Hands<'_>, fault: &ArgumentFault) -> Result<Outcome, StrategyError> {
    let text = hands.render(&hands.agent.spec.prompts.fault, &FaultVariables::of(fault))?;
    Ok(Outcome { came_to: text.clone(), text, failed: true, ..Outcome::default() })
}
