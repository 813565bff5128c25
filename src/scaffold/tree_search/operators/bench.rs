//! The bench an operator works at: one node to be made, and the only dealings with the world that making it needs.
//! It hands out the effect keys, so that an operator that asks or runs several times cannot use one twice.

use std::cell::Cell;
use std::collections::BTreeMap;

use podium_types::chat::{ChatRequest, ChatResult};
use podium_types::execution::{Execution, ExecutionRequest};
use podium_types::key::EffectKey;
use podium_types::rng::Rng;

use crate::context::{Budget, ContextError, RunContext, Task, Validation};
use crate::effect::python;
use crate::node::NodeRecord;
use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::memory::Memory;
use crate::tree_search::operators::write::{Call, write};
use crate::tree_search::operators::{Asks, Written};
use crate::tree_search::view::Expansion;

/// The file a solution runs as.
pub const SOLUTION: &str = "solution.py";

/// A node to be made.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: u32,
    pub(crate) expansion: Expansion,
    pub(crate) parents: Vec<Parent>,
    /// The memory of each of the operator's prompts, by their tables.
    pub(crate) memories: BTreeMap<&'static str, Memory>,
    /// Children that the first parent has already, those in work included; for a draft, the drafts there are.
    pub(crate) siblings: usize,
    /// Metric of the best good node as of the proposal.
    pub(crate) best: Option<f64>,
}

/// A node that the new one is made from.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    pub(crate) node: NodeRecord,
    pub(crate) run: Option<RunVariables>,
}

/// One node's place of work: an operator's only way out.
pub struct Bench<'a> {
    pub(crate) search: &'a TreeSearch,
    pub(crate) context: &'a dyn RunContext,
    pub(crate) job: &'a Job,
    /// Overview of the data.
    pub(crate) preview: &'a str,
    executions: Cell<u32>,
    /// The memory of a prompt that has none.
    nothing: Memory,
}

impl<'a> Bench<'a> {
    /// A bench for one node.
    pub(crate) fn new(
        search: &'a TreeSearch,
        context: &'a dyn RunContext,
        job: &'a Job,
        preview: &'a str,
    ) -> Self {
        Self { search, context, job, preview, executions: Cell::new(0), nothing: Memory::default() }
    }

    /// The nodes that the new one is made from.
    pub fn parents(&self) -> impl Iterator<Item = &NodeRecord> {
        self.job.parents.iter().map(|parent| &parent.node)
    }

    /// The competition and its rules.
    pub fn task(&self) -> &Task {
        self.context.task()
    }

    /// What is left.
    pub fn budget(&self) -> Budget {
        self.context.budget()
    }

    /// Random numbers of this node.
    pub fn rng(&self) -> Rng {
        self.context.rng(&EffectKey::node(self.job.id, "operator", 0))
    }

    /// Has a program written with the prompt of `asked`: until an answer can be used, or its tries are used up. `name`
    /// tells this question from others of the same node; none may be asked twice.
    pub async fn write(&self, asked: &Asks<'_>, name: &str) -> Result<Written, StrategyError> {
        write(asked.write, self, Call { name, memory: self.memory(asked.table), study: None }).await
    }

    /// What the operator's prompt of this table tells of earlier nodes.
    pub(crate) fn memory(&self, table: &str) -> &Memory {
        self.job.memories.get(table).unwrap_or(&self.nothing)
    }

    /// Asks the model of `role`. `call` names the kind of question within the node, `number` the try.
    pub async fn ask(
        &self,
        call: &str,
        number: u32,
        role: &str,
        request: ChatRequest,
    ) -> Result<ChatResult, ContextError> {
        self.context.chat(EffectKey::node(self.job.id, call, number), role, request).await
    }

    /// Runs a program, as this file, in a fresh workspace for as long as an execution may take.
    pub async fn run(&self, file: &str, code: &str) -> Result<Execution, ContextError> {
        let number = self.executions.get();
        self.executions.set(number + 1);
        let predictions = self.context.task().validation.iter().flat_map(Validation::predictions);
        let request = python(file, code.to_owned(), self.context.budget().next_execution_ms());
        let request = ExecutionRequest { collect: predictions.map(str::to_owned).collect(), ..request };
        self.context.execute(EffectKey::node(self.job.id, "execute", number), request).await
    }
}
