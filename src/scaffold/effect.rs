//! The effects: each a dealing with the world that is journaled under a key, with its result.

use std::collections::BTreeMap;

use podium_types::agent::{Heard, Reply};
use podium_types::chat::{ChatRequest, ChatResult};
use podium_types::evaluation::{Evaluation, Labels};
use podium_types::execution::{Collected, Execution, ExecutionRequest, Program, Workspace};
use podium_types::files::{FileFault, FilesAnswer, FilesRequest};
use podium_types::session::{SessionAnswer, SessionFault, SessionRequest};
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::step::StepRecord;

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
        /// Whether a service that fails for good, or keeps failing, is told as [`ChatError::Service`] instead of
        /// stopping the run.
        ///
        /// [`ChatError::Service`]: podium_types::chat::ChatError::Service
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hears_failures: bool,
    },
    /// Code in the sandbox.
    Execute(Box<ExecutionRequest>),
    /// An act on files of the home workspace.
    Files(Box<FilesRequest>),
    /// An act on a shell or a kernel in the home workspace.
    Session(Box<SessionRequest>),
    /// What is heard next of the agent that an execution runs, as soon as there is something.
    Hear,
    /// A reply to what the agent asked.
    Reply {
        /// The question, by the number in the key of the effect that heard it.
        question: u32,
        /// The reply.
        reply: Reply,
    },
    /// A file of the home workspace, copied into the run's content store.
    Collect {
        /// Its path in the workspace: the submission's, or that of another table.
        path: String,
    },
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
    /// A finished step of a loop, for people.
    Step(Box<StepRecord>),
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

impl Effect {
    /// Whether doing it twice is another thing than doing it once: it is begun once at most, and one that a crash or a
    /// stop cut is [interrupted](EffectResult::Interrupted).
    pub fn is_at_most_once(&self) -> bool {
        match self {
            Self::Execute(request) => request.workspace == Workspace::Home,
            Self::Session(request) => request.act.is_at_most_once(),
            _ => false,
        }
    }

    /// Whether it may change files of the home workspace.
    pub fn changes_home(&self) -> bool {
        match self {
            Self::Execute(request) => request.workspace == Workspace::Home,
            Self::Files(request) => request.changes(),
            Self::Session(_) => true,
            _ => false,
        }
    }
}

/// A Python program in a workspace of its own, with its submission collected and nothing else.
pub fn python(file: &str, code: String, timeout_ms: u64) -> ExecutionRequest {
    ExecutionRequest {
        workspace: Workspace::Fresh,
        program: Program::Python { file: file.to_owned(), code },
        timeout_ms,
        env: BTreeMap::new(),
        collect: Vec::new(),
        agent: None,
    }
}

/// What an effect returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", content = "value", rename_all = "snake_case")]
pub enum EffectResult {
    /// The step is granted.
    Granted,
    /// The model's answer, or the request's own failure.
    Chat(ChatResult),
    /// The execution's result.
    Execution(Box<Execution>),
    /// What came of an act on files.
    Files(Result<FilesAnswer, FileFault>),
    /// What was seen of a session.
    Session(Result<Box<SessionAnswer>, SessionFault>),
    /// What was heard of the agent.
    Heard(Heard),
    /// What stood at the path, copied.
    Collected(Collected),
    /// An act that is begun once at most was cut, by a crash of the harness or a stop of the run: its effects may be
    /// partial, or it may not have begun.
    Interrupted,
    /// The format verdict.
    Verdict(Verdict),
    /// The score by training labels, or why there is none.
    Evaluation(Evaluation),
    /// The overview.
    Preview(String),
    /// It is in the journal.
    Recorded,
}
