//! A scaffold ready to run: its file, its prompts and the strategy behind them. This is the door for the run layer
//! and the command line; what lies behind it is the scaffold's own business.

use std::collections::BTreeMap;
use std::sync::Arc;

use podium_types::chat::ChatRequest;
use podium_types::rng::Rng;

use crate::context::{Budget, Task};
use crate::prompts::{Prompts, variables};
use crate::spec::{Limits, Resolved, ResolvedValue, ScaffoldSpec, SpecError, resolve};
use crate::strategy::{Strategy, StrategyError};
use crate::tree_search::answer::{self, ParsedAnswer};
use crate::tree_search::memory::Memory;
use crate::tree_search::operator::Job;
use crate::tree_search::policy::{self, Ask};
use crate::tree_search::request::{Attempt, build};
use crate::tree_search::view::{Tree, View};
use crate::tree_search::{TreeSearch, operator_of};

/// A scaffold with its overrides applied and its prompts compiled.
#[derive(Clone, Debug)]
pub struct Scaffold {
    /// The resolved spec.
    pub spec: Arc<ScaffoldSpec>,
    table: toml::Table,
    values: Vec<ResolvedValue>,
    search: TreeSearch,
}

impl Scaffold {
    /// Reads a scaffold file, applies `--set` overrides (path, value), and compiles the prompts it names.
    /// The prompts' names are their paths below `prompts/`; those of other scaffolds may be among them.
    pub fn load(
        spec_toml: &str,
        prompts: BTreeMap<String, String>,
        overrides: &[(String, String)],
    ) -> Result<Self, SpecError> {
        let Resolved { spec, table, values } = resolve(spec_toml, overrides)?;
        let prompts = Arc::new(Prompts::new(prompts)?);
        check_prompts(&spec, &prompts)?;
        let spec = Arc::new(spec);
        Ok(Self { spec: Arc::clone(&spec), table, values, search: TreeSearch { spec, prompts } })
    }

    /// The roles for which a model is needed, in alphabetical order.
    pub fn roles(&self) -> Vec<&str> {
        let operators = self.spec.operators.values().map(|operator| operator.role.as_str());
        let mut roles: Vec<&str> = operators.chain([self.spec.evaluation.role.as_str()]).collect();
        roles.sort_unstable();
        roles.dedup();
        roles
    }

    /// The limits of a run, unless the command line says otherwise.
    pub fn limits(&self) -> &Limits {
        &self.spec.limits
    }

    /// How many executions may be asked for at the same time.
    pub fn parallel_executions(&self) -> usize {
        self.spec.search.workers
    }

    /// Every value with its origin, for `--dry-run` and `scaffolds show`.
    pub fn values(&self) -> &[ResolvedValue] {
        &self.values
    }

    /// The resolved scaffold as a file of its own: what a run folder keeps. It loads to the same scaffold without
    /// overrides.
    pub fn to_toml(&self) -> String {
        self.table.to_string()
    }

    /// The prompt sources, by their paths below `prompts/`: what a run folder keeps.
    pub fn prompts(&self) -> &BTreeMap<String, String> {
        self.search.prompts.sources()
    }

    /// The strategy.
    pub fn strategy(&self) -> Box<dyn Strategy> {
        Box::new(self.search.clone())
    }

    /// The role that is asked first, and the request it would get, for `--dry-run`.
    pub fn first_call(
        &self,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<(String, ChatRequest), StrategyError> {
        let (tree, pending) = (Tree::default(), BTreeMap::new());
        let view = View { tree: &tree, pending: &pending, budget: *budget, direction: task.direction };
        let Ask::Expand(expansion) = policy::build(&self.spec.policy).ask(&view, &mut Rng::new(0)) else {
            return Ok((self.spec.evaluation.role.clone(), ChatRequest::default()));
        };
        let operator = operator_of(&self.search, &expansion.operator)?.clone();
        let role = operator.role.clone();
        let job = Job { id: 0, expansion, operator, parents: Vec::new(), memory: Memory::default() };
        let request = build(&self.search, task, budget, &job, preview, &Attempt::first())?;
        Ok((role, request))
    }

    /// The first request alone.
    pub fn first_prompt(
        &self,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<ChatRequest, StrategyError> {
        self.first_call(task, budget, preview).map(|(_, request)| request)
    }

    /// How this scaffold reads a model's answer. Tree search has one format only, so `format` does not matter.
    pub fn parse_answer(&self, text: &str, _format: Option<&str>) -> ParsedAnswer {
        answer::parse(text)
    }
}

/// Every template that the scaffold names is there and asks for nothing that is not set.
fn check_prompts(spec: &ScaffoldSpec, prompts: &Prompts) -> Result<(), SpecError> {
    prompts.check(&spec.benchmark.prompt, "benchmark.prompt", variables::BENCHMARK)?;
    prompts.check(&spec.evaluation.prompt, "evaluation.prompt", variables::REVIEW)?;
    for (name, operator) in &spec.operators {
        prompts.check(&operator.prompt, &format!("operators.{name}.prompt"), variables::OPERATOR)?;
        if let Some(memory) = &operator.memory {
            prompts.check(&memory.prompt, &format!("operators.{name}.memory.prompt"), variables::DESIGN)?;
        }
    }
    Ok(())
}
