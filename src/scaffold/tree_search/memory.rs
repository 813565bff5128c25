//! What a prompt tells of earlier designs: good nodes only, each as a small text made by a template, inside a limit
//! of characters. When not all fit, the best and the newest stay: the best to build upon, the newest because they
//! are what would be repeated. The original had no limit, and long runs overflowed the model's window.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::context::Task;
use crate::node::NodeRecord;
use crate::prompts::Prompts;
use crate::strategy::StrategyError;
use crate::tree_search::variables::DesignVariables;
use crate::tree_search::view::Tree;

/// Earlier designs in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySpec {
    /// Template of one design, a path below `prompts/`.
    pub prompt: String,
    /// Longest text in characters. The best and the newest designs are kept.
    pub max_chars: usize,
}

/// Earlier designs, the most important first.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    designs: Vec<(u32, String)>,
    max_chars: usize,
}

impl Memory {
    /// Gathers the designs of a tree that fit into the limit.
    pub fn gather(
        tree: &Tree,
        task: &Task,
        prompts: &Prompts,
        spec: &MemorySpec,
    ) -> Result<Self, StrategyError> {
        let mut designs = Vec::new();
        let mut left = spec.max_chars;
        for node in by_importance(tree, task) {
            // A character has at most four bytes: this one cannot fit, so it need not be rendered.
            if node.plan.len() / 4 > left {
                continue;
            }
            let variables = DesignVariables {
                id: node.id,
                plan: &node.plan,
                summary: &node.summary,
                metric_name: &task.metric,
                metric: node.metric.map(|metric| metric.to_string()).unwrap_or_default(),
            };
            let text = prompts.render(&spec.prompt, &variables)?;
            let length = text.chars().count() + 1;
            if length <= left {
                left -= length;
                designs.push((node.id, text));
            }
        }
        Ok(Self { designs, max_chars: spec.max_chars })
    }

    /// The designs in the order of their nodes, in at most `1 / divisor` of the limit.
    pub fn text(&self, divisor: usize) -> String {
        let mut left = self.max_chars / divisor.max(1);
        let mut kept = Vec::new();
        for (id, text) in &self.designs {
            let length = text.chars().count() + 1;
            if length <= left {
                left -= length;
                kept.push((*id, text.as_str()));
            }
        }
        kept.sort_unstable();
        kept.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }
}

/// The best, the newest, the second best, the second newest, ... each once.
fn by_importance<'a>(tree: &'a Tree, task: &Task) -> Vec<&'a NodeRecord> {
    let newest = tree.good().rev();
    let best = tree.ranked(task.direction).into_iter();
    let mut seen = BTreeSet::new();
    best.zip(newest).flat_map(|(best, newest)| [best, newest]).filter(|node| seen.insert(node.id)).collect()
}
