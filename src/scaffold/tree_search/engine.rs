//! The engine: asks the policy, keeps the workers busy, tells the policy what came of it.
//!
//! A node has its number from the moment it is proposed, so its effect keys do not depend on the order of
//! completion. The engine never spins: it asks only when a worker is free and something has changed, and a policy
//! that waits with nothing in work ends the run.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use podium_types::key::EffectKey;
use podium_types::verdict::Verdict;

use crate::context::RunContext;
use crate::effect::PreviewRequest;
use crate::prompts::variables::RunVariables;
use crate::strategy::{Finished, StrategyError};
use crate::tree_search::expand::{Expanded, expand};
use crate::tree_search::memory::Memory;
use crate::tree_search::operators::bench::{Bench, Job, Parent};
use crate::tree_search::policy::{self, Ask, Told};
use crate::tree_search::selection::{self, Choice, Selector};
use crate::tree_search::view::{Expansion, Tree, View, value};
use crate::tree_search::{TreeSearch, operator_of};

/// Runs a search until its policy has nothing left to do, or the run context stops it.
pub(crate) async fn run(search: &TreeSearch, context: &dyn RunContext) -> Result<Finished, StrategyError> {
    let direction = context.task().direction;
    let preview = preview(search, context).await?;
    let mut policy = policy::build(&*search.spec.policy, search.spec.repair.as_ref());
    let mut selection = Selection::new(search, context);
    let mut tree = Tree::default();
    let mut runs: BTreeMap<u32, RunVariables> = BTreeMap::new();
    let mut pending: BTreeMap<u32, Expansion> = BTreeMap::new();
    let in_repair = BTreeSet::new();
    let mut workers = FuturesUnordered::new();
    let mut next = 0;
    let mut end = None;
    loop {
        while end.is_none() && workers.len() < search.spec.search.workers {
            let budget = context.budget();
            let view = View { tree: &tree, pending: &pending, in_repair: &in_repair, budget, direction };
            let mut rng = context.rng(&EffectKey::node(next, "policy", 0));
            match policy.ask(&view, &mut rng) {
                Ask::Expand(expansion) => {
                    let job = job(search, context, &view, &runs, next, &expansion)?;
                    workers.push(work(search, context, job, &preview));
                    pending.insert(next, expansion);
                    next += 1;
                }
                Ask::Wait => break,
                Ask::Stop { reason } => end = Some(reason),
            }
        }
        let Some(expanded) = workers.next().await else {
            let reason = end.unwrap_or_else(|| "the search policy had nothing left to do".to_owned());
            return Ok(Finished { reason });
        };
        let Expanded { record, run } = expanded?;
        pending.remove(&record.id);
        if let Some(run) = run {
            runs.insert(record.id, run);
        }
        let id = record.id;
        tree.push(record);
        selection.update(&tree, id).await?;
        let budget = context.budget();
        let view = View { tree: &tree, pending: &pending, in_repair: &in_repair, budget, direction };
        if let Some(node) = tree.get(id) {
            policy.tell(Told { asked: node, result: node }, &view);
        }
    }
}

async fn preview(search: &TreeSearch, context: &dyn RunContext) -> Result<String, StrategyError> {
    if !search.spec.operators.values().flat_map(|operator| operator.asks()).any(|ask| ask.write.data_preview)
    {
        return Ok(String::new());
    }
    let request = PreviewRequest { max_chars: search.common.head.data_preview.max_chars };
    Ok(context.preview(EffectKey::run("preview"), request).await?)
}

/// Everything a worker needs, as of now: what finishes while it works does not change its prompt.
fn job(
    search: &TreeSearch,
    context: &dyn RunContext,
    view: &View<'_>,
    runs: &BTreeMap<u32, RunVariables>,
    id: u32,
    expansion: &Expansion,
) -> Result<Job, StrategyError> {
    let operator = operator_of(search, &expansion.operator)?;
    let mut memories = BTreeMap::new();
    for ask in operator.asks() {
        let Some(spec) = &ask.write.memory else { continue };
        let (prompts, tokens) = (&search.common.prompts, search.spec.prompt_budget.memory);
        let gathered = Memory::gather(view.tree, context.task(), prompts, spec, &expansion.parents, tokens)?;
        memories.insert(ask.table, gathered);
    }
    let parent = |id: &u32| match view.tree.get(*id) {
        Some(node) => Ok(Parent { node: node.clone(), run: runs.get(id).cloned() }),
        None => Err(StrategyError::Policy(format!(
            "it asks for `{}` from node {id}, which has not finished",
            expansion.operator
        ))),
    };
    Ok(Job {
        id,
        expansion: expansion.clone(),
        parents: expansion.parents.iter().map(parent).collect::<Result<_, _>>()?,
        memories,
        siblings: expansion.parents.first().map_or_else(|| view.drafts(), |parent| view.children(*parent)),
        best: view.tree.best(view.direction).map(value),
    })
}

async fn work(
    search: &TreeSearch,
    context: &dyn RunContext,
    job: Job,
    preview: &str,
) -> Result<Expanded, StrategyError> {
    expand(&Bench::new(search, context, &job, preview)).await
}

/// What is in place to be handed in.
struct Selection<'a> {
    context: &'a dyn RunContext,
    selector: Box<dyn Selector>,
    selected: Option<u32>,
}

impl<'a> Selection<'a> {
    fn new(search: &TreeSearch, context: &'a dyn RunContext) -> Self {
        Self { context, selector: selection::build(&search.spec.selection), selected: None }
    }

    /// Puts another submission in place when the node that has just finished changes the choice.
    async fn update(&mut self, tree: &Tree, newest: u32) -> Result<(), StrategyError> {
        let choice = Choice { context: self.context, tree, direction: self.context.task().direction };
        let Some(chosen) = self.selector.choose(choice).await? else { return Ok(()) };
        if self.selected == Some(chosen) {
            return Ok(());
        }
        let Some(Verdict::Valid { sha256, .. }) = tree.get(chosen).map(|node| &node.submission) else {
            return Ok(());
        };
        self.selected = Some(chosen);
        let key = EffectKey::node(newest, "select", 0);
        Ok(self.context.select_final(key, Some(chosen), sha256).await?)
    }
}
