//! What the tables of a tree search must fulfil, and the search that is made from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use podium_types::chat::ChatRequest;
use podium_types::rng::Rng;

use crate::answer::ParsedAnswer;
use crate::blueprint::{Blueprint, PromptUse, RoleUse};
use crate::common::Common;
use crate::context::{Budget, Task};
use crate::spec::check::{at_least_one, belongs, invalid, refers_to};
use crate::spec::{Head, SpecError};
use crate::strategy::{Strategy, StrategyError};
use crate::tree_search::memory::Memory;
use crate::tree_search::operator::Job;
use crate::tree_search::policy::{self, Ask};
use crate::tree_search::request::{Attempt, build};
use crate::tree_search::spec::{Candidates, Condition, RuleSpec, TreeSearchSpec};
use crate::tree_search::view::{Tree, View};
use crate::tree_search::{TreeSearch, answer, operator_of, variables};

/// More workers than any machine has executions for; a policy is asked once for each.
const MOST_WORKERS: usize = 256;

impl Blueprint for TreeSearchSpec {
    fn check(&self, _: &Head) -> Result<(), SpecError> {
        at_least_one("search.workers", self.search.workers as u64)?;
        if self.search.workers > MOST_WORKERS {
            return Err(invalid("search.workers", &format!("{MOST_WORKERS} at most")));
        }
        at_least_one("evaluation.tries", u64::from(self.evaluation.tries))?;
        at_least_one("evaluation.k_fold", u64::from(self.evaluation.k_fold))?;
        at_least_one("policy.rule", self.policy.rule.len() as u64)?;
        for (name, operator) in &self.operators {
            at_least_one(&format!("operators.{name}.tries"), u64::from(operator.tries))?;
        }
        self.policy.rule.iter().try_for_each(|item| rule(self, item))
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        let review = RoleUse { path: "evaluation.role".to_owned(), name: &self.evaluation.role };
        let operators = self
            .operators
            .iter()
            .map(|(name, operator)| RoleUse { path: format!("operators.{name}.role"), name: &operator.role });
        [review].into_iter().chain(operators).collect()
    }

    fn prompts(&self) -> Vec<PromptUse<'_>> {
        let mut prompts = vec![PromptUse {
            path: "evaluation.prompt".to_owned(),
            template: &self.evaluation.prompt,
            variables: variables::REVIEW,
        }];
        for (name, operator) in &self.operators {
            let path = format!("operators.{name}.prompt");
            prompts.push(PromptUse { path, template: &operator.prompt, variables: variables::OPERATOR });
            if let Some(memory) = &operator.memory {
                let path = format!("operators.{name}.memory.prompt");
                prompts.push(PromptUse { path, template: &memory.prompt, variables: variables::DESIGN });
            }
        }
        prompts
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
        let (tree, pending) = (Tree::default(), BTreeMap::new());
        let view = View { tree: &tree, pending: &pending, budget: *budget, direction: task.direction };
        let Ask::Expand(expansion) = policy::build(&search.spec.policy).ask(&view, &mut Rng::new(0)) else {
            return Ok(None);
        };
        let operator = operator_of(&search, &expansion.operator)?.clone();
        let role = operator.role.clone();
        let job = Job { id: 0, expansion, operator, parents: Vec::new(), memory: Memory::default() };
        let request = build(&search, task, budget, &job, preview, &Attempt::first())?;
        Ok(Some((role, request)))
    }

    fn parse_answer(&self, text: &str, _format: Option<&str>) -> ParsedAnswer {
        answer::parse(text)
    }
}

fn rule(spec: &TreeSearchSpec, rule: &RuleSpec) -> Result<(), SpecError> {
    let path = |field: &str| format!("policy.rule.{}.{field}", rule.name);
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    if !rule.name.starts_with(|first: char| first.is_ascii_alphabetic()) || !rule.name.chars().all(word) {
        return Err(invalid(&path("name"), "must be a word of letters, digits, `_` and `-`"));
    }
    if spec.policy.rule.iter().filter(|other| other.name == rule.name).count() > 1 {
        return Err(invalid(&path("name"), "is the name of two rules"));
    }
    refers_to(&path("operator"), "operator", &rule.operator, &spec.operators)?;
    if rule.probability.is_some_and(|chance| !(0.0..=1.0).contains(&chance)) {
        return Err(invalid(&path("probability"), "must be between 0 and 1"));
    }
    let counts = rule.when == Condition::DraftsBelow;
    belongs(counts, rule.number.is_some(), &path("number"), "when = \"drafts_below\"")?;
    let debugs = rule.from == Some(Candidates::BuggyLeaf);
    belongs(debugs, rule.max_debug_depth.is_some(), &path("max_debug_depth"), "from = \"buggy_leaf\"")?;
    belongs(rule.from.is_some(), rule.pick.is_some(), &path("pick"), "`from`")
}
