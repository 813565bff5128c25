//! The OpenAI protocol as its servers speak it: requests of unmodified programs, read into a [`ChatRequest`], and answers
//! written back, whole or as a stream of events.
//!
//! A program is hostile or at least careless: what cannot be read is refused in the protocol's own words, with what to
//! mend. Fields that change nothing of an answer here are passed over; those that would change it and cannot be had
//! (pictures, several answers, a conversation kept by the server) are refused.
//!
//! - [`question`]: `/v1/chat/completions`; [`responses`]: `/v1/responses`; `fields`: what both have
//! - [`answer`]: answers to both; [`refusal`]: errors, as OpenAI's clients understand them

pub mod answer;
mod fields;
pub mod question;
pub mod refusal;
pub mod responses;
#[cfg(test)]
mod tests;

use podium_types::agent::Question;

/// A request as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// What is asked.
    pub question: Question,
    /// How it is to be answered.
    pub form: Form,
}

/// How a request is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Which of the two protocols.
    pub protocol: Protocol,
    /// The model's name, as it was asked for.
    pub model: String,
    /// As a stream of events.
    pub stream: bool,
    /// With the usage at the end of a stream.
    pub usage: bool,
}

/// Which of the two protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Chat completions.
    Chat,
    /// Responses.
    Responses,
}
