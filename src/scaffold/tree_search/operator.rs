//! An operator at work: asks the writing model for a plan and a program until an answer can be used.
//!
//! An answer that was cut is never executed: the next try gives it twice the room and says that it was too long.
//! A prompt that does not fit the model's window is sent again with half the memory and half the preview. After the
//! last try the node is given up with the reason, and what there was of a program is kept for a later debug.

use podium_types::chat::{ChatAnswer, ChatError, FinishReason};
use podium_types::key::EffectKey;

use crate::context::RunContext;
use crate::node::NodeRecord;
use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::answer::{self, Fault, Reading};
use crate::tree_search::memory::Memory;
use crate::tree_search::request::{Attempt, build};
use crate::tree_search::spec::OperatorSpec;
use crate::tree_search::view::Expansion;

/// A node to be written.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: u32,
    pub(crate) expansion: Expansion,
    pub(crate) operator: OperatorSpec,
    pub(crate) parents: Vec<Parent>,
    pub(crate) memory: Memory,
}

/// A node that the new one is made from.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    pub(crate) node: NodeRecord,
    pub(crate) run: Option<RunVariables>,
}

/// What came of asking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) plan: String,
    pub(crate) code: String,
    /// Why nothing may be executed; none: the program is whole.
    pub(crate) failure: Option<String>,
}

/// Asks until an answer can be used, or the tries are used up.
pub(crate) async fn write(
    search: &TreeSearch,
    context: &dyn RunContext,
    job: &Job,
    preview: &str,
) -> Result<Written, StrategyError> {
    let mut attempt = Attempt::first();
    let mut written = Written::default();
    let tries = job.operator.tries;
    for number in 0..tries {
        let request = build(search, context.task(), &context.budget(), job, preview, &attempt)?;
        let key = EffectKey::node(job.id, &job.expansion.operator, number);
        let why = match context.chat(key, &job.operator.role, request).await? {
            Ok(answer) => {
                let reading = read(&answer);
                let fault = reading.fault.clone();
                written = Written { plan: reading.plan, code: reading.code, failure: None };
                let Some(fault) = fault else { return Ok(written) };
                attempt.after_fault(&answer.finish, &fault);
                fault.to_string()
            }
            Err(error) => {
                attempt.after_error(&error);
                error.to_string()
            }
        };
        written.failure = Some(format!("no usable answer in {tries} tries; the last: {why}"));
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

impl Attempt {
    fn after_fault(&mut self, finish: &FinishReason, fault: &Fault) {
        self.retry = match fault {
            _ if *finish == FinishReason::Refusal => "refused",
            Fault::Cut => "cut",
            Fault::NoCode => "no_code",
            Fault::NoPlan => "no_plan",
            Fault::BrokenCode(_) => "broken_code",
        };
        if *fault == Fault::Cut {
            self.output_factor = self.output_factor.saturating_mul(2);
        }
    }

    fn after_error(&mut self, error: &ChatError) {
        if matches!(error, ChatError::Refused { .. } | ChatError::InvalidSchema { .. }) {
            self.retry = "refused";
        } else if self.output_factor == 1 {
            self.shrink = self.shrink.saturating_mul(2);
        }
        self.output_factor = 1;
    }
}
