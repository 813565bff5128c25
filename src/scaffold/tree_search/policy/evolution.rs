//! Evolution as AIRA-dojo has it (Toledo et al. 2025, arXiv:2507.02554, section 4; islands after Romera-Paredes et al.
//! 2024, Nature 625): a first generation of drafts, then improvements of one parent and crossovers of two. An island is
//! drawn by the softmax of its members' mean fitness, parents on it by the softmax of their own, both on metrics scaled
//! to 0 (worst) to 1 (best). A draft stays, a child when it is no worse than its island's mean; an island that is too
//! full loses its worst.
//!
//! A child belongs to the island of its first parent and a draft to the islands in turn, so the islands are a function
//! of what was told. Every few generations the weaker half of the islands starts again from its best member and one
//! good node that moves over from a stronger island. (The original sorted the wrong way and reset the strongest.) Buggy
//! nodes are meant to be repaired at once ([`super::repair`]); one that stays buggy joins no island.

use std::collections::BTreeMap;

use podium_types::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::node::NodeRecord;
use crate::spec::SpecError;
use crate::spec::check::{above_zero, at_least_one, at_most, share};
use crate::tree_search::policy::rules::softmax;
use crate::tree_search::policy::{Ask, OperatorUse, Plan, Policy, Told};
use crate::tree_search::view::{Expansion, View, value};

/// The numbers of this policy, and its operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvolutionSpec {
    /// Populations that breed apart.
    pub islands: usize,
    /// Expansions of one generation; the first is all drafts.
    pub generation: usize,
    /// Whether a generation begins only when the one before has come to its end; else children join as they come.
    pub barrier: bool,
    /// Members of an island, at most.
    pub max_members: usize,
    /// Chance of a crossover, where an island has two members; otherwise one is improved.
    pub crossover_probability: f64,
    /// The first generation with crossovers, counted from 0.
    pub crossover_from: usize,
    /// Temperature of both draws.
    pub temperature: TemperatureSpec,
    /// Generations from one reset of the weaker islands to the next; none: they are never reset.
    pub reset_every: Option<usize>,
    /// The operator for a fresh start.
    pub draft: String,
    /// The operator for one parent.
    pub improve: String,
    /// The operator for two parents.
    pub crossover: String,
}

/// A temperature that goes from `start` to `end` in a straight line with the share of steps or of run time that is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemperatureSpec {
    /// At the beginning of the run.
    pub start: f64,
    /// At its end.
    pub end: f64,
}

/// More islands than any run has nodes for.
const MOST_ISLANDS: u64 = 10_000;

impl Plan for EvolutionSpec {
    fn check(&self) -> Result<(), SpecError> {
        at_least_one("policy.islands", self.islands as u64)?;
        at_most("policy.islands", self.islands as u64, MOST_ISLANDS)?;
        at_least_one("policy.generation", self.generation as u64)?;
        at_least_one("policy.max_members", self.max_members as u64)?;
        at_least_one("policy.reset_every", self.reset_every.unwrap_or(1) as u64)?;
        share("policy.crossover_probability", self.crossover_probability)?;
        above_zero("policy.temperature.start", self.temperature.start)?;
        above_zero("policy.temperature.end", self.temperature.end)
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        OperatorUse::of_policy([
            ("draft", &self.draft),
            ("improve", &self.improve),
            ("crossover", &self.crossover),
        ])
    }

    fn counts_by_operator(&self) -> bool {
        true
    }

    fn policy(&self) -> Box<dyn Policy> {
        let islands = vec![Vec::new(); self.islands];
        Box::new(Evolution { spec: self.clone(), islands, homes: BTreeMap::new(), told: 0, drafts: 0 })
    }
}

struct Evolution {
    spec: EvolutionSpec,
    /// The members of each island, in the order in which they joined.
    islands: Vec<Vec<u32>>,
    /// The island of each node that was ever a member.
    homes: BTreeMap<u32, usize>,
    /// Expansions that have come to their end.
    told: usize,
    /// Drafts among them.
    drafts: usize,
}

impl Policy for Evolution {
    fn ask(&mut self, view: &View<'_>, rng: &mut Rng) -> Ask {
        let generation = self.asked(view) / self.spec.generation;
        if self.spec.barrier && generation > self.told / self.spec.generation {
            return Ask::Wait;
        }
        let (start, end) = (self.spec.temperature.start, self.spec.temperature.end);
        let temperature = start + (end - start) * view.progress();
        let parents = match generation {
            0 => None,
            _ => self.parents(generation, temperature, view, rng),
        };
        let operator = match parents.as_ref().map(|(_, parents)| parents.len()) {
            None => &self.spec.draft,
            Some(1) => &self.spec.improve,
            Some(_) => &self.spec.crossover,
        };
        let reason = match &parents {
            Some((island, _)) => format!("generation {generation}, island {}", island + 1),
            None => format!("generation {generation}"),
        };
        let parents = parents.map(|(_, parents)| parents).unwrap_or_default();
        Ask::Expand(Expansion { operator: operator.clone(), parents, reason })
    }

