//! What a prompt tells of earlier nodes, each as a small text made by a template, inside a limit of tokens. Which
//! nodes is the memory's scope: all good ones (AIDE), those made from the same parent (ML-Master, AIRA's operators), or
//! the failed mends on the way to a broken program (AIRA's debug; arXiv:2507.02554, section 4).
//!
//! When not all fit, the best and the newest stay: the best to build upon, the newest because they are what would be
//! repeated. The original had no limit, and long runs overflowed the model's window.

use std::collections::BTreeSet;

use podium_types::tokens::estimate_text;
use serde::{Deserialize, Serialize};

use crate::context::Task;
use crate::node::NodeRecord;
use crate::prompts::Prompts;
use crate::prompts::cut::Cutter;
use crate::strategy::StrategyError;
use crate::tree_search::variables::DesignVariables;
use crate::tree_search::view::{Tree, best_first};

/// Earlier designs in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySpec {
    /// Template of one design, a path below `prompts/`.
    pub prompt: String,
    /// Which nodes are told of.
    pub scope: MemoryScope,
}

/// The nodes of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// All good nodes.
    Good,
    /// The finished children of the parents, good or buggy; for an operator without a parent, all drafts.
    Siblings,
    /// What led to a buggy parent: its buggy ancestors up to the first good node, which is not among them. The parent
    /// itself is not either: prompts show it whole.
    Ancestors,
}

/// Designs that a search for room passes over in a row before it gives up: none smaller is likely to come.
const MISSES: usize = 32;

/// Earlier designs, the most important first.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    designs: Vec<Design>,
    /// Nodes in the scope, those that did not fit included.
    all: usize,
}

#[derive(Clone, Debug)]
struct Design {
    id: u32,
    text: String,
    tokens: u64,
}

impl Memory {
    /// Gathers the designs of a tree that fit into so many tokens, for a node to be made from `parents`.
    pub fn gather(
        tree: &Tree,
        task: &Task,
        prompts: &Prompts,
        spec: &MemorySpec,
        parents: &[u32],
        max_tokens: u64,
    ) -> Result<Self, StrategyError> {
        let nodes = match spec.scope {
            MemoryScope::Good => by_importance(tree.good().collect(), task),
            MemoryScope::Siblings => by_importance(siblings(tree, parents), task),
            MemoryScope::Ancestors => ancestors(tree, parents),
        };
        let mut memory = Self { designs: Vec::new(), all: nodes.len() };
        let (mut left, mut misses) = (max_tokens, 0);
        for node in nodes {
            let variables = DesignVariables {
                id: node.id,
                plan: &node.plan,
                summary: &node.summary,
                metric_name: &task.metric,
                metric: node.metric.filter(|_| node.is_good()).map(|metric| metric.to_string()),
                failure: node.buggy.as_deref(),
            };
            let text = prompts.render(&spec.prompt, &variables)?;
            let tokens = estimate_text(&text) + 1;
            if tokens <= left {
                left -= tokens;
                misses = 0;
                memory.designs.push(Design { id: node.id, text, tokens });
            } else {
                misses += 1;
                if misses == MISSES {
                    break;
                }
            }
        }
        Ok(memory)
    }

    /// The designs in the order of their nodes, in at most so many tokens; if some are missing, it says how many.
    pub fn text(&self, max_tokens: u64, cutter: Cutter<'_>) -> Result<String, StrategyError> {
        let whole = self.designs.len() == self.all
            && self.designs.iter().map(|design| design.tokens).sum::<u64>() <= max_tokens;
        // The count of all is as long as any count of some.
        let remark = if whole { String::new() } else { cutter.designs(self.all)? };
        let mut left = max_tokens.saturating_sub(estimate_text(&remark));
        let mut kept = Vec::new();
        for design in &self.designs {
            if design.tokens <= left {
                left -= design.tokens;
                kept.push((design.id, design.text.as_str()));
            }
        }
        if kept.is_empty() && estimate_text(&remark) > max_tokens {
            return Ok(String::new());
        }
        kept.sort_unstable();
        let shown = kept.len();
        let mut text = kept.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
        if !whole && shown < self.all {
            text.push_str(&cutter.designs(self.all - shown)?);
        }
        Ok(text)
    }
}

fn siblings<'a>(tree: &'a Tree, parents: &[u32]) -> Vec<&'a NodeRecord> {
    if parents.is_empty() {
        return tree.nodes().filter(|node| node.parents.is_empty()).collect();
    }
    let children: BTreeSet<u32> = parents.iter().flat_map(|parent| tree.children(*parent)).copied().collect();
    children.into_iter().filter_map(|id| tree.get(id)).collect()
}

/// The nearest first.
fn ancestors<'a>(tree: &'a Tree, parents: &[u32]) -> Vec<&'a NodeRecord> {
    let path = parents.first().map(|parent| tree.path(*parent)).unwrap_or_default();
    path.into_iter().take_while(|node| !node.is_good()).skip(1).collect()
}

/// The best, the newest, the second best, the second newest, ... each once.
fn by_importance<'a>(nodes: Vec<&'a NodeRecord>, task: &Task) -> Vec<&'a NodeRecord> {
    let newest = nodes.clone().into_iter().rev();
    let best = best_first(nodes, task.direction).into_iter();
    let mut seen = BTreeSet::new();
    best.zip(newest).flat_map(|(best, newest)| [best, newest]).filter(|node| seen.insert(node.id)).collect()
}
