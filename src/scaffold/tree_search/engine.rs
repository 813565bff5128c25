//! The engine: asks the policy, keeps the workers busy, tells the policy what came of it.
//!
//! A node has its number from the moment it is proposed, so its effect keys do not depend on the order of
//! completion. The engine never spins: it asks only when a worker is free and something has changed, and a policy
//! that waits with nothing in work ends the run.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use podium_types::key::EffectKey;
use podium_types::verdict::Verdict;

use crate::context::{Direction, RunContext};
use crate::effect::PreviewRequest;
use crate::node::NodeRecord;
use crate::prompts::variables::RunVariables;
use crate::strategy::{Finished, StrategyError};
use crate::tree_search::expand::{Expanded, expand};
use crate::tree_search::memory::Memory;
use crate::tree_search::operator::{Job, Parent};
use crate::tree_search::policy::{self, Ask};
use crate::tree_search::view::{Expansion, Tree, View, value};
use crate::tree_search::{TreeSearch, operator_of};

/// Runs a search until its policy has nothing left to do, or the run context stops it.
pub(crate) async fn run(search: &TreeSearch, context: &dyn RunContext) -> Result<Finished, StrategyError> {
    let direction = context.task().direction;
    let preview = preview(search, context).await?;
    let mut policy = policy::build(&search.spec.policy);
    let mut tree = Tree::default();
    let mut runs: BTreeMap<u32, RunVariables> = BTreeMap::new();
    let mut pending: BTreeMap<u32, Expansion> = BTreeMap::new();
    let mut workers = FuturesUnordered::new();
    let mut next = 0;
    loop {
        while workers.len() < search.spec.search.workers {
            let view = View { tree: &tree, pending: &pending, budget: context.budget(), direction };
            let mut rng = context.rng(&EffectKey::node(next, "policy", 0));
            let Ask::Expand(expansion) = policy.ask(&view, &mut rng) else { break };
            let job = job(search, context, &tree, &runs, next, &expansion)?;
            workers.push(expand(search, context, job, &preview));
            pending.insert(next, expansion);
            next += 1;
        }
        let Some(expanded) = workers.next().await else {
            return Ok(Finished { reason: "the search policy had nothing left to do".to_owned() });
        };
        let Expanded { record, run } = expanded?;
        pending.remove(&record.id);
        if let Some(run) = run {
            runs.insert(record.id, run);
        }
        select(context, &tree, direction, &record).await?;
        policy.tell(&record);
        tree.push(record);
    }
}

async fn preview(search: &TreeSearch, context: &dyn RunContext) -> Result<String, StrategyError> {
    if !search.spec.operators.values().any(|operator| operator.data_preview) {
        return Ok(String::new());
    }
    let request = PreviewRequest { max_chars: search.common.head.data_preview.max_chars };
    Ok(context.preview(EffectKey::run("preview"), request).await?)
}

/// Everything a worker needs, as of now: what finishes while it works does not change its prompt.
fn job(
    search: &TreeSearch,
    context: &dyn RunContext,
    tree: &Tree,
    runs: &BTreeMap<u32, RunVariables>,
    id: u32,
    expansion: &Expansion,
) -> Result<Job, StrategyError> {
    let operator = operator_of(search, &expansion.operator)?.clone();
    let memory = match &operator.memory {
        Some(spec) => Memory::gather(tree, context.task(), &search.common.prompts, spec)?,
        None => Memory::default(),
    };
    let parent =
        |id: &u32| tree.get(*id).map(|node| Parent { node: node.clone(), run: runs.get(id).cloned() });
    let parents = expansion.parents.iter().filter_map(parent).collect();
    Ok(Job { id, expansion: expansion.clone(), operator, parents, memory })
}

/// Puts a node's submission in place when it is better than all before it.
async fn select(
    context: &dyn RunContext,
    tree: &Tree,
    direction: Direction,
    node: &NodeRecord,
) -> Result<(), StrategyError> {
    let Verdict::Valid { sha256, .. } = &node.submission else { return Ok(()) };
    let better = tree.best(direction).is_none_or(|best| direction.better(value(node), value(best)));
    if node.is_good() && better {
        context.select_final(EffectKey::node(node.id, "select", 0), Some(node.id), sha256).await?;
    }
    Ok(())
}
