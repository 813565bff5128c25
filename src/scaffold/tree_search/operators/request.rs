//! From a job to the request that is sent: the benchmark's rules as the system message, the operator's prompt as the
//! user message.

use podium_types::chat::{ChatRequest, Message, Speaker};

use crate::context::{Budget, Task};
use crate::prompts::variables::{submission_path, word};
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::operators::WriteSpec;
use crate::tree_search::operators::bench::{Job, Parent};
use crate::tree_search::variables::{OperatorVariables, ParentVariables};

/// What changes from one try to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// What was wrong with the answer before, as templates know it.
    pub(crate) retry: &'static str,
    /// Times the role's output limit.
    pub(crate) output_factor: u32,
    /// Memory and preview get one part in this many of their limits.
    pub(crate) shrink: usize,
}

impl Attempt {
    pub(crate) const fn first() -> Self {
        Self { retry: "none", output_factor: 1, shrink: 1 }
    }
}

/// The request of one try.
pub(crate) fn build(
    search: &TreeSearch,
    task: &Task,
    budget: &Budget,
    spec: &WriteSpec,
    job: &Job,
    preview: &str,
    attempt: &Attempt,
) -> Result<ChatRequest, StrategyError> {
    let common = &search.common;
    let preview_chars = common.head.data_preview.max_chars / attempt.shrink.max(1);
    let preview = if spec.data_preview { prefix(preview, preview_chars) } else { "" };
    let parents: Vec<ParentVariables<'_>> = job.parents.iter().map(parent).collect();
    let variables = OperatorVariables {
        description: &task.description,
        metric: &task.metric,
        direction: word(task.direction),
        submission_path: submission_path(task),
        preview,
        packages: if spec.packages { common.packages(task) } else { &[] },
        memory: &job.memory.text(attempt.shrink),
        parents: &parents,
        k_fold: search.spec.evaluation.k_fold,
        siblings: job.siblings,
        steps_left: budget.steps_left(),
        time_left_ms: budget.run_ms_left(),
        execution_limit_ms: budget.next_execution_ms(),
        retry: attempt.retry,
    };
    let prompt = common.prompts.render(&spec.prompt, &variables)?;
    let rules = common.rules(task, budget)?;
    let messages = vec![Message::text(Speaker::System, rules), Message::text(Speaker::User, prompt)];
    Ok(common.request(&spec.role, messages, attempt.output_factor))
}

fn parent(parent: &Parent) -> ParentVariables<'_> {
    ParentVariables {
        id: parent.node.id,
        plan: &parent.node.plan,
        code: &parent.node.code,
        summary: &parent.node.summary,
        metric: parent.node.metric.map(|metric| metric.to_string()),
        run: parent.run.as_ref(),
    }
}

/// The first `chars` characters.
fn prefix(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
