//! From a job to the request that is sent: the benchmark's rules as the system message, the operator's prompt as the
//! user message; and from an answer that could not be used to the next try.

use podium_types::chat::{ChatAnswer, ChatError, ChatRequest, FinishReason, Message, Speaker};
use podium_types::tokens::estimate;

use crate::context::Budget;
use crate::prompts::budget::Tokens;
use crate::prompts::variables::{submission_path, word};
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::answer::Fault;
use crate::tree_search::operators::WriteSpec;
use crate::tree_search::operators::parts::{Parts, Sources};
use crate::tree_search::variables::OperatorVariables;

/// Estimates are scaled by what the service counted; a bit more is left out than that comes to.
const MARGIN: u64 = 128;

/// What changes from one try to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// What was wrong with the answer before, as templates know it.
    pub(crate) retry: &'static str,
    /// Times the role's output limit.
    pub(crate) output_factor: u32,
    /// Limits of the prompt's parts.
    pub(crate) limits: Tokens,
    /// What the parts took before anything gave way.
    first: Option<Tokens>,
}

/// A request, and what its parts take.
pub(crate) struct Built {
    pub(crate) request: ChatRequest,
    pub(crate) tokens: Tokens,
}

impl Attempt {
    pub(crate) const fn first(limits: Tokens) -> Self {
        Self { retry: "none", output_factor: 1, limits, first: None }
    }

    /// An answer came and was of no use.
    pub(crate) fn after_fault(&mut self, answer: &ChatAnswer, fault: &Fault) {
        self.retry = match fault {
            _ if answer.finish == FinishReason::Refusal => "refused",
            Fault::Cut => "cut",
            Fault::NoCode => "no_code",
            Fault::NoPlan => "no_plan",
            Fault::BrokenCode(_) => "broken_code",
        };
        if *fault == Fault::Cut {
            self.output_factor = self.output_factor.saturating_mul(2);
        }
    }

    /// No answer came. A prompt that does not fit beside an answer of the usual length gives parts away.
    pub(crate) fn after_error(&mut self, sent: &Built, error: &ChatError) {
        match error {
            ChatError::Refused { .. } | ChatError::InvalidSchema { .. } | ChatError::Service { .. } => {
                self.retry = "refused";
            }
            ChatError::ContextTooLong { prompt_tokens, output_tokens, window } if self.output_factor == 1 => {
                let first = self.first.get_or_insert_with(|| sent.tokens.clone());
                let need = need(estimate(&sent.request), *prompt_tokens, *output_tokens, *window);
                self.limits = sent.tokens.less(first, need);
            }
            ChatError::ContextTooLong { .. } => {}
        }
        self.output_factor = 1;
    }
}

/// Estimated tokens that must go.
fn need(estimated: u64, prompt_tokens: u64, output_tokens: u64, window: u64) -> u64 {
    if window == 0 {
        return estimated / 2;
    }
    let excess = prompt_tokens.saturating_add(output_tokens).saturating_sub(window);
    let scaled = u128::from(excess) * u128::from(estimated) / u128::from(prompt_tokens.max(1));
    let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
    scaled.saturating_add(scaled / 16).saturating_add(MARGIN)
}

/// The request of one try.
pub(crate) fn build(
    search: &TreeSearch,
    spec: &WriteSpec,
    sources: Sources<'_>,
    situation: Situation,
    attempt: &Attempt,
) -> Result<Built, StrategyError> {
    let (common, task) = (&search.common, sources.task);
    let Situation { budget, siblings } = situation;
    let parts = Parts::new(search, spec, sources, &attempt.limits)?;
    let variables = OperatorVariables {
        description: &parts.description,
        metric: &task.metric,
        direction: word(task.direction),
        submission_path: submission_path(task),
        preview: &parts.preview,
        packages: &parts.packages,
        memory: &parts.memory,
        parents: &parts.parents(),
        k_fold: search.spec.evaluation.k_fold,
        siblings,
        complexity_cue: spec.complexity_cue,
        study: parts.study.as_ref(),
        steps_left: budget.steps_left(),
        time_left_ms: budget.run_ms_left(),
        execution_limit_ms: budget.next_execution_ms(),
        retry: attempt.retry,
    };
    let prompt = common.prompts.render(&spec.prompt, &variables)?;
    let rules = common.rules(task, &budget)?;
    let messages = vec![Message::text(Speaker::System, rules), Message::text(Speaker::User, prompt)];
    let request = common.request(&spec.role, messages, attempt.output_factor);
    Ok(Built { request, tokens: parts.tokens })
}

/// When a request is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// What is left.
    pub(crate) budget: Budget,
    /// Children that the first parent has already; for a draft, the drafts there are.
    pub(crate) siblings: usize,
}
