//! From a job to the request that is sent: the benchmark's rules as the system message, the operator's prompt as the
//! user message.

use podium_types::chat::{ChatRequest, Message, Speaker};

use crate::context::{Budget, Direction, Task};
use crate::prompts::variables::{BenchmarkVariables, OperatorVariables, ParentVariables};
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::operator::{Job, Parent};

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
    job: &Job,
    preview: &str,
    attempt: &Attempt,
) -> Result<ChatRequest, StrategyError> {
    let spec = &search.spec;
    let preview_chars = spec.data_preview.max_chars / attempt.shrink.max(1);
    let preview = if job.operator.data_preview { prefix(preview, preview_chars) } else { "" };
    let packages = if job.operator.packages { spec.benchmark.max_packages } else { 0 };
    let parents: Vec<ParentVariables<'_>> = job.parents.iter().map(parent).collect();
    let variables = OperatorVariables {
        description: &task.description,
        metric: &task.metric,
        direction: word(task.direction),
        submission_path: submission_path(task),
        preview,
        packages: task.packages.get(..packages).unwrap_or(&task.packages),
        memory: &job.memory.text(attempt.shrink),
        parents: &parents,
        k_fold: spec.evaluation.k_fold,
        steps_left: budget.steps_left(),
        time_left_ms: budget.run_ms_left(),
        execution_limit_ms: budget.next_execution_ms(),
        retry: attempt.retry,
    };
    let prompt = search.prompts.render(&job.operator.prompt, &variables)?;
    let rules = search.prompts.render(&spec.benchmark.prompt, &benchmark(task, budget))?;
    let messages = vec![Message::text(Speaker::System, rules), Message::text(Speaker::User, prompt)];
    Ok(ask(search, &job.operator.role, messages, attempt.output_factor))
}

/// A request with the settings of `role`.
pub(crate) fn ask(
    search: &TreeSearch,
    role: &str,
    messages: Vec<Message>,
    output_factor: u32,
) -> ChatRequest {
    let settings = search.spec.models.get(role);
    ChatRequest {
        messages,
        temperature: settings.and_then(|settings| settings.temperature),
        max_output_tokens: settings
            .and_then(|settings| settings.max_output_tokens)
            .map(|limit| limit.saturating_mul(output_factor)),
        ..ChatRequest::default()
    }
}

/// The variables of the benchmark's rules.
pub fn benchmark<'a>(task: &'a Task, budget: &Budget) -> BenchmarkVariables<'a> {
    BenchmarkVariables {
        competition: &task.competition,
        metric: &task.metric,
        direction: word(task.direction),
        submission_path: submission_path(task),
        time_limit_ms: budget.run_limit_ms,
        step_limit: budget.step_limit,
        execution_limit_ms: budget.execution_limit_ms,
        cpus: task.grants.cpus,
        memory_bytes: task.grants.memory_bytes,
        gpus: &task.grants.gpus,
        network: task.grants.network,
    }
}

/// The one path of the submission, without a leading `./`.
pub(crate) fn submission_path(task: &Task) -> &str {
    task.submission_path.trim_start_matches("./")
}

/// The direction as templates know it.
pub(crate) const fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
    }
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
