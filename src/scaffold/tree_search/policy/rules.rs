//! A policy written as an ordered list of rules in the scaffold file. AIDE's greedy search is four of them
//! (Jiang et al. 2025, arXiv:2502.13138, section 3): drafts first; then, by a coin, debug a broken leaf; without a
//! good node draft again; else improve the best.
//!
//! The vocabulary is small and fixed: a condition, candidates, a way to pick, an operator. What cannot be said in it is
//! a policy of its own.

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::{at_least_one, at_most, belongs, invalid};
use crate::tree_search::policy::{Ask, OperatorUse, Plan, Policy};
use crate::tree_search::view::{Expansion, View};

/// The rules in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesSpec {
    /// Tried from the first; the first that applies decides.
    pub rule: Vec<RuleSpec>,
}

/// One rule. It applies when its condition holds, its coin (one uniform draw) falls well, and, where it names
/// candidates, there is one; otherwise the next rule is tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// A name, for `--set policy.rule.NAME.…` and for the reasons in the journal.
    pub name: String,
    /// The condition.
    pub when: Condition,
    /// For `drafts_below` and `good_at_least`: the number of nodes.
    pub number: Option<usize>,
    /// For `progress_at_least`: the share of steps or of run time that is used, whichever is more.
    pub share: Option<f64>,
    /// Chance that the rule is tried; none: always, without a draw.
    pub probability: Option<f64>,
    /// The nodes to choose from; none: the operator needs no parent.
    pub from: Option<Candidates>,
    /// For `buggy_leaf`: a node of this debug depth is the last that may be debugged.
    pub max_debug_depth: Option<u32>,
    /// Candidates have fewer children than this, those in work included; none: any number.
    pub max_children: Option<usize>,
    /// How to choose among the candidates.
    pub pick: Option<Pick>,
    /// For `softmax`: its temperature, on metrics scaled to 0 (worst candidate) to 1 (best).
    pub temperature: Option<f64>,
    /// For `tournament`: candidates drawn (with replacement), of which the best is taken.
    pub size: Option<usize>,
    /// The operator to apply.
    pub operator: String,
    /// Parents to pick, all different; more than one for operators that join nodes, none: one. The rule does not apply
    /// when there are fewer candidates.
    pub parents: Option<usize>,
}

/// When a rule is considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Fewer drafts than `number`, those in work included.
    DraftsBelow,
    /// No good node yet.
    NoGood,
    /// At least `number` good nodes.
    GoodAtLeast,
    /// At least this `share` of the steps or of the run time is used.
    ProgressAtLeast,
    /// Always.
    Always,
}

/// The nodes a rule chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidates {
    /// Buggy nodes without a child, in work or finished, up to `max_debug_depth`.
    BuggyLeaf,
    /// Good nodes.
    Good,
    /// Good nodes without a child, in work or finished.
    GoodLeaf,
}

/// How a rule chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// Each with the same chance.
    Uniform,
    /// The best metric; the earliest of equals.
    Best,
    /// The one that finished last.
    Latest,
    /// With a chance in proportion to 1, 1/2, 1/3, ... from the best metric.
    Rank,
    /// With a chance in proportion to the exponential of the scaled metric over the temperature.
    Softmax,
    /// The best of a few that are drawn.
    Tournament,
}

impl Plan for RulesSpec {
    fn check(&self) -> Result<(), SpecError> {
        at_least_one("policy.rule", self.rule.len() as u64)?;
        self.rule.iter().try_for_each(|rule| check(self, rule))
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        let used = |rule: &'_ RuleSpec| format!("rule.{}.operator", rule.name);
        self.rule.iter().map(|rule| OperatorUse::policy(&used(rule), &rule.operator)).collect()
    }

    fn told(&self) -> Option<String> {
        let names: Vec<&str> = self.rule.iter().map(|rule| rule.name.as_str()).collect();
        Some(format!("rules: {}", names.join(", else ")))
    }

    fn policy(&self) -> Box<dyn Policy> {
        Box::new(Rules { rules: self.rule.clone() })
    }
}

/// A tournament of so many is sure of the best in any run.
const MOST_DRAWN: u64 = 10_000;

fn check(spec: &RulesSpec, rule: &RuleSpec) -> Result<(), SpecError> {
    let path = |field: &str| format!("policy.rule.{}.{field}", rule.name);
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    if !rule.name.starts_with(|first: char| first.is_ascii_alphabetic()) || !rule.name.chars().all(word) {
        return Err(invalid(&path("name"), "must be a word of letters, digits, `_` and `-`"));
    }
    if spec.rule.iter().filter(|other| other.name == rule.name).count() > 1 {
        return Err(invalid(&path("name"), "is the name of two rules"));
    }
    for (field, share) in [("probability", rule.probability), ("share", rule.share)] {
        if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(invalid(&path(field), "must be between 0 and 1"));
        }
    }
    if rule.temperature.is_some_and(|temperature| !(temperature.is_finite() && temperature > 0.0)) {
        return Err(invalid(&path("temperature"), "must be a number above 0"));
    }
    at_least_one(&path("size"), rule.size.unwrap_or(1) as u64)?;
    at_most(&path("size"), rule.size.unwrap_or(1) as u64, MOST_DRAWN)?;
    at_least_one(&path("parents"), rule.parents.unwrap_or(1) as u64)?;
    let counts = matches!(rule.when, Condition::DraftsBelow | Condition::GoodAtLeast);
    belongs(counts, rule.number.is_some(), &path("number"), "when = \"drafts_below\" or \"good_at_least\"")?;
    let timed = rule.when == Condition::ProgressAtLeast;
    belongs(timed, rule.share.is_some(), &path("share"), "when = \"progress_at_least\"")?;
    let debugs = rule.from == Some(Candidates::BuggyLeaf);
    belongs(debugs, rule.max_debug_depth.is_some(), &path("max_debug_depth"), "from = \"buggy_leaf\"")?;
    belongs(rule.from.is_some(), rule.pick.is_some(), &path("pick"), "`from`")?;
    let soft = rule.pick == Some(Pick::Softmax);
    belongs(soft, rule.temperature.is_some(), &path("temperature"), "pick = \"softmax\"")?;
    let drawn = rule.pick == Some(Pick::Tournament);
    belongs(drawn, rule.size.is_some(), &path("size"), "pick = \"tournament\"")?;
    if rule.from.is_none() && (rule.max_children.is_some() || rule.parents.is_some()) {
        return Err(invalid(&path("from"), "is needed where parents are counted"));
    }
    Ok(())
}

