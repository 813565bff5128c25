//! A scaffold ready to run: its file, its prompts and the strategy behind them. This is the door for the run layer
//! and the command line; what lies behind it is the scaffold's own business.

use std::collections::BTreeMap;
use std::sync::Arc;

use podium_types::chat::ChatRequest;

use crate::answer::ParsedAnswer;
use crate::blueprint::Blueprint;
use crate::common::Common;
use crate::context::{Budget, Task};
use crate::prompts::{Prompts, variables};
use crate::registry::Registry;
use crate::spec::{Head, Limits, Resolved, ResolvedValue, SpecError, ValidationSpec, resolve};
use crate::strategy::{Strategy, StrategyError};

/// A scaffold with its overrides applied and its prompts compiled.
#[derive(Clone, Debug)]
pub struct Scaffold {
    common: Common,
    blueprint: Arc<dyn Blueprint>,
    table: toml::Table,
    spec: serde_json::Value,
    values: Vec<ResolvedValue>,
}

impl Scaffold {
    /// Reads a scaffold file, applies `--set` overrides (path, value), and compiles the prompts it names.
    /// The prompts' names are their paths below `prompts/`; those of other scaffolds may be among them.
    pub fn load(
        spec_toml: &str,
        prompts: BTreeMap<String, String>,
        overrides: &[(String, String)],
    ) -> Result<Self, SpecError> {
        Self::load_with(&Registry::shipped(), spec_toml, prompts, overrides)
    }

    /// The same with the strategies of `registry`, for programs that bring their own.
    pub fn load_with(
        registry: &Registry,
        spec_toml: &str,
        prompts: BTreeMap<String, String>,
        overrides: &[(String, String)],
    ) -> Result<Self, SpecError> {
        let Resolved { head, blueprint, table, spec, values } = resolve(registry, spec_toml, overrides)?;
        let used = blueprint.prompts();
        let named = || used.iter().map(|prompt| prompt.template).chain([head.benchmark.prompt.as_str()]);
        let mut prompts = Prompts::of(prompts, named())?;
        prompts.check(&head.benchmark.prompt, "benchmark.prompt", variables::BENCHMARK)?;
        for prompt in &used {
            prompts.check(prompt.template, &prompt.path, prompt.variables)?;
        }
        prompts.keep(named());
        let common = Common { head: Arc::new(head), prompts: Arc::new(prompts) };
        Ok(Self { common, blueprint, table, spec, values })
    }

    /// What all scaffolds have: names, limits, models, cuts.
    pub fn head(&self) -> &Head {
        &self.common.head
    }

    /// The roles for which a model is needed, in alphabetical order.
    pub fn roles(&self) -> Vec<&str> {
        let mut roles: Vec<&str> = self.blueprint.roles().into_iter().map(|role| role.name).collect();
        roles.sort_unstable();
        roles.dedup();
        roles
    }

    /// The limits of a run, unless the command line says otherwise.
    pub fn limits(&self) -> &Limits {
        &self.common.head.limits
    }

    /// Whether programs may have a submission checked while they run.
    pub fn submission_check(&self) -> bool {
        self.common.head.benchmark.submission_check
    }

    /// Training labels that the harness is to keep.
    pub fn validation(&self) -> &ValidationSpec {
        &self.common.head.validation
    }

    /// Executions that may be in work at the same time: each needs its share of processors and memory.
    pub fn parallel_executions(&self) -> u32 {
        self.blueprint.parallel_executions()
    }

    /// What the strategy is put together from, part by part, in a few words; empty: its values say it.
    pub fn composition(&self) -> Vec<(String, String)> {
        self.blueprint.composition()
    }

    /// Every value with its origin, for `--dry-run` and `scaffolds show`.
    pub fn values(&self) -> &[ResolvedValue] {
        &self.values
    }

    /// The whole as one document, head and strategy's tables.
    pub fn spec(&self) -> &serde_json::Value {
        &self.spec
    }

    /// The resolved scaffold as a file of its own: what a run folder keeps. It loads to the same scaffold without
    /// overrides.
    pub fn to_toml(&self) -> String {
        self.table.to_string()
    }

    /// The sources of the prompts that it uses, by their paths below `prompts/`: what a run folder keeps.
    pub fn prompts(&self) -> &BTreeMap<String, String> {
        self.common.prompts.sources()
    }

    /// The strategy.
    pub fn strategy(&self) -> Box<dyn Strategy> {
        Arc::clone(&self.blueprint).strategy(self.common.clone())
    }

    /// The benchmark's rules, as agents read them.
    ///
    /// # Errors
    /// When they do not render.
    pub fn rules(&self, task: &Task, budget: &Budget) -> Result<String, StrategyError> {
        self.common.rules(task, budget)
    }

    /// The role that is asked first, and the request it would get, for `--dry-run`; `None`: no model is asked before
    /// something was run.
    pub fn first_call(
        &self,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        Arc::clone(&self.blueprint).first_call(self.common.clone(), task, budget, preview)
    }

    /// The first request alone; an empty one when there is none.
    pub fn first_prompt(
        &self,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<ChatRequest, StrategyError> {
        Ok(self.first_call(task, budget, preview)?.map(|(_, request)| request).unwrap_or_default())
    }

    /// How this scaffold reads a model's answer. `format` is for strategies that know several.
    pub fn parse_answer(&self, text: &str, format: Option<&str>) -> ParsedAnswer {
        self.blueprint.parse_answer(text, format)
    }
}
