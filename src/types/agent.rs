//! An agent that is a program of its own, runs in the sandbox, and asks models through the harness: the terms on which it
//! runs, what is heard of it, and what it is told.
//!
//! What it asks is taken in by [`Heard`], in the order in which it comes; each question has a number, and is answered by
//! the answer of a chat effect, which other questions may be answered by as well.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::chat::ChatRequest;

/// What an agent gets of the harness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentTerms {
    /// Files that stand in its workspace when it begins, by their paths there.
    pub files: BTreeMap<String, String>,
    /// The names by which it may ask for a model, and the role behind each.
    pub models: BTreeMap<String, String>,
    /// A larger request is refused, in bytes.
    pub max_request_bytes: u64,
    /// After a call that was refused for good (a limit, a service that failed), it has so long to end by itself unless a
    /// later one is answered; in milliseconds.
    pub grace_ms: u64,
}

/// What is heard of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "heard", rename_all = "snake_case")]
pub enum Heard {
    /// It begins, in a fresh workspace: for the first time, or once more when a run goes on.
    Began,
    /// It asks a model.
    Asked(Box<Question>),
    /// It has ended, and so has its execution.
    Over {
        /// Why.
        why: Over,
    },
}

/// What an agent asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The role whose model is asked.
    pub role: String,
    /// The request, without settings of the role.
    pub request: ChatRequest,
}

/// Why an agent is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// It ended as it saw fit, or by a limit of its execution.
    Itself,
    /// A call of it was refused, and none was answered after that.
    Refused,
    /// The run has no more time.
    Time,
}

/// What an agent is told in reply to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The answer of the chat effect of this step, as soon as there is one.
    AnswerOf {
        /// The step.
        step: u32,
    },
    /// There will be none, for a limit of the run is reached.
    Refused {
        /// Which, with its value.
        why: String,
    },
}
