//! The matrix resolved into runs: each with its identity, what it needs of the machine, and what it may cost at most.
//! Nothing is run or spent here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use podium_competition::BoardKind;
use podium_types::money::Usd;
use serde::{Deserialize, Serialize};

use crate::experiment::error::ExperimentError;
use crate::experiment::settings;
use crate::experiment::spec::{Arm, ExperimentSpec, MODEL, SCAFFOLD};
use crate::run::config::PreviewMode;
use crate::run::grants::Asked;
use crate::run::order::{Order, Resolved, packages_pinned};
use crate::run::site::Site;
use crate::run::wording::Wording;

/// One run of the plan, as `experiment.json` holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Name of its folder below the experiment's; the end of it is the beginning of the identity.
    pub folder: String,
    /// Hash of the resolved configuration.
    pub identity: String,
    /// Scaffold, model and settings.
    pub arm: Arm,
    /// The competition.
    pub competition: String,
    /// The seed.
    pub seed: u64,
    /// What it holds of the machine while it goes on.
    pub needs: Needs,
    /// Dollars at most: 0 where all models are free, none where nothing bounds them.
    pub worst_cost: Option<Usd>,
    /// Tokens at most; none: unlimited.
    pub worst_tokens: Option<u64>,
    /// Run time at most, in milliseconds; none: unlimited.
    pub worst_ms: Option<u64>,
    /// Steps at most; none: unlimited.
    #[serde(default)]
    pub steps: Option<u32>,
}

impl PlannedRun {
    /// A cell of the matrix of which nothing else is known yet.
    pub fn of(arm: Arm, competition: &str, seed: u64) -> Self {
        Self {
            folder: String::new(),
            identity: String::new(),
            arm,
            competition: competition.to_owned(),
            seed,
            needs: Needs::default(),
            worst_cost: None,
            worst_tokens: None,
            worst_ms: None,
            steps: None,
        }
    }
}

/// What a run holds of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// Processors.
    pub cpus: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Graphics processors.
    pub gpus: usize,
}

/// What a report has to know of a competition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompetitionFacts {
    /// The splits it belongs to.
    pub splits: Vec<String>,
    /// Its category.
    pub category: String,
    /// Human teams or baselines.
    pub board: BoardKind,
    /// When it ended.
    pub ended: Option<String>,
    /// What is known to be wrong with it.
    pub known_issues: Vec<String>,
}

/// A whole plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// All runs, seed by seed.
    pub runs: Vec<PlannedRun>,
    /// Facts of their competitions.
    pub competitions: BTreeMap<String, CompetitionFacts>,
}

impl ExperimentSpec {
    /// The ids of all competitions.
    ///
    /// # Errors
    /// When the split is unknown.
    fn all_competitions(&self, site: &Site) -> Result<Vec<String>, ExperimentError> {
        let mut all = self.competitions.clone();
        if let Some(split) = &self.split {
            let catalog = site.competitions()?;
            let members = catalog.split(split).map_err(crate::run::error::RunError::from)?;
            all.extend(members.into_iter().map(|competition| competition.id.clone()));
        }
        let mut seen = BTreeSet::new();
        all.retain(|id| seen.insert(id.clone()));
        Ok(all)
    }

    /// Resolves the matrix on this machine.
    ///
    /// # Errors
    /// The first run that cannot be resolved, by name: nothing begins before all can.
    pub fn plan(&self, site: &mut Site) -> Result<Plan, ExperimentError> {
        self.check()?;
        let (arms, competitions) = (self.arms(), self.all_competitions(site)?);
        let mut plan = Plan { runs: Vec::new(), competitions: BTreeMap::new() };
        let seeds = self.seeds.all();
        let mounts = site.mounts.clone();
        let mut runs = Vec::new();
        for (column, competition) in competitions.iter().enumerate() {
            for (row, arm) in arms.iter().enumerate() {
                let mut first: Option<Resolved> = None;
                for (layer, seed) in seeds.iter().enumerate() {
                    let other = first.as_ref().and_then(|first| first.with_seed(*seed));
                    let resolved = other.map_or_else(|| resolve(site, arm, competition, *seed), Ok)?;
                    runs.push(((layer, column, row), planned(arm, &resolved)?));
                    first.get_or_insert(resolved);
                }
                if let Some(resolved) = &first {
                    plan.competitions.entry(competition.clone()).or_insert_with(|| facts(resolved));
                }
            }
        }
        runs.sort_by_key(|(place, _)| *place);
        let mut seen = BTreeSet::new();
        plan.runs =
            runs.into_iter().map(|(_, run)| run).filter(|run| seen.insert(run.identity.clone())).collect();
        site.mounts = mounts;
        if self.cap_cost.is_some() && plan.runs.iter().any(|run| run.worst_cost.is_none()) {
            return Err(ExperimentError::Unbounded { cap: "dollar", limit: "dollar" });
        }
        if self.cap_tokens.is_some() && plan.runs.iter().any(|run| run.worst_tokens.is_none()) {
            return Err(ExperimentError::Unbounded { cap: "token", limit: "token" });
        }
        Ok(plan)
    }
}

