//! The effects: each a dealing with the world that is journaled under a key, with its result.

use podium_types::chat::{ChatRequest, ChatResult};
use podium_types::evaluation::{Evaluation, Labels};
use podium_types::execution::{Execution, ExecutionRequest};
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;

/// How much of the public data a preview may show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewRequest {
    /// Longest text in characters; the preview says where it was cut.
    pub max_chars: usize,
}

/// One dealing with the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// One more step of the budget.
    BeginStep,
    /// A model call. The context sets the request's seed.
    Chat {
        /// The role whose model answers: `code`, `feedback`, ...
        role: String,
        /// The request.
        request: Box<ChatRequest>,
    },
    /// Code in the sandbox.
    Execute(Box<ExecutionRequest>),
    /// The format check of a submission in the run's content store.
    Validate {
        /// SHA-256 of the submission, as [`Execution::submission`] named it.
        sha256: Sha256,
    },
    /// Predictions for training rows, in the run's content store, scored with labels that the harness keeps.
    Evaluate {
        /// The labels.
        labels: Labels,
        /// SHA-256 of the file, as [`Execution::collected`] named it.
        sha256: Sha256,
    },
    /// An overview of the public data.
    Preview(PreviewRequest),
    /// A finished node.
    Node(Box<NodeRecord>),
    /// A remark for people.
    Note {
        /// The remark.
        text: String,
    },
    /// The submission to hand in, until a better one is selected.
    SelectFinal {
        /// The node it came from; none where there are no nodes (loops).
        node: Option<u32>,
        /// SHA-256 of the submission.
        sha256: Sha256,
    },
}

/// What an effect returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", content = "value", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "most results are answers, and few are alive at a time")]
pub enum EffectResult {
    /// The step is granted.
    Granted,
    /// The model's answer, or the request's own failure.
    Chat(ChatResult),
    /// The execution's result.
    Execution(Box<Execution>),
    /// The format verdict.
    Verdict(Verdict),
    /// The score by training labels, or why there is none.
    Evaluation(Evaluation),
    /// The overview.
    Preview(String),
    /// It is in the journal.
    Recorded,
}