    fn tell(&mut self, told: Told<'_>, view: &View<'_>) {
        self.told += 1;
        let island = match told.asked.parents.first() {
            Some(parent) => self.homes.get(parent).copied().unwrap_or_default(),
            None => {
                self.drafts += 1;
                (self.drafts - 1) % self.spec.islands
            }
        };
        if told.result.is_good() && value(told.result).is_finite() {
            self.join(island, told, view);
        }
        let every = self.spec.reset_every.map(|every| every.saturating_mul(self.spec.generation));
        if every.is_some_and(|every| self.told.is_multiple_of(every)) {
            self.reset_weaker(view);
        }
    }
}

impl Evolution {
    /// Expansions that were asked for, those in work and in repair included, repairs not.
    fn asked(&self, view: &View<'_>) -> usize {
        let own = [&self.spec.draft, &self.spec.improve, &self.spec.crossover];
        let finished = view.tree.nodes().map(|node| &node.operator);
        let pending = view.pending.values().map(|work| &work.operator);
        finished.chain(pending).filter(|operator| own.contains(operator)).count()
    }

    /// The island and the parents of the next child; none: there is nothing to breed from.
    fn parents(
        &self,
        generation: usize,
        temperature: f64,
        view: &View<'_>,
        rng: &mut Rng,
    ) -> Option<(usize, Vec<u32>)> {
        let scale = view.scale(self.islands.iter().flatten().filter_map(|id| view.tree.get(*id)));
        let fitness = |id: u32| view.tree.get(id).map_or(0.0, |node| scale.of(value(node)));
        let inhabited: Vec<(usize, &Vec<u32>)> =
            self.islands.iter().enumerate().filter(|(_, members)| !members.is_empty()).collect();
        let mean = |members: &[u32]| {
            members.iter().map(|id| fitness(*id)).sum::<f64>() / members.len().max(1) as f64
        };
        let means: Vec<f64> = inhabited.iter().map(|(_, members)| mean(members)).collect();
        let (island, members) = *inhabited.get(rng.weighted(&softmax(&means, temperature))?)?;
        let crossed = rng.uniform() < self.spec.crossover_probability;
        let crossed = crossed && generation >= self.spec.crossover_from && members.len() > 1;
        let mut left = members.clone();
        let mut parents = Vec::new();
        for _ in 0..if crossed { 2 } else { 1 } {
            let fit: Vec<f64> = left.iter().map(|id| fitness(*id)).collect();
            parents.push(left.remove(rng.weighted(&softmax(&fit, temperature))?));
        }
        Some((island, parents))
    }

    /// A draft joins its island; a child unless it is worse than the island's mean.
    fn join(&mut self, island: usize, told: Told<'_>, view: &View<'_>) {
        let node = told.result;
        let Some(members) = self.islands.get_mut(island) else { return };
        let values: Vec<f64> = members.iter().filter_map(|id| view.tree.get(*id)).map(value).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let is_child = !told.asked.parents.is_empty();
        if is_child && !values.is_empty() && view.direction.better(mean, value(node)) {
            return;
        }
        members.push(node.id);
        self.homes.insert(node.id, island);
        if members.len() > self.spec.max_members {
            let nodes: Vec<&NodeRecord> = members.iter().filter_map(|id| view.tree.get(*id)).collect();
            let worst = view.ranked(&nodes).last().map(|node| node.id);
            members.retain(|id| Some(*id) != worst);
        }
    }

    /// The weaker half of the islands, by their best members, keeps that best member and gets one node of a stronger
    /// island, its second best, which moves.
    fn reset_weaker(&mut self, view: &View<'_>) {
        let ranked: Vec<Vec<u32>> = self
            .islands
            .iter()
            .map(|members| {
                let nodes: Vec<&NodeRecord> = members.iter().filter_map(|id| view.tree.get(*id)).collect();
                view.ranked(&nodes).into_iter().map(|node| node.id).collect()
            })
            .collect();
        let best = |island: usize| ranked.get(island).and_then(|members| members.first()).copied();
        let metric = |island: usize| best(island).and_then(|id| view.tree.get(id)).map_or(f64::NAN, value);
        let mut order: Vec<usize> = (0..self.islands.len()).collect();
        order.sort_by(|left, right| view.order(metric(*left), metric(*right)));
        let (strong, weak) = order.split_at(order.len().div_ceil(2));
        for (from, to) in strong.iter().zip(weak) {
            let migrant = ranked.get(*from).and_then(|members| members.get(1)).copied();
            if let Some(members) = self.islands.get_mut(*from) {
                members.retain(|id| Some(*id) != migrant);
            }
            if let Some(members) = self.islands.get_mut(*to) {
                *members = best(*to).into_iter().chain(migrant).collect();
            }
            if let Some(migrant) = migrant {
                self.homes.insert(migrant, *to);
            }
        }
    }
}
