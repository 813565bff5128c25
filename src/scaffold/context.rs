//! The run context: a strategy's only way out.
//!
//! Invariants the implementation (`podium::run`) keeps, and strategies may rely on:
//! - an effect's result is committed to the run journal before the strategy sees it;
//! - results are released one at a time, in journal order, and only while the strategy is idle, so `select!`,
//!   `FuturesUnordered` and friends take the same turns in a replay;
//! - [`RunContext::budget`] is a function of the results released so far, never of a clock;
//! - a limit that fires, a service that fails for good and an interrupt do not surface as errors: the journal
//!   records the stop and the future is dropped. What was selected last with [`Effect::SelectFinal`] is handed in,
//!   and a resume with higher limits goes on from the very same point.

use std::future::Future;
use std::pin::Pin;

use podium_types::agent::{Heard, Reply};
use podium_types::chat::{ChatRequest, ChatResult};
pub use podium_types::direction::Direction;
use podium_types::evaluation::{Evaluation, Labels};
use podium_types::execution::{Collected, Execution, ExecutionRequest, Workspace};
use podium_types::files::{FileFault, FilesAnswer, FilesRequest};
use podium_types::key::EffectKey;
use podium_types::money::Usd;
use podium_types::range::Range;
use podium_types::rng::Rng;
use podium_types::session::{SessionAnswer, SessionFault, SessionRequest};
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::effect::{Effect, EffectResult, PreviewRequest};
use crate::node::NodeRecord;
use crate::step::StepRecord;

/// The future of one effect. Dropping it cancels the effect; what it cost is accounted all the same.
pub type EffectFuture<'a> = Pin<Box<dyn Future<Output = Result<EffectResult, ContextError>> + 'a>>;

/// A failure of the strategy or of the harness, not of the world: the run ends as `internal`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// Two effects of one run had the same key.
    #[error("effect key `{key}` was used twice")]
    DuplicateKey {
        /// The key.
        key: EffectKey,
    },
    /// An effect was answered with the result of another kind of effect.
    #[error("effect `{key}` was answered with a result of the wrong kind")]
    WrongResult {
        /// The key.
        key: EffectKey,
    },
}

/// What came of an effect that is begun once at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted<T> {
    /// It was done.
    Done(T),
    /// A crash of the harness, or a stop of the run, cut it: its effects may be partial, or it may not have begun. It is
    /// not done again unless the strategy asks for it under another key.
    Interrupted,
}

/// What a strategy knows of its competition. No score, no board, no answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Competition id.
    pub competition: String,
    /// The competition's description, as its data folder has it.
    pub description: String,
    /// Name of the metric.
    pub metric: String,
    /// Which way it improves: fixed by the competition, never by a model.
    pub direction: Direction,
    /// The values that it can have; any, where that is not known.
    #[serde(default, skip_serializing_if = "Range::is_any")]
    pub metric_range: Range,
    /// The one path of the submission, relative to the working directory of an execution.
    pub submission_path: String,
    /// What the sandbox really grants.
    pub grants: Grants,
    /// Packages of the Python environment, `name version`, most useful first.
    pub packages: Vec<String>,
    /// Whether prompts must not tell which competition it is, nor where it was held: the description does not either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub obfuscated: bool,
    /// Whether a program can have a submission checked while it runs.
    #[serde(default)]
    pub submission_check: bool,
    /// Training labels that the harness keeps; none: it keeps none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
}

/// What the harness holds back of the training labels, as an agent is told of it. Paths are relative to the working
/// directory of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validation {
    /// The training table, below `./input`: it has lost its held-out rows.
    pub training_table: String,
    /// Rows that it has.
    pub training_rows: u64,
    /// Rows that were taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<HeldOut>,
    /// Folds of the rows that stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<FoldFile>,
}

/// Training rows that were taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The file that shows them without their labels.
    pub path: String,
    /// How many they are.
    pub rows: u64,
    /// Where predictions for them go, in the form of the sample submission.
    pub predictions: String,
    /// Whether some of them serve the search.
    pub search: bool,
    /// Whether some of them serve the final choice.
    #[serde(rename = "final")]
    pub last: bool,
}

/// Folds of the training rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldFile {
    /// The file that says in which fold a row is.
    pub path: String,
    /// How many folds there are.
    pub folds: u32,
    /// Where out-of-fold predictions go, in the form of the sample submission.
    pub predictions: String,
}

impl Validation {
    /// The files to collect after an execution, besides the submission.
    pub fn predictions(&self) -> impl Iterator<Item = &str> {
        let held = self.holdout.as_ref().map(|held| held.predictions.as_str());
        held.into_iter().chain(self.folds.as_ref().map(|folds| folds.predictions.as_str()))
    }
}

