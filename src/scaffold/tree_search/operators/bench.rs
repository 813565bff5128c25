//! The bench an operator works at: one node to be made, and the only dealings with the world that making it needs.
//! It hands out the effect keys, so that an operator that asks or runs several times cannot use one twice.

use std::cell::Cell;
use std::collections::BTreeMap;

use podium_types::chat::{ChatRequest, ChatResult};
use podium_types::execution::{Execution, ExecutionRequest, Program, Workspace};
use podium_types::key::EffectKey;

use crate::context::{ContextError, RunContext, Validation};
use crate::node::NodeRecord;
use crate::prompts::variables::RunVariables;
use crate::tree_search::TreeSearch;
use crate::tree_search::memory::Memory;
use crate::tree_search::view::Expansion;

/// The file a solution runs as.
pub(crate) const SOLUTION: &str = "solution.py";

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

/// One node's place of work.
pub(crate) struct Bench<'a> {
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

    /// What the operator's prompt of this table tells of earlier nodes.
    pub(crate) fn memory(&self, table: &str) -> &Memory {
        self.job.memories.get(table).unwrap_or(&self.nothing)
    }

    /// Asks the model of `role`. `call` names the kind of question within the node, `number` the try.
    pub(crate) async fn ask(
        &self,
        call: &str,
        number: u32,
        role: &str,
        request: ChatRequest,
    ) -> Result<ChatResult, ContextError> {
        self.context.chat(EffectKey::node(self.job.id, call, number), role, request).await
    }

    /// Runs a program, as this file, in a fresh workspace for as long as an execution may take.
    pub(crate) async fn run(&self, file: &str, code: &str) -> Result<Execution, ContextError> {
        let number = self.executions.get();
        self.executions.set(number + 1);
        let predictions = self.context.task().validation.iter().flat_map(Validation::predictions);
        let request = ExecutionRequest {
            workspace: Workspace::Fresh,
            program: Program::Python { file: file.to_owned(), code: code.to_owned() },
            timeout_ms: self.context.budget().next_execution_ms(),
            env: BTreeMap::new(),
            collect: predictions.map(str::to_owned).collect(),
            agent: None,
        };
        self.context.execute(EffectKey::node(self.job.id, "execute", number), request).await
    }
}
