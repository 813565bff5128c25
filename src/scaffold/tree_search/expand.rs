//! One worker's work: from the grant of a step to the record of a finished node.

use std::collections::BTreeMap;

use podium_types::execution::{Collected, Execution};
use podium_types::key::EffectKey;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

use crate::context::{ContextError, RunContext};
use crate::node::NodeRecord;
use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;
use crate::tree_search::operators::Written;
use crate::tree_search::operators::bench::{Bench, Job, SOLUTION};
use crate::tree_search::{evaluation, operator_of};

/// A finished node, with what a later prompt may tell of its execution.
#[derive(Clone, Debug)]
pub(crate) struct Expanded {
    pub(crate) record: NodeRecord,
    pub(crate) run: Option<RunVariables>,
}

/// Writes, runs, checks, judges and records one node.
pub(crate) async fn expand(bench: &Bench<'_>) -> Result<Expanded, StrategyError> {
    let Bench { search, context, job, .. } = bench;
    context.begin_step(EffectKey::node(job.id, "begin", 0)).await?;
    let operator = operator_of(search, &job.expansion.operator)?;
    let mut record = blank(job, operator.apply(bench).await?);
    let mut run = None;
    if record.buggy.is_none() {
        let execution = bench.run(SOLUTION, &record.code).await?;
        record.execution_ms = execution.wall_ms;
        record.submission = validate(*context, record.id, &execution.submission).await?;
        record.predictions = predictions(&execution);
        let mut told = RunVariables::new(&execution, &record.submission, &search.common.head.output);
        told.remarks =
            evaluation::evaluate(search, *context, &mut record, &execution, &told, job.best).await?;
        run = Some(told);
    }
    context.node(EffectKey::node(record.id, "record", 0), record.clone()).await?;
    Ok(Expanded { record, run })
}

/// A node that was written and nothing more.
fn blank(job: &Job, written: Written) -> NodeRecord {
    NodeRecord {
        parents: job.expansion.parents.clone(),
        plan: written.plan,
        buggy: written.failure,
        reason: job.expansion.reason.clone(),
        ..NodeRecord::begun(job.id, &job.expansion.operator).with_code(written.code)
    }
}

/// The predictions for training rows that were collected.
fn predictions(execution: &Execution) -> BTreeMap<String, Sha256> {
    let taken = |(path, found): (&String, &Collected)| match found {
        Collected::File { sha256, .. } => Some((path.clone(), sha256.clone())),
        Collected::Missing { .. } => None,
    };
    execution.collected.iter().filter_map(taken).collect()
}

async fn validate(context: &dyn RunContext, id: u32, collected: &Collected) -> Result<Verdict, ContextError> {
    match collected {
        Collected::File { sha256, .. } => context.validate(EffectKey::node(id, "validate", 0), sha256).await,
        Collected::Missing { found } => Ok(Verdict::Missing { found: found.clone() }),
    }
}