/// The rules, tried from the first.
#[derive(Clone, Debug)]
struct Rules {
    rules: Vec<RuleSpec>,
}

impl Policy for Rules {
    fn ask(&mut self, view: &View<'_>, rng: &mut Rng) -> Ask {
        self.rules.iter().find_map(|rule| apply(rule, view, rng)).map_or(Ask::Wait, Ask::Expand)
    }
}

/// The expansion a rule leads to; `None`: it does not apply.
fn apply(rule: &RuleSpec, view: &View<'_>, rng: &mut Rng) -> Option<Expansion> {
    let why = condition(rule, view)?;
    if rule.probability.is_some_and(|chance| rng.uniform() >= chance) {
        return None;
    }
    let (parents, why) = match rule.from {
        None => (Vec::new(), why),
        Some(from) => {
            let candidates = candidates(from, rule, view);
            let parents = pick(rule, &candidates, view, rng)?;
            let kind = match from {
                Candidates::BuggyLeaf => "buggy leaves",
                Candidates::Good => "good nodes",
                Candidates::GoodLeaf => "good leaves",
            };
            let how = match (rule.pick?, rule.parents.unwrap_or(1)) {
                (Pick::Best, 1) => "best".to_owned(),
                (Pick::Latest, 1) => "latest".to_owned(),
                (_, 1) => "one".to_owned(),
                (_, number) => number.to_string(),
            };
            (parents, format!("{how} of {} {kind}", candidates.len()))
        }
    };
    let reason = format!("rule {}: {why}", rule.name);
    Some(Expansion { operator: rule.operator.clone(), parents, reason })
}

/// Why the condition holds; `None`: it does not.
fn condition(rule: &RuleSpec, view: &View<'_>) -> Option<String> {
    match rule.when {
        Condition::Always => Some("always".to_owned()),
        Condition::NoGood => view.tree.good().next().is_none().then(|| "no good node".to_owned()),
        Condition::DraftsBelow => {
            let (drafts, number) = (view.drafts(), rule.number?);
            (drafts < number).then(|| format!("{drafts} of {number} drafts"))
        }
        Condition::GoodAtLeast => {
            let (good, number) = (view.tree.good().count(), rule.number?);
            (good >= number).then(|| format!("{good} good nodes"))
        }
        Condition::ProgressAtLeast => {
            let progress = view.progress();
            (progress >= rule.share?).then(|| format!("{:.0} % used", progress * 100.0))
        }
    }
}

fn candidates<'a>(from: Candidates, rule: &RuleSpec, view: &View<'a>) -> Vec<&'a NodeRecord> {
    let mut nodes = match from {
        Candidates::BuggyLeaf => view.buggy_leaves(rule.max_debug_depth.unwrap_or_default()),
        Candidates::Good => view.tree.good().collect(),
        Candidates::GoodLeaf => view.tree.good().filter(|node| view.children(node.id) == 0).collect(),
    };
    if let Some(limit) = rule.max_children {
        nodes.retain(|node| view.children(node.id) < limit);
    }
    nodes
}

/// Picks the parents one after another, each from the candidates that are left.
fn pick(rule: &RuleSpec, candidates: &[&NodeRecord], view: &View<'_>, rng: &mut Rng) -> Option<Vec<u32>> {
    let mut left = candidates.to_vec();
    let mut parents = Vec::new();
    for _ in 0..rule.parents.unwrap_or(1) {
        let node = pick_one(rule, &left, view, rng)?;
        left.retain(|other| other.id != node);
        parents.push(node);
    }
    Some(parents)
}

fn pick_one(rule: &RuleSpec, candidates: &[&NodeRecord], view: &View<'_>, rng: &mut Rng) -> Option<u32> {
    let weighed = |weights: Vec<f64>, nodes: &[&NodeRecord], rng: &mut Rng| {
        nodes.get(rng.weighted(&weights)?).map(|node| node.id)
    };
    match rule.pick? {
        Pick::Uniform => rng.pick(candidates).map(|node| node.id),
        Pick::Best => view.best_of(candidates).map(|node| node.id),
        Pick::Latest => candidates.last().map(|node| node.id),
        Pick::Rank => {
            let ranked = view.ranked(candidates);
            let weights = (1..=ranked.len()).map(|rank| 1.0 / rank as f64).collect();
            weighed(weights, &ranked, rng)
        }
        Pick::Softmax => {
            let weights = softmax(&view.scaled(candidates), rule.temperature?);
            weighed(weights, candidates, rng)
        }
        Pick::Tournament => {
            let drawn: Vec<&NodeRecord> =
                (0..rule.size?).filter_map(|_| rng.pick(candidates).copied()).collect();
            view.best_of(&drawn).map(|node| node.id)
        }
    }
}

/// Weights in proportion to exp(value / temperature), the largest of them 1.
pub(crate) fn softmax(values: &[f64], temperature: f64) -> Vec<f64> {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().map(|value| ((value - largest) / temperature).exp()).collect()
}
