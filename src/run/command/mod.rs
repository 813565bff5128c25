//! Agents that are programs of their own, in the sandbox: how they ask models.
//!
//! The port of the submission check answers the OpenAI protocol as well. A request is read ([`wire`]), lies on the desk
//! ([`desk`]) until the strategy has heard of it and a chat effect has its answer, and is answered then. The journal is
//! what decides: nothing is answered that is not committed. [`report`] says afterwards how often an agent had to begin
//! again, and whether it asked the same then.
//!
//! It must not know a competition, nor a model by more than its role.

pub mod desk;
pub mod report;
pub mod wire;