/// The order of one run.
fn order(site: &Site, arm: &Arm, competition: &str, seed: u64) -> Result<Order, ExperimentError> {
    let mut order = Order {
        scaffold: arm.get(SCAFFOLD).cloned().unwrap_or_default(),
        overrides: Vec::new(),
        competition: competition.to_owned(),
        model: arm.get(MODEL).cloned(),
        roles: BTreeMap::new(),
        seed: Some(seed),
        steps: None,
        run_ms: None,
        execution_ms: None,
        tokens: None,
        cost: None,
        sandbox: Asked { environment: "base".to_owned(), ..Asked::default() },
        description: Wording::Original,
        mle_bench: site.variables.get("PODIUM_MLE_BENCH").map(PathBuf::from),
        preview: PreviewMode::default(),
    };
    for (name, value) in arm.iter().filter(|(name, _)| *name != SCAFFOLD && *name != MODEL) {
        settings::apply(&mut order, name, value)?;
    }
    Ok(order)
}

/// Resolves one run against the pins of its environment. The site has the run's mounts then.
///
/// # Errors
/// When it cannot be run, by name.
pub fn resolve(
    site: &mut Site,
    arm: &Arm,
    competition: &str,
    seed: u64,
) -> Result<Resolved, ExperimentError> {
    let mut order = order(site, arm, competition, seed)?;
    site.mounts.clone_from(&order.sandbox.mounts);
    let name = order.folder_name();
    let failed = |source| ExperimentError::Run { run: name.clone(), source };
    order.name_recordings(site).map_err(failed)?;
    // A scaffold that asks no model has no roles to name one for.
    if site.scaffold(&order.scaffold, &order.overrides).map_err(failed)?.roles().is_empty() {
        order.model = None;
        order.roles.clear();
    }
    let pinned = packages_pinned(&site.requirements(&order.sandbox.environment));
    order.resolve(site, pinned).map_err(failed)
}

/// Letters of the identity in a folder's name.
const SHORT: usize = 10;

fn planned(arm: &Arm, resolved: &Resolved) -> Result<PlannedRun, ExperimentError> {
    let config = &resolved.config;
    let corrupt = |source| crate::run::error::RunError::Corrupt { file: "config.json", source };
    let identity = config.identity().map_err(corrupt)?;
    let workers = resolved.scaffold.parallel_executions();
    let count = usize::try_from(workers).unwrap_or(usize::MAX).max(1);
    let short: String = identity.chars().take(SHORT).collect();
    Ok(PlannedRun {
        folder: format!("{}-{}-{}-{short}", config.scaffold.id, resolved.competition.id, config.seed),
        identity,
        needs: Needs {
            cpus: config.sandbox.cpus.saturating_mul(count),
            memory_bytes: config.sandbox.memory_bytes.saturating_mul(u64::from(workers.max(1))),
            gpus: config.sandbox.gpus.saturating_mul(count),
        },
        worst_cost: if resolved.free { Some(Usd::ZERO) } else { config.limits.cost },
        worst_tokens: if resolved.models.is_empty() { Some(0) } else { config.limits.tokens },
        worst_ms: config.limits.run_ms,
        steps: config.limits.steps,
        ..PlannedRun::of(arm.clone(), &resolved.competition.id, config.seed)
    })
}

fn facts(resolved: &Resolved) -> CompetitionFacts {
    let competition = &resolved.competition;
    CompetitionFacts {
        splits: competition.splits.clone(),
        category: competition.category.clone(),
        board: competition.board.kind,
        ended: competition.ended.clone(),
        known_issues: competition.known_issues.clone(),
    }
}

impl Plan {
    /// Dollars at most, of all runs; none where one is not bounded.
    pub fn worst_cost(&self) -> Option<Usd> {
        self.runs.iter().map(|run| run.worst_cost).sum()
    }

    /// Run time at most, of all runs one after the other, in hours; none where one is not bounded.
    pub fn worst_hours(&self) -> Option<f64> {
        let sum: Option<u64> = self.runs.iter().map(|run| run.worst_ms).sum();
        sum.map(|ms| ms as f64 / 3.6e6)
    }
}
