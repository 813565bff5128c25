//! The tables of a tree search in a scaffold file: the four things that vary, each with tables of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::prompts::budget::PromptBudgetSpec;
use crate::tree_search::evaluation::EvaluationSpec;
use crate::tree_search::operators::OperatorSpec;
use crate::tree_search::policy::PolicySpec;
use crate::tree_search::policy::repair::RepairSpec;
use crate::tree_search::selection::SelectionSpec;

/// The tables of a tree search, beside the head that all scaffolds have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeSearchSpec {
    /// How the search runs.
    pub search: SearchSpec,
    /// Which node is expanded next, and how.
    pub policy: PolicySpec,
    /// Buggy nodes are repaired at once, before the policy hears of them; none: the policy decides about them.
    pub repair: Option<RepairSpec>,
    /// How a child is made, by operator name.
    pub operators: BTreeMap<String, OperatorSpec>,
    /// Tokens that each part of a prompt may take.
    pub prompt_budget: PromptBudgetSpec,
    /// How a node is judged.
    pub evaluation: EvaluationSpec,
    /// Which node is handed in.
    pub selection: SelectionSpec,
}

/// How the search runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSpec {
    /// Expansions in work at the same time.
    pub workers: usize,
}
