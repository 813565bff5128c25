//! The shape of a scaffold file. Every field that changes behaviour is required, so each number has one home;
//! `Option` means "none", never "some default".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::spec::Duration;

/// A scaffold file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaffoldSpec {
    /// Name of the file without its ending.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// The Rust code behind it.
    pub strategy: StrategyKind,
    /// Version of this composition; raised when a change makes old runs not comparable.
    pub version: u32,
    /// Limits of a run, unless the command line says otherwise.
    pub limits: Limits,
    /// Settings of the models, by role.
    pub models: BTreeMap<String, ModelSettings>,
    /// How the search runs.
    pub search: SearchSpec,
    /// Which node is expanded next, and how.
    pub policy: PolicySpec,
    /// How a child is made, by operator name.
    pub operators: BTreeMap<String, OperatorSpec>,
    /// How a node is judged.
    pub evaluation: EvaluationSpec,
    /// The overview of the data in prompts.
    pub data_preview: DataPreviewSpec,
    /// How execution output is cut for prompts.
    pub output: OutputSpec,
    /// The part of the prompts that all scaffolds share.
    pub benchmark: BenchmarkSpec,
}

/// The strategies that a file may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyKind {
    /// A search policy over a tree of solutions.
    TreeSearch,
}

/// Limits of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Steps: nodes of a tree search.
    pub steps: u32,
    /// Run time.
    pub time_limit: Duration,
    /// Time of one execution.
    pub execution_timeout: Duration,
}

/// Settings of the model in one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Sampling temperature; none: the model's own.
    pub temperature: Option<f64>,
    /// Output limit in tokens; none: the model's own.
    pub max_output_tokens: Option<u32>,
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

/// The overview of the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataPreviewSpec {
    /// Longest text in characters.
    pub max_chars: usize,
}

/// How execution output is cut for prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSpec {
    /// Output up to this many characters is shown whole.
    pub max_chars: usize,
    /// Characters kept of the beginning of a longer one.
    pub head_chars: usize,
    /// Characters kept of its end.
    pub tail_chars: usize,
}

/// The part of the prompts that all scaffolds share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkSpec {
    /// Template of the benchmark's rules, a path below `prompts/`.
    pub prompt: String,
    /// Packages of the Python environment named in prompts, the most useful first.
    pub max_packages: usize,
}
