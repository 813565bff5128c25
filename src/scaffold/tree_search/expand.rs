//! One worker's work: from the grant of a step to the record of a finished node.

use podium_types::canonical::hash_bytes;
use podium_types::execution::{Collected, Execution, ExecutionRequest, Program};
use podium_types::key::EffectKey;
use podium_types::number::Number;
use podium_types::verdict::Verdict;

use crate::context::{ContextError, RunContext, Validation};
use crate::node::NodeRecord;
use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;
use crate::tree_search::operator::{Job, Written, write};
use crate::tree_search::review::{self, Review};
use crate::tree_search::{TreeSearch, outcome, printed};

/// The file a solution runs as.
const SOLUTION: &str = "solution.py";

/// A finished node, with what a later prompt may tell of its execution.
#[derive(Clone, Debug)]
pub(crate) struct Expanded {
    pub(crate) record: NodeRecord,
    pub(crate) run: Option<RunVariables>,
}

/// Writes, runs, checks, reviews and records one node.
pub(crate) async fn expand(
    search: &TreeSearch,
    context: &dyn RunContext,
    job: Job,
    preview: &str,
) -> Result<Expanded, StrategyError> {
    context.begin_step(EffectKey::node(job.id, "begin", 0)).await?;
    let written = write(search, context, &job, preview).await?;
    let mut record = blank(job, written);
    let mut run = None;
    if record.buggy.is_none() {
        let execution = execute(context, &record).await?;
        record.execution_ms = execution.wall_ms;
        record.submission = validate(context, record.id, &execution.submission).await?;
        let told = RunVariables::new(&execution, &record.submission, &search.common.head.output);
        let review = review::review(search, context, &record, &told).await?;
        let printed = printed::metric(&execution.output, &context.task().metric);
        tell_contradiction(context, record.id, printed, review.as_ref()).await?;
        judge(&mut record, &execution, printed, review);
        run = Some(told);
    }
    context.node(EffectKey::node(record.id, "record", 0), record.clone()).await?;
    Ok(Expanded { record, run })
}

/// A node that was written and nothing more.
fn blank(job: Job, written: Written) -> NodeRecord {
    NodeRecord {
        id: job.id,
        parents: job.expansion.parents,
        operator: job.expansion.operator,
        code_sha256: hash_bytes(written.code.as_bytes()),
        plan: written.plan,
        code: written.code,
        buggy: written.failure,
        metric: None,
        summary: String::new(),
        submission: Verdict::Missing { found: "nothing: it was never executed".to_owned() },
        execution_ms: 0,
        reason: job.expansion.reason,
    }
}

async fn execute(context: &dyn RunContext, node: &NodeRecord) -> Result<Execution, ContextError> {
    let request = ExecutionRequest {
        program: Program::Python { file: SOLUTION.to_owned(), code: node.code.clone() },
        timeout_ms: context.budget().next_execution_ms(),
        env: std::collections::BTreeMap::new(),
        collect: context
            .task()
            .validation
            .iter()
            .flat_map(Validation::predictions)
            .map(str::to_owned)
            .collect(),
    };
    context.execute(EffectKey::node(node.id, "execute", 0), request).await
}

async fn validate(context: &dyn RunContext, id: u32, collected: &Collected) -> Result<Verdict, ContextError> {
    match collected {
        Collected::File { sha256, .. } => context.validate(EffectKey::node(id, "validate", 0), sha256).await,
        Collected::Missing { found } => Ok(Verdict::Missing { found: found.clone() }),
    }
}

/// Tells people where program and review disagree on the metric. Prompts are not told: they show what counts.
async fn tell_contradiction(
    context: &dyn RunContext,
    id: u32,
    printed: Option<f64>,
    review: Option<&Review>,
) -> Result<(), ContextError> {
    let (Some(printed), Some(review)) = (printed, review) else { return Ok(()) };
    if review.is_bug || !printed::contradict(printed, review.metric) {
        return Ok(());
    }
    let (printed, name) = (Number(printed), &context.task().metric);
    let read = review.metric.map_or_else(|| "none".to_owned(), |metric| Number(metric).to_string());
    let text = format!(
        "node {id} printed {printed} as its validation {name}, the review read {read}: the first counts"
    );
    context.note(EffectKey::node(id, "metric", 0), text).await
}

/// Good or buggy, and why. The facts of the harness come before the model's opinion, and the metric that the program
/// printed before the one that the review read.
fn judge(record: &mut NodeRecord, execution: &Execution, printed: Option<f64>, review: Option<Review>) {
    let read = review.as_ref().and_then(|review| review.metric);
    let metric = printed.map_or(read, |printed| Some(printed).filter(|metric| metric.is_finite()));
    let submission = match &record.submission {
        Verdict::Valid { .. } => None,
        Verdict::Invalid { reason } => Some(format!("invalid submission: {reason}")),
        Verdict::Missing { found } => Some(format!("no submission: {found}")),
    };
    let opinion = match &review {
        None => Some("the review could not be read".to_owned()),
        Some(review) if review.is_bug => Some("the review found a bug".to_owned()),
        Some(_) if metric.is_none() => Some("no finite validation metric".to_owned()),
        Some(_) => None,
    };
    record.buggy = outcome::failure(execution).or(submission).or(opinion);
    record.metric = metric.map(Number);
    record.summary = review.map(|review| review.summary).unwrap_or_default();
}
