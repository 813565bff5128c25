//! A policy written as an ordered list of rules in the scaffold file. AIDE's greedy search is four of them
//! (Jiang et al. 2025, arXiv:2502.13138, section 3): drafts first; then, by a coin, debug a broken leaf; without a
//! good node draft again; else improve the best.

use podium_types::rng::Rng;

use crate::node::NodeRecord;
use crate::tree_search::policy::{Ask, Policy};
use crate::tree_search::spec::{Candidates, Condition, Pick, RuleSpec};
use crate::tree_search::view::{Expansion, View};

/// The rules, tried from the first.
#[derive(Clone, Debug)]
pub struct Rules {
    rules: Vec<RuleSpec>,
}

impl Rules {
    /// A policy of these rules. They have been checked when the scaffold was loaded.
    pub const fn new(rules: Vec<RuleSpec>) -> Self {
        Self { rules }
    }
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
            let candidates = candidates(from, rule.max_debug_depth, view);
            let (parent, how) = pick(rule.pick?, &candidates, view, rng)?;
            let kind = match from {
                Candidates::BuggyLeaf => "buggy leaves",
                Candidates::Good => "good nodes",
            };
            (vec![parent.id], format!("{how} of {} {kind}", candidates.len()))
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
    }
}

fn candidates<'a>(from: Candidates, max_debug_depth: Option<u32>, view: &View<'a>) -> Vec<&'a NodeRecord> {
    match from {
        Candidates::BuggyLeaf => view.buggy_leaves(max_debug_depth.unwrap_or_default()),
        Candidates::Good => view.tree.good().collect(),
    }
}

fn pick<'a>(
    how: Pick,
    candidates: &[&'a NodeRecord],
    view: &View<'a>,
    rng: &mut Rng,
) -> Option<(&'a NodeRecord, &'static str)> {
    match how {
        Pick::Uniform => rng.pick(candidates).map(|node| (*node, "one")),
        Pick::Best => view.best_of(candidates).map(|node| (node, "best")),
    }
}
