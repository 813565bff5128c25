//! The tables of a tree search in a scaffold file: the four things that vary, each with tables of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::parts::{Part, PartFault};
use crate::prompts::budget::PromptBudgetSpec;
use crate::registry::Registry;
use crate::spec::{Source, SpecError};
use crate::tree_search::evaluation::EvaluationSpec;
use crate::tree_search::operators::Operator;
use crate::tree_search::policy::Plan;
use crate::tree_search::policy::repair::RepairSpec;
use crate::tree_search::selection::SelectionSpec;

/// The tables of a tree search, beside the head that all scaffolds have. Policy and operators are of a kind that their
/// tables name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TreeSearchSpec<P = Part<dyn Plan>, O = Part<dyn Operator>> {
    /// How the search runs.
    pub search: SearchSpec,
    /// Which node is expanded next, and how.
    pub policy: P,
    /// Buggy nodes are repaired at once, before the policy hears of them; none: the policy decides about them.
    pub repair: Option<RepairSpec>,
    /// How a child is made, by operator name.
    pub operators: BTreeMap<String, O>,
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

/// The same with policy and operators as they stand in the file.
pub type RawTreeSearchSpec = TreeSearchSpec<toml::Table, toml::Table>;

impl TreeSearchSpec {
    /// Reads the tables of a file, with policy and operators of the kinds that they name.
    pub fn read(source: &Source<'_>, registry: &Registry) -> Result<Self, SpecError> {
        let raw: RawTreeSearchSpec = source.read()?;
        let read = || {
            let operator = |(name, table): (String, toml::Table)| {
                let part = registry.operators.read(&format!("operators.{name}"), table)?;
                Ok((name, part))
            };
            Ok(Self {
                search: raw.search,
                policy: registry.policies.read("policy", raw.policy)?,
                repair: raw.repair,
                operators: raw.operators.into_iter().map(operator).collect::<Result<_, PartFault>>()?,
                prompt_budget: raw.prompt_budget,
                evaluation: raw.evaluation,
                selection: raw.selection,
            })
        };
        read().map_err(|fault| source.wrong_part(fault))
    }
}
