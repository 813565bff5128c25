//! The parts of an operator's prompt, each inside its limit of tokens. A part that was cut says so itself, by the
//! remark's template; so templates need not know.

use podium_types::tokens::estimate_text;

use crate::context::Task;
use crate::prompts::budget::{Part, Tokens, shares};
use crate::prompts::cut::{self, Cutter, output_tokens};
use crate::prompts::sections;
use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::memory::Memory;
use crate::tree_search::operators::WriteSpec;
use crate::tree_search::operators::bench::Parent;
use crate::tree_search::variables::{ParentVariables, StudyVariables};

/// What a prompt is made of.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) task: &'a Task,
    pub(crate) preview: &'a str,
    pub(crate) memory: &'a Memory,
    pub(crate) parents: &'a [Parent],
    pub(crate) study: Option<&'a StudyVariables>,
}

/// The parts as they are shown.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) description: String,
    pub(crate) preview: String,
    pub(crate) packages: Vec<String>,
    pub(crate) memory: String,
    pub(crate) study: Option<StudyVariables>,
    parents: Vec<Shown>,
    /// What they take.
    pub(crate) tokens: Tokens,
}

#[derive(Clone, Debug)]
struct Shown {
    id: u32,
    plan: String,
    code: String,
    summary: String,
    metric: Option<String>,
    run: Option<RunVariables>,
}

impl Parts {
    /// Cuts what is longer than its limit.
    pub(crate) fn new(
        search: &TreeSearch,
        spec: &WriteSpec,
        sources: Sources<'_>,
        limits: &Tokens,
    ) -> Result<Self, StrategyError> {
        let Sources { task, preview, memory, parents, study } = sources;
        let cutter = Cutter::new(&search.common.prompts, &search.spec.prompt_budget.remark);
        let runs: Vec<Option<&RunVariables>> = parents
            .iter()
            .map(|parent| parent.run.as_ref())
            .chain([study.and_then(|study| study.run.as_ref())])
            .collect();
        let mut runs = outputs(&runs, limits.of(Part::Output));
        let study = study.map(|study| StudyVariables { run: runs.pop().flatten(), ..study.clone() });
        let text = |part, text: fn(&Parent) -> &str| -> Result<Vec<String>, StrategyError> {
            let texts: Vec<&str> = parents.iter().map(text).collect();
            let sizes: Vec<u64> = texts.iter().map(|text| estimate_text(text)).collect();
            let shares = shares(limits.of(part), &sizes);
            texts.into_iter().zip(shares).map(|(text, share)| cutter.middle(part, text, share)).collect()
        };
        let plans = text(Part::Plan, |parent| &parent.node.plan)?;
        let codes = text(Part::Code, |parent| &parent.node.code)?;
        let summaries = text(Part::Summary, |parent| &parent.node.summary)?;
        let parents = parents.iter().zip(plans).zip(codes).zip(summaries).zip(runs);
        let preview = if spec.data_preview { preview } else { "" };
        let packages = if spec.packages { search.common.packages(task) } else { &[] };
        let mut parts = Self {
            description: sections::description(&task.description, limits.of(Part::Description), cutter)?,
            preview: cutter.end(Part::Preview, preview, limits.of(Part::Preview))?,
            packages: names(packages, limits.of(Part::Packages)),
            memory: memory.text(limits.of(Part::Memory), cutter)?,
            study,
            parents: parents
                .map(|((((parent, plan), code), summary), run)| Shown {
                    id: parent.node.id,
                    plan,
                    code,
                    summary,
                    metric: parent.node.metric.map(|metric| metric.to_string()),
                    run,
                })
                .collect(),
            tokens: Tokens::default(),
        };
        parts.tokens = parts.count();
        Ok(parts)
    }

    /// The parents as templates see them.
    pub(crate) fn parents(&self) -> Vec<ParentVariables<'_>> {
        self.parents.iter().map(Shown::variables).collect()
    }

    fn count(&self) -> Tokens {
        let mut tokens = Tokens::default();
        tokens.add(Part::Description, estimate_text(&self.description));
        tokens.add(Part::Preview, estimate_text(&self.preview));
        tokens.add(Part::Packages, self.packages.iter().map(|name| name_tokens(name)).sum());
        tokens.add(Part::Memory, estimate_text(&self.memory));
        for parent in &self.parents {
            tokens.add(Part::Plan, estimate_text(&parent.plan));
            tokens.add(Part::Code, estimate_text(&parent.code));
            tokens.add(Part::Summary, estimate_text(&parent.summary));
        }
        let study = self.study.as_ref().and_then(|study| study.run.as_ref());
        let runs = self.parents.iter().filter_map(|parent| parent.run.as_ref()).chain(study);
        tokens.add(Part::Output, runs.map(output_tokens).sum());
        tokens
    }
}

impl Shown {
    fn variables(&self) -> ParentVariables<'_> {
        ParentVariables {
            id: self.id,
            plan: &self.plan,
            code: &self.code,
            summary: &self.summary,
            metric: self.metric.clone(),
            run: self.run.as_ref(),
        }
    }
}

fn outputs(runs: &[Option<&RunVariables>], limit: u64) -> Vec<Option<RunVariables>> {
    let sizes: Vec<u64> = runs.iter().map(|run| run.map_or(0, output_tokens)).collect();
    let shares = shares(limit, &sizes);
    runs.iter().zip(shares).map(|(run, share)| run.map(|run| cut::run(run, share))).collect()
}

/// The first names that fit.
fn names(packages: &[String], limit: u64) -> Vec<String> {
    let mut left = limit;
    let fits = |name: &&String| {
        let tokens = name_tokens(name);
        let fits = tokens <= left;
        left = left.saturating_sub(tokens);
        fits
    };
    packages.iter().take_while(fits).cloned().collect()
}

/// A name and the comma behind it.
fn name_tokens(name: &str) -> u64 {
    estimate_text(name) + 1
}