/// Resources and rules in force, read back from the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// Processors an execution may use.
    pub cpus: u32,
    /// Memory of an execution's whole process tree, in bytes; `None`: not limited.
    pub memory_bytes: Option<u64>,
    /// Names of the GPUs an execution sees.
    pub gpus: Vec<String>,
    /// Whether an execution can reach a network.
    pub network: bool,
    /// Size of `/dev/shm` in bytes, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shm_bytes: Option<u64>,
    /// What the working directory may grow to, in bytes, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// Read-only folders besides the input, by their path inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<String>,
}

/// What has been used and what is left, as of the result released last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Steps granted so far.
    pub steps: u32,
    /// Step limit.
    pub step_limit: Option<u32>,
    /// Run time used, in milliseconds; waiting for a model service does not count.
    pub run_ms: u64,
    /// Run time limit in milliseconds.
    pub run_limit_ms: Option<u64>,
    /// Time spent waiting for model services, in milliseconds.
    pub waiting_ms: u64,
    /// Limit of one execution in milliseconds.
    pub execution_limit_ms: u64,
    /// Tokens used.
    pub tokens: u64,
    /// Token limit.
    pub token_limit: Option<u64>,
    /// Dollars spent; `None` once a call of unknown price was made.
    pub cost: Option<Usd>,
    /// Dollar limit.
    pub cost_limit: Option<Usd>,
}

impl Budget {
    /// Steps left; `None`: no limit.
    pub fn steps_left(&self) -> Option<u32> {
        self.step_limit.map(|limit| limit.saturating_sub(self.steps))
    }

    /// Run time left in milliseconds; `None`: no limit.
    pub fn run_ms_left(&self) -> Option<u64> {
        self.run_limit_ms.map(|limit| limit.saturating_sub(self.run_ms))
    }

    /// The limit that the next execution really has: its own, or the run time that is left if less.
    pub fn next_execution_ms(&self) -> u64 {
        self.run_ms_left().map_or(self.execution_limit_ms, |left| left.min(self.execution_limit_ms))
    }
}

/// A strategy's only way out.
pub trait RunContext {
    /// The competition and its rules.
    fn task(&self) -> &Task;

    /// Deals with the world under a key. Strategies call the typed methods below instead.
    fn perform(&self, key: EffectKey, effect: Effect) -> EffectFuture<'_>;

    /// What is left, as of the result released last.
    fn budget(&self) -> Budget;

    /// Random numbers of this run for one purpose: a function of the run's seed and `key`.
    fn rng(&self, key: &EffectKey) -> Rng;
}

macro_rules! expect_result {
    ($context:expr, $key:expr, $effect:expr, $pattern:pat => $value:expr) => {{
        let key = $key;
        match $context.perform(key.clone(), $effect).await? {
            $pattern => Ok($value),
            _ => Err(ContextError::WrongResult { key }),
        }
    }};
}

macro_rules! expect_acted {
    ($context:expr, $key:expr, $effect:expr, $pattern:pat => $value:expr) => {{
        let key = $key;
        match $context.perform(key.clone(), $effect).await? {
            $pattern => Ok(Acted::Done($value)),
            EffectResult::Interrupted => Ok(Acted::Interrupted),
            _ => Err(ContextError::WrongResult { key }),
        }
    }};
}

/// The key under which the `number`-th message of an agent is heard.
pub fn hear_key(number: u32) -> EffectKey {
    EffectKey::run(&format!("hear-{number}"))
}

/// The key of the chat effect that answers questions of an agent, by its step.
pub fn answer_key(step: u32) -> EffectKey {
    EffectKey::step(step, "chat")
}

