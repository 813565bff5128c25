//! What the tables of a tree search must fulfil, and the search that is made from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podium_types::chat::ChatRequest;
use podium_types::rng::Rng;

use crate::answer::ParsedAnswer;
use crate::blueprint::{Blueprint, PromptUse, RoleUse};
use crate::common::Common;
use crate::context::{Budget, Task};
use crate::prompts::cut::REMARK;
use crate::samples::Sample;
use crate::spec::check::{at_least_one, invalid, refers_to, tries};
use crate::spec::{Head, SpecError, ValidationSpec};
use crate::strategy::{Strategy, StrategyError};
use crate::tree_search::evaluation::{EvaluationSpec, SourceName};
use crate::tree_search::memory::Memory;
use crate::tree_search::operators::parts::Sources;
use crate::tree_search::operators::request::{Attempt, Situation, build};
use crate::tree_search::operators::{self, Asks};
use crate::tree_search::policy::{self, Ask, OperatorUse};
use crate::tree_search::selection::SelectionSpec;
use crate::tree_search::spec::TreeSearchSpec;
use crate::tree_search::view::{Tree, View};
use crate::tree_search::{TreeSearch, answer, composition, operator_of, samples, variables};

/// More workers than any machine has executions for; a policy is asked once for each.
const MOST_WORKERS: usize = 256;

impl Blueprint for TreeSearchSpec {
    fn check(&self, head: &Head) -> Result<(), SpecError> {
        labels(self, &head.validation)?;
        at_least_one("search.workers", self.search.workers as u64)?;
        if self.search.workers > MOST_WORKERS {
            return Err(invalid("search.workers", &format!("{MOST_WORKERS} at most")));
        }
        evaluation(&self.evaluation)?;
        for (name, operator) in &self.operators {
            operators::check(name, &**operator)?;
        }
        self.selection.check()?;
        self.policy.check()?;
        let repair = self
            .repair
            .as_ref()
            .map(|repair| OperatorUse { path: "repair.operator".to_owned(), name: &repair.operator });
        let asked = self.policy.operators();
        if let Some(repair) = &repair
            && self.policy.counts_by_operator()
            && asked.iter().any(|asked| asked.name == repair.name)
        {
            return Err(invalid(&repair.path, "must be an operator that the policy does not ask for"));
        }
        let mut used = asked.into_iter().chain(repair);
        used.try_for_each(|used| refers_to(&used.path, "operator", used.name, &self.operators))
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        let review = self.evaluation.review.as_ref();
        let review =
            review.map(|review| RoleUse { path: "evaluation.review.role".to_owned(), name: &review.role });
        let operators = self
            .operators
            .iter()
            .flat_map(|(name, operator)| operators::roles(&format!("operators.{name}"), &**operator));
        review.into_iter().chain(operators).collect()
    }

    fn prompts(&self) -> Vec<PromptUse<'_>> {
        let review = self.evaluation.review.as_ref().map(|review| PromptUse {
            path: "evaluation.review.prompt".to_owned(),
            template: &review.prompt,
            variables: variables::REVIEW,
        });
        let operators = self
            .operators
            .iter()
            .flat_map(|(name, operator)| operators::prompts(&format!("operators.{name}"), &**operator));
        let remark = PromptUse {
            path: "prompt_budget.remark".to_owned(),
            template: &self.prompt_budget.remark,
            variables: REMARK,
        };
        review.into_iter().chain([remark]).chain(operators).collect()
    }

    fn samples(&self) -> Vec<Sample> {
        samples::of(self)
    }

    fn composition(&self) -> Vec<(String, String)> {
        composition::of(self)
    }

    fn parallel_executions(&self) -> u32 {
        u32::try_from(self.search.workers).unwrap_or(u32::MAX)
    }

    fn strategy(self: Arc<Self>, common: Common) -> Box<dyn Strategy> {
        Box::new(TreeSearch { common, spec: self })
    }

    fn first_call(
        self: Arc<Self>,
        common: Common,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        let search = TreeSearch { common, spec: self };
        let (tree, pending, in_repair) = (Tree::default(), BTreeMap::new(), BTreeSet::new());
        let direction = task.direction;
        let view = View { tree: &tree, pending: &pending, in_repair: &in_repair, budget: *budget, direction };
        let Ask::Expand(expansion) = policy::build(&*search.spec.policy, None).ask(&view, &mut Rng::new(0))
        else {
            return Ok(None);
        };
        let operator = operator_of(&search, &expansion.operator)?;
        let Some(Asks { write, .. }) = operator.asks().into_iter().next() else { return Ok(None) };
        let memory = &Memory::default();
        let sources = Sources { task, preview, memory, parents: &[], study: None };
        let situation = Situation { budget: *budget, siblings: 0 };
        let attempt = Attempt::first(search.spec.prompt_budget.limits());
        let built = build(&search, write, sources, situation, &attempt)?;
        Ok(Some((write.role.clone(), built.request)))
    }

    fn parse_answer(&self, text: &str, _format: Option<&str>) -> ParsedAnswer {
        answer::parse(text)
    }
}

/// Sources and rules that need training labels of the harness have them.
fn labels(spec: &TreeSearchSpec, validation: &ValidationSpec) -> Result<(), SpecError> {
    let named =
        |source| spec.evaluation.metric.iter().chain(&spec.evaluation.record).any(|name| *name == source);
    let chosen = matches!(spec.selection, SelectionSpec::Holdout(_));
    let (search, last) = (validation.holdout.search > 0.0, validation.holdout.last > 0.0);
    for (needed, given, path, owner) in [
        (
            named(SourceName::Holdout),
            search,
            "validation.holdout.search",
            "the source `holdout` of `evaluation`",
        ),
        (
            named(SourceName::Folds),
            validation.folds > 0,
            "validation.folds",
            "the source `folds` of `evaluation`",
        ),
        (chosen, last, "validation.holdout.final", "`selection.kind = \"holdout\"`"),
    ] {
        if needed && !given {
            return Err(invalid(path, &format!("must be above 0 for {owner}")));
        }
    }
    Ok(())
}

fn evaluation(spec: &EvaluationSpec) -> Result<(), SpecError> {
    at_least_one("evaluation.k_fold", u64::from(spec.k_fold))?;
    at_least_one("evaluation.metric", spec.metric.len() as u64)?;
    if spec.outlier_factor.is_some_and(|factor| !(factor.is_finite() && factor > 1.0)) {
        return Err(invalid("evaluation.outlier_factor", "must be a number above 1"));
    }
    match &spec.review {
        Some(review) => tries("evaluation.review.tries", review.tries),
        None if spec.metric.iter().chain(&spec.record).any(|source| *source == SourceName::Review) => {
            Err(invalid("evaluation.review", "is needed where the metric may come from the review"))
        }
        None => Ok(()),
    }
}
