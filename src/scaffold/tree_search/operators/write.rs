//! The operator `write`: one prompt to a model, and its answer is a plan and a program.
//!
//! An answer that was cut is never executed: the next try gives it twice the room and says that it was too long.
//! A prompt that does not fit the model's window is sent again with less in it (see [`crate::prompts::budget`]). After
//! the last try the node is given up with the reason, and what there was of a program is kept for a later debug.

use futures_util::future::LocalBoxFuture;
use podium_types::chat::{ChatAnswer, FinishReason};
use serde::{Deserialize, Serialize};

use crate::blueprint::PromptUse;
use crate::spec::SpecError;
use crate::spec::check::tries;
use crate::strategy::StrategyError;
use crate::tree_search::answer::{self, Fault, Reading};
use crate::tree_search::memory::{Memory, MemorySpec};
use crate::tree_search::operators::bench::Bench;
use crate::tree_search::operators::parts::Sources;
use crate::tree_search::operators::request::{Attempt, Situation, build};
use crate::tree_search::operators::{Asks, Operator, Written};
use crate::tree_search::variables::{self, StudyVariables};

/// The tables of this operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteSpec {
    /// Template, a path below `prompts/`.
    pub prompt: String,
    /// The role whose model writes.
    pub role: String,
    /// Answers to ask for before the node is given up.
    pub tries: u32,
    /// Earlier designs in the prompt; none: left out.
    pub memory: Option<MemorySpec>,
    /// Whether the overview of the data is in the prompt.
    pub data_preview: bool,
    /// Whether the list of installed packages is in the prompt.
    pub packages: bool,
    /// Whether the prompt asks for a bolder design the more siblings there are; off unless it is on.
    #[serde(default)]
    pub complexity_cue: bool,
}

impl WriteSpec {
    pub(super) fn check(&self, path: &str) -> Result<(), SpecError> {
        tries(&format!("{path}.tries"), self.tries)
    }

    pub(super) fn prompts(&self, path: &str) -> Vec<PromptUse<'_>> {
        let prompt = PromptUse {
            path: format!("{path}.prompt"),
            template: &self.prompt,
            variables: variables::OPERATOR,
        };
        let memory = self.memory.as_ref().map(|memory| PromptUse {
            path: format!("{path}.memory.prompt"),
            template: &memory.prompt,
            variables: variables::DESIGN,
        });
        [prompt].into_iter().chain(memory).collect()
    }
}

impl Operator for WriteSpec {
    fn asks(&self) -> Vec<Asks<'_>> {
        vec![Asks { table: "", write: self }]
    }

    fn apply<'a>(&'a self, bench: &'a Bench<'a>) -> LocalBoxFuture<'a, Result<Written, StrategyError>> {
        let call = Call { name: &bench.job.expansion.operator, memory: bench.memory(""), study: None };
        Box::pin(write(self, bench, call))
    }
}

/// One question within a node.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// Its name in effect keys.
    pub(super) name: &'a str,
    pub(super) memory: &'a Memory,
    pub(super) study: Option<&'a StudyVariables>,
}

/// Asks until an answer can be used, or the tries are used up.
pub(super) async fn write(
    spec: &WriteSpec,
    bench: &Bench<'_>,
    call: Call<'_>,
) -> Result<Written, StrategyError> {
    let mut attempt = Attempt::first(bench.search.spec.prompt_budget.limits());
    let mut written = Written::default();
    let sources = Sources {
        task: bench.context.task(),
        preview: bench.preview,
        memory: call.memory,
        parents: &bench.job.parents,
        study: call.study,
    };
    for number in 0..spec.tries {
        let situation = Situation { budget: bench.context.budget(), siblings: bench.job.siblings };
        let built = build(bench.search, spec, sources, situation, &attempt)?;
        let why = match bench.ask(call.name, number, &spec.role, built.request.clone()).await? {
            Ok(answer) => {
                let reading = read(&answer);
                let fault = reading.fault.clone();
                written = Written { plan: reading.plan, code: reading.code, failure: None };
                let Some(fault) = fault else { return Ok(written) };
                attempt.after_fault(&answer, &fault);
                fault.to_string()
            }
            Err(error) => {
                attempt.after_error(&built, &error);
                error.to_string()
            }
        };
        written.failure = Some(format!("no usable answer in {} tries; the last: {why}", spec.tries));
    }
    Ok(written)
}

/// Reads an answer; one that was cut is never whole, however it looks.
fn read(answer: &ChatAnswer) -> Reading {
    let mut reading = answer::read(&answer.content);
    if answer.finish == FinishReason::Length {
        reading.fault = Some(Fault::Cut);
    }
    reading
}