impl dyn RunContext + '_ {
    /// Asks for one more step (a node, or a turn of a loop). Resolves when it is granted; when the step limit is
    /// reached it never does, and the run ends by that name once all else has finished.
    pub async fn begin_step(&self, key: EffectKey) -> Result<(), ContextError> {
        expect_result!(self, key, Effect::BeginStep, EffectResult::Granted => ())
    }

    /// Asks the model of `role`.
    pub async fn chat(
        &self,
        key: EffectKey,
        role: &str,
        request: ChatRequest,
    ) -> Result<ChatResult, ContextError> {
        let effect =
            Effect::Chat { role: role.to_owned(), request: Box::new(request), hears_failures: false };
        expect_result!(self, key, effect, EffectResult::Chat(result) => result)
    }

    /// Asks the model of `role`; a service that fails for good is an answer, too, and does not stop the run.
    pub async fn chat_or_failure(
        &self,
        key: EffectKey,
        role: &str,
        request: ChatRequest,
    ) -> Result<ChatResult, ContextError> {
        let effect = Effect::Chat { role: role.to_owned(), request: Box::new(request), hears_failures: true };
        expect_result!(self, key, effect, EffectResult::Chat(result) => result)
    }

    /// Runs code in the sandbox, in a workspace of its own.
    pub async fn execute(
        &self,
        key: EffectKey,
        request: ExecutionRequest,
    ) -> Result<Execution, ContextError> {
        let effect = Effect::Execute(Box::new(ExecutionRequest { workspace: Workspace::Fresh, ..request }));
        expect_result!(self, key, effect, EffectResult::Execution(execution) => *execution)
    }

    /// Runs code in the sandbox, in the run's home workspace. What it leaves there stays; a submission is taken with
    /// [`Self::collect`].
    pub async fn execute_at_home(
        &self,
        key: EffectKey,
        request: ExecutionRequest,
    ) -> Result<Acted<Execution>, ContextError> {
        let effect = Effect::Execute(Box::new(ExecutionRequest { workspace: Workspace::Home, ..request }));
        expect_acted!(self, key, effect, EffectResult::Execution(execution) => *execution)
    }

    /// Reads, lists or writes files of the home workspace.
    pub async fn files(
        &self,
        key: EffectKey,
        request: FilesRequest,
    ) -> Result<Result<FilesAnswer, FileFault>, ContextError> {
        expect_result!(self, key, Effect::Files(Box::new(request)), EffectResult::Files(answer) => answer)
    }

    /// Acts on a shell or a kernel in the home workspace, which is opened where it is not.
    pub async fn session(
        &self,
        key: EffectKey,
        request: SessionRequest,
    ) -> Result<Acted<Result<SessionAnswer, SessionFault>>, ContextError> {
        let effect = Effect::Session(Box::new(request));
        expect_acted!(self, key, effect, EffectResult::Session(answer) => answer.map(|answer| *answer))
    }

    /// Waits for what is heard next of the agent that an execution runs. `number` counts what is heard, from 0; a
    /// question has it as its own.
    pub async fn hear(&self, number: u32) -> Result<Heard, ContextError> {
        expect_result!(self, hear_key(number), Effect::Hear, EffectResult::Heard(heard) => heard)
    }

    /// Tells the agent what comes of a question: at once where it is known, else as soon as it is.
    pub async fn reply(&self, question: u32, reply: Reply) -> Result<(), ContextError> {
        let key = EffectKey::run(&format!("reply-{question}"));
        expect_result!(self, key, Effect::Reply { question, reply }, EffectResult::Recorded => ())
    }

    /// Copies a file of the home workspace into the run's content store, as it is now: the submission, for
    /// [`Self::validate`] and [`Self::select_final`], or predictions for [`Self::evaluate`].
    pub async fn collect(&self, key: EffectKey, path: &str) -> Result<Collected, ContextError> {
        let effect = Effect::Collect { path: path.to_owned() };
        expect_result!(self, key, effect, EffectResult::Collected(collected) => collected)
    }

    /// Checks the format of a collected submission.
    pub async fn validate(&self, key: EffectKey, sha256: &Sha256) -> Result<Verdict, ContextError> {
        let effect = Effect::Validate { sha256: sha256.clone() };
        expect_result!(self, key, effect, EffectResult::Verdict(verdict) => verdict)
    }

    /// Scores collected predictions for training rows with labels that the harness keeps.
    pub async fn evaluate(
        &self,
        key: EffectKey,
        labels: Labels,
        sha256: &Sha256,
    ) -> Result<Evaluation, ContextError> {
        let effect = Effect::Evaluate { labels, sha256: sha256.clone() };
        expect_result!(self, key, effect, EffectResult::Evaluation(evaluation) => evaluation)
    }

    /// An overview of the public data.
    pub async fn preview(&self, key: EffectKey, request: PreviewRequest) -> Result<String, ContextError> {
        expect_result!(self, key, Effect::Preview(request), EffectResult::Preview(text) => text)
    }

    /// Records a finished node.
    pub async fn node(&self, key: EffectKey, node: NodeRecord) -> Result<(), ContextError> {
        expect_result!(self, key, Effect::Node(Box::new(node)), EffectResult::Recorded => ())
    }

    /// Records what a step of a loop was, for people who read the run.
    pub async fn step(&self, key: EffectKey, step: StepRecord) -> Result<(), ContextError> {
        expect_result!(self, key, Effect::Step(Box::new(step)), EffectResult::Recorded => ())
    }

    /// Records a remark for people who read the run.
    pub async fn note(&self, key: EffectKey, text: String) -> Result<(), ContextError> {
        expect_result!(self, key, Effect::Note { text }, EffectResult::Recorded => ())
    }

    /// Makes a submission the one that will be handed in, and names the node it came from where there are nodes. May
    /// be called again whenever a better one is found.
    pub async fn select_final(
        &self,
        key: EffectKey,
        node: Option<u32>,
        sha256: &Sha256,
    ) -> Result<(), ContextError> {
        let effect = Effect::SelectFinal { node, sha256: sha256.clone() };
        expect_result!(self, key, effect, EffectResult::Recorded => ())
    }
}
