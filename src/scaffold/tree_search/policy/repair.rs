//! Repair at once: a buggy node is debugged by the next free worker, again and again, until it is good or the limits
//! of the chain are reached; only then does the policy behind hear of it. So does AIRA-dojo's MCTS and evolution
//! (Toledo et al. 2025, arXiv:2507.02554); AIDE leaves the choice to its policy instead.
//!
//! It is a policy around a policy, so each policy can be had with it and none needs to know. Every repair is a node of
//! its own and costs a step.

use std::collections::BTreeSet;

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::Duration;
use crate::tree_search::policy::{Ask, Policy, Told};
use crate::tree_search::view::{Expansion, View};

/// When and how buggy nodes are repaired at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairSpec {
    /// The operator that repairs.
    pub operator: String,
    /// Repairs of one node, at most.
    pub max_depth: u32,
    /// Executions of one chain together take no longer than this when another repair is begun; none: no limit.
    pub max_time: Option<Duration>,
}

/// A chain of repairs that goes on.
#[derive(Clone, Debug)]
struct Chain {
    /// The node that the policy had asked for.
    asked: u32,
    /// Its newest repair, or itself.
    last: u32,
    /// Repairs so far.
    depth: u32,
    execution_ms: u64,
}

/// A policy whose buggy nodes are repaired at once.
pub(crate) struct Repair {
    inner: Box<dyn Policy>,
    spec: RepairSpec,
    /// The chains that go on, the oldest first. Only nodes that have finished change them: whether somebody works on
    /// the next repair is seen from the expansions in work.
    chains: Vec<Chain>,
}

impl Repair {
    pub(crate) const fn new(inner: Box<dyn Policy>, spec: RepairSpec) -> Self {
        Self { inner, spec, chains: Vec::new() }
    }

    fn open(&self) -> BTreeSet<u32> {
        self.chains.iter().flat_map(|chain| [chain.asked, chain.last]).collect()
    }

    fn in_work(&self, chain: &Chain, view: &View<'_>) -> bool {
        let is_repair =
            |work: &Expansion| work.operator == self.spec.operator && work.parents == [chain.last];
        view.pending.values().any(is_repair)
    }

    /// The chain that a finished node belongs to, taken out.
    fn chain_of(&mut self, node: &NodeRecord) -> Chain {
        let parent = node.parents.first().copied().filter(|_| node.operator == self.spec.operator);
        match self.chains.iter().position(|chain| Some(chain.last) == parent) {
            Some(place) => {
                let chain = self.chains.remove(place);
                Chain {
                    last: node.id,
                    depth: chain.depth + 1,
                    execution_ms: chain.execution_ms.saturating_add(node.execution_ms),
                    ..chain
                }
            }
            None => Chain { asked: node.id, last: node.id, depth: 0, execution_ms: node.execution_ms },
        }
    }

    fn goes_on(&self, chain: &Chain) -> bool {
        let in_time = self.spec.max_time.as_ref().is_none_or(|limit| chain.execution_ms < limit.millis());
        chain.depth < self.spec.max_depth && in_time
    }
}

impl Policy for Repair {
    fn ask(&mut self, view: &View<'_>, rng: &mut Rng) -> Ask {
        let Some(chain) = self.chains.iter().find(|chain| !self.in_work(chain, view)) else {
            let open = self.open();
            return self.inner.ask(&View { in_repair: &open, ..*view }, rng);
        };
        Ask::Expand(Expansion {
            operator: self.spec.operator.clone(),
            parents: vec![chain.last],
            reason: format!("repair {} of {} of node {}", chain.depth + 1, self.spec.max_depth, chain.asked),
        })
    }

    fn tell(&mut self, told: Told<'_>, view: &View<'_>) {
        let chain = self.chain_of(told.result);
        if !told.result.is_good() && self.goes_on(&chain) {
            self.chains.push(chain);
            return;
        }
        let asked = view.tree.get(chain.asked).unwrap_or(told.asked);
        let open = self.open();
        self.inner.tell(Told { asked, result: told.result }, &View { in_repair: &open, ..*view });
    }
}
