//! How a run ended, on two axes: what stopped it, and what came of its submission.

use serde::{Deserialize, Serialize};

/// What stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// The strategy was done.
    Finished,
    /// The step limit.
    Steps,
    /// The run time limit.
    Time,
    /// The token limit.
    Tokens,
    /// The dollar limit.
    Dollars,
    /// Ctrl-C, SIGTERM, or a full disk: resumable.
    Interrupted,
    /// A model service that failed for good or kept failing: resumable.
    ModelService,
    /// The sandbox could not work: resumable.
    Sandbox,
    /// The strategy's own program failed or broke its protocol: resumable with a mended one.
    Strategy,
    /// A bug of ours.
    Internal,
}

impl StoppedBy {
    /// The word used in tables and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Steps => "steps",
            Self::Time => "time",
            Self::Tokens => "tokens",
            Self::Dollars => "dollars",
            Self::Interrupted => "interrupted",
            Self::ModelService => "model_service",
            Self::Sandbox => "sandbox",
            Self::Strategy => "strategy",
            Self::Internal => "internal",
        }
    }

    /// Whether `podium resume` can go on without raising a limit.
    pub const fn resumes_as_it_is(self) -> bool {
        matches!(self, Self::Interrupted | Self::ModelService | Self::Sandbox | Self::Internal)
            || self.is_of_program()
    }

    /// Whether the strategy's own program failed. As it is it would fail again.
    pub const fn is_of_program(self) -> bool {
        matches!(self, Self::Strategy)
    }
}

/// The end of a run, or of one sitting of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// What stopped it.
    pub by: StoppedBy,
    /// One sentence: the limit with its value, the service's words, ...
    pub detail: String,
}

impl Stop {
    /// A stop with its sentence.
    pub fn new(by: StoppedBy, detail: impl Into<String>) -> Self {
        Self { by, detail: detail.into() }
    }

    /// The stop of a full disk.
    pub fn disk_full(what: &str) -> Self {
        Self::new(StoppedBy::Interrupted, format!("the disk is full: {what}; everything committed is kept"))
    }

    /// The stop of the run time limit.
    pub fn time(limit_ms: u64) -> Self {
        Self::new(StoppedBy::Time, format!("run time limit ({} s) reached", limit_ms as f64 / 1e3))
    }
}

/// What came of a run's submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Valid and graded.
    Graded,
    /// None was selected.
    NoSubmission,
    /// The grader refused it.
    InvalidSubmission,
    /// There are no answers to grade against: the user's own data.
    NoAnswers,
    /// The run broke before anything could be handed in.
    Failed,
}

impl Outcome {
    /// The word used in tables and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Graded => "graded",
            Self::NoSubmission => "no_submission",
            Self::InvalidSubmission => "invalid_submission",
            Self::NoAnswers => "no_answers",
            Self::Failed => "failed",
        }
    }
}
