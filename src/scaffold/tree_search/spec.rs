//! The tables of a tree search in a scaffold file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The tables of a tree search, beside the head that all scaffolds have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeSearchSpec {
    /// How the search runs.
    pub search: SearchSpec,
    /// Which node is expanded next, and how.
    pub policy: PolicySpec,
    /// How a child is made, by operator name.
    pub operators: BTreeMap<String, OperatorSpec>,
    /// How a node is judged.
    pub evaluation: EvaluationSpec,
}

/// How the search runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSpec {
    /// Expansions in work at the same time.
    pub workers: usize,
}

/// The search policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySpec {
    /// The code behind the policy.
    pub kind: PolicyKind,
    /// For `rules`: tried from the first; the first that applies decides.
    pub rule: Vec<RuleSpec>,
}

/// The policies that a file may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyKind {
    /// An ordered list of rules.
    Rules,
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
    /// For `drafts_below`: the number of drafts.
    pub number: Option<usize>,
    /// Chance that the rule is tried; none: always, without a draw.
    pub probability: Option<f64>,
    /// The nodes to choose from; none: the operator needs no parent.
    pub from: Option<Candidates>,
    /// For `buggy_leaf`: a node of this debug depth is the last that may be debugged.
    pub max_debug_depth: Option<u32>,
    /// How to choose among the candidates.
    pub pick: Option<Pick>,
    /// The operator to apply.
    pub operator: String,
}

/// When a rule is considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Fewer drafts than `number`, those in work included.
    DraftsBelow,
    /// No good node yet.
    NoGood,
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
}

/// How a rule chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// Each with the same chance.
    Uniform,
    /// The best metric; the earliest of equals.
    Best,
}

/// How a child is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorSpec {
    /// Template, a path below `prompts/`.
    pub prompt: String,
    /// The role whose model writes.
    pub role: String,
    /// Answers to ask for before the node is given up.
    pub tries: u32,
    /// Earlier designs in the prompt; none: left out.
    pub memory: Option<MemorySpec>,
    /// Whether the overview of the data is in the prompt.
    pub data_preview: bool,
    /// Whether the list of installed packages is in the prompt.
    pub packages: bool,
}

/// Earlier designs in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySpec {
    /// Template of one design, a path below `prompts/`.
    pub prompt: String,
    /// Longest text in characters. The best and the newest designs are kept.
    pub max_chars: usize,
}

/// How a node is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSpec {
    /// Template of the review, a path below `prompts/`.
    pub prompt: String,
    /// The role whose model reviews.
    pub role: String,
    /// Reviews to ask for before the node counts as buggy.
    pub tries: u32,
    /// Folds of the cross-validation that prompts suggest; 1: no word of it.
    pub k_fold: u32,
}
