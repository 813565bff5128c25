//! What a user asks for, resolved into a configuration: every value with its origin, nothing run or spent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use podium_competition::Competition;
use podium_llm::ModelName;
use podium_sandbox::{SandboxKind, Strength};
use podium_scaffold::context::Grants;
use podium_scaffold::{Scaffold, Task};
use podium_types::money::Usd;

use crate::run::config::{FORMAT, RunConfig, SandboxConfig, ScaffoldConfig};
use crate::run::error::RunError;
use crate::run::limits::Limits;
use crate::run::machine;
use crate::run::site::Site;
use crate::run::wording::Wording;

/// The one path of the submission, relative to an execution's working directory.
pub const SUBMISSION_PATH: &str = "./submission/submission.csv";

/// What a user asks for. `None`: the default, from the scaffold or the machine.
#[derive(Clone, Debug)]
pub struct Order {
    /// Id of the scaffold.
    pub scaffold: String,
    /// Its overrides, path and value.
    pub overrides: Vec<(String, String)>,
    /// Id of the competition.
    pub competition: String,
    /// The model of every role that `roles` does not name.
    pub model: Option<String>,
    /// Models by role.
    pub roles: BTreeMap<String, String>,
    /// The seed; 1 by default.
    pub seed: Option<u64>,
    /// Step limit.
    pub steps: Option<u32>,
    /// Run time limit in milliseconds.
    pub run_ms: Option<u64>,
    /// Limit of one execution in milliseconds.
    pub execution_ms: Option<u64>,
    /// Token limit.
    pub tokens: Option<u64>,
    /// Dollar limit.
    pub cost: Option<Usd>,
    /// Kind of sandbox; the jail by default.
    pub sandbox: Option<SandboxKind>,
    /// Refuse anything weaker.
    pub require: Option<Strength>,
    /// Memory of an execution in bytes.
    pub memory_bytes: Option<u64>,
    /// Processors of an execution.
    pub cpus: Option<usize>,
    /// Name of the Python environment's profile.
    pub environment: String,
    /// Which description the agent is shown.
    pub description: Wording,
    /// A checkout of MLE-bench's repository, which holds obfuscated descriptions.
    pub mle_bench: Option<PathBuf>,
}

/// One resolved value, for `--dry-run`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Origin {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where it came from: `command line`, `scaffolds/aide.toml`, `machine`, `default`, ...
    pub origin: String,
}

/// A resolved order.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The configuration.
    pub config: RunConfig,
    /// The scaffold.
    pub scaffold: Scaffold,
    /// The competition.
    pub competition: Competition,
    /// The models by role.
    pub models: BTreeMap<String, ModelName>,
    /// Where each value came from.
    pub origins: Vec<Origin>,
}

impl Order {
    /// Resolves the order on this machine. `packages` are those of the Python environment.
    ///
    /// # Errors
    /// In words for the user: unknown names, missing data, missing keys, limits that cannot be kept.
    pub fn resolve(&self, site: &Site, packages: Vec<String>) -> Result<Resolved, RunError> {
        let scaffold = site.scaffold(&self.scaffold, &self.overrides)?;
        let catalog = site.competitions()?;
        let competition = catalog.get(&self.competition)?.clone();
        let models = self.models(&scaffold)?;
        let texts = site.model_texts()?;
        let client = site.client(&texts, &models, Some(&competition.id))?;
        let data = site.prepared(&competition)?;
        let mut origins = Vec::new();
        let limits = self.limits(&scaffold, &mut origins);
        if limits.cost.is_some() {
            for model in models.values() {
                if client.facts(model).prices.is_none() {
                    return Err(RunError::UnknownPrice(model.to_string()));
                }
            }
        }
        let sandbox = self.sandbox(site, scaffold.parallel_executions(), &mut origins)?;
        let description = self.description.text(&competition, &data, self.mle_bench.as_deref())?;
        if self.description == Wording::Obfuscated && sandbox.kind == SandboxKind::Process {
            return Err(RunError::Unhidden);
        }
        origins.push(Origin {
            name: "description".to_owned(),
            value: self.description.to_string(),
            origin: given(!self.description.is_original()),
        });
        let task = Task {
            competition: competition.id.clone(),
            description,
            metric: competition.metric.name.as_str().to_owned(),
            direction: competition.direction(),
            submission_path: SUBMISSION_PATH.to_owned(),
            grants: Grants {
                cpus: u32::try_from(sandbox.cpus).unwrap_or(u32::MAX),
                memory_bytes: Some(sandbox.memory_bytes),
                gpus: Vec::new(),
                network: sandbox.kind == SandboxKind::Process,
            },
            packages,
            obfuscated: self.description == Wording::Obfuscated,
        };
        let config = RunConfig {
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            scaffold: ScaffoldConfig {
                id: self.scaffold.clone(),
                toml: scaffold.to_toml(),
                prompts: scaffold.prompts().clone(),
            },
            competition: competition_files(site, &competition.id),
            task,
            models: models.iter().map(|(role, model)| (role.clone(), model.to_string())).collect(),
            model_catalog: texts.shipped,
            own_models: texts.own,
            seed: self.seed(),
            limits,
            sandbox,
            overridden: site.assets.overridden().to_vec(),
            description: self.description.clone(),
        };
        self.tell_origins(&scaffold, &models, &mut origins);
        Ok(Resolved { config, scaffold, competition, models, origins })
    }

    fn models(&self, scaffold: &Scaffold) -> Result<BTreeMap<String, ModelName>, RunError> {
        let roles = scaffold.roles();
        if let Some(unknown) = self.roles.keys().find(|role| !roles.contains(&role.as_str())) {
            return Err(RunError::Models(format!(
                "scaffold `{}` has no role `{unknown}`; its roles: {}",
                self.scaffold,
                roles.join(", ")
            )));
        }
        roles
            .into_iter()
            .map(|role| {
                let name = self.roles.get(role).or(self.model.as_ref()).ok_or_else(|| {
                    RunError::Models(format!("no model for the role `{role}`; name one for all with --model"))
                })?;
                Ok((role.to_owned(), name.parse()?))
            })
            .collect()
    }

    fn limits(&self, scaffold: &Scaffold, origins: &mut Vec<Origin>) -> Limits {
        let file = scaffold.limits();
        let or_file = |given: bool| if given { "command line".to_owned() } else { self.scaffold_file() };
        let limits = Limits {
            steps: Some(self.steps.unwrap_or(file.steps)),
            run_ms: Some(self.run_ms.unwrap_or(file.time_limit.millis())),
            execution_ms: self.execution_ms.unwrap_or(file.execution_timeout.millis()),
            tokens: self.tokens,
            cost: self.cost,
        };
        let none = || "none".to_owned();
        let duration = |ms: u64| podium_scaffold::spec::Duration::from_millis(ms).to_string();
        let mut tell = |name: &str, value: String, origin: String| {
            origins.push(Origin { name: name.to_owned(), value, origin });
        };
        tell(
            "steps",
            limits.steps.map_or_else(none, |steps| steps.to_string()),
            or_file(self.steps.is_some()),
        );
        tell("time limit", limits.run_ms.map_or_else(none, duration), or_file(self.run_ms.is_some()));
        tell("execution limit", duration(limits.execution_ms), or_file(self.execution_ms.is_some()));
        tell("token limit", self.tokens.map_or_else(none, |n| n.to_string()), given(self.tokens.is_some()));
        tell(
            "dollar limit",
            self.cost.map_or_else(none, |cost| cost.to_string()),
            given(self.cost.is_some()),
        );
        limits
    }

    /// What one execution is granted: its part of the machine, where `workers` of them may run at the same time.
    fn sandbox(
        &self,
        site: &Site,
        workers: u32,
        origins: &mut Vec<Origin>,
    ) -> Result<SandboxConfig, RunError> {
        let own_python = site.python.is_some();
        let (memory, workers) = (machine::memory(), usize::try_from(workers).unwrap_or(usize::MAX).max(1));
        let cpus = podium_sandbox::CpuSet::default().count();
        let config = SandboxConfig {
            kind: self.sandbox.unwrap_or(SandboxKind::Jail),
            require: self.require,
            // What is really granted, for the agent is told: no more than the machine has.
            // Three quarters of the memory by default: the rest is for the harness and its neighbours.
            memory_bytes: self
                .memory_bytes
                .map_or(memory / 4 * 3 / workers as u64, |asked| asked.min(memory)),
            cpus: self.cpus.map_or(cpus / workers, |asked| asked.min(cpus)).max(1),
            environment: if own_python { "user".to_owned() } else { self.environment.clone() },
            requirements: if own_python { String::new() } else { site.requirements(&self.environment) },
        };
        if self.memory_bytes.is_some() && workers > 1 {
            let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
            let needed = config.memory_bytes.saturating_mul(workers as u64);
            if needed > memory {
                let (each, needed, machine) = (mib(config.memory_bytes), mib(needed), mib(memory));
                return Err(RunError::Overcommitted { workers, each, needed, machine });
            }
        }
        // One processor is the least there is: with more workers than processors, executions take turns.
        if self.cpus.is_some() && workers > 1 && config.cpus > 1 && config.cpus * workers > cpus {
            let named = |count: usize| format!("{count} processors");
            let (each, needed, machine) = (named(config.cpus), named(config.cpus * workers), named(cpus));
            return Err(RunError::Overcommitted { workers, each, needed, machine });
        }
        let or_machine = |given: bool| if given { "command line".to_owned() } else { "machine".to_owned() };
        let granted = |given: bool, whole: bool| match (given, whole) {
            (false, _) if workers > 1 => format!("machine, shared by {workers} executions at a time"),
            (true, false) => "command line, cut to what the machine has".to_owned(),
            (given, _) => or_machine(given),
        };
        let mut tell = |name: &str, value: String, origin: String| {
            origins.push(Origin { name: name.to_owned(), value, origin });
        };
        tell("sandbox", config.kind.to_string(), given(self.sandbox.is_some()));
        let memory = granted(self.memory_bytes.is_some(), self.memory_bytes == Some(config.memory_bytes));
        tell("memory", format!("{} MiB", config.memory_bytes >> 20), memory);
        let cpus = granted(self.cpus.is_some(), self.cpus == Some(config.cpus));
        tell("cpus", config.cpus.to_string(), cpus);
        tell("python environment", config.environment.clone(), or_machine(own_python));
        Ok(config)
    }

    fn tell_origins(
        &self,
        scaffold: &Scaffold,
        models: &BTreeMap<String, ModelName>,
        origins: &mut Vec<Origin>,
    ) {
        for (role, model) in models {
            origins.push(Origin {
                name: format!("model for {role}"),
                value: model.to_string(),
                origin: "command line".to_owned(),
            });
        }
        origins.push(Origin {
            name: "seed".to_owned(),
            value: self.seed().to_string(),
            origin: given(self.seed.is_some()),
        });
        for value in scaffold.values() {
            // The limits of the file are told above, with what the command line made of them.
            if value.path.starts_with("limits.") {
                continue;
            }
            let origin = match value.origin {
                podium_scaffold::spec::Origin::File => self.scaffold_file(),
                podium_scaffold::spec::Origin::Set => "--set".to_owned(),
                podium_scaffold::spec::Origin::Unset => "not set".to_owned(),
            };
            origins.push(Origin { name: value.path.clone(), value: value.value.to_string(), origin });
        }
    }

    fn scaffold_file(&self) -> String {
        format!("scaffolds/{}.toml", self.scaffold)
    }

    const fn seed(&self) -> u64 {
        match self.seed {
            Some(seed) => seed,
            None => 1,
        }
    }

    /// The name of the run's folder, before it is made unique.
    pub fn folder_name(&self) -> String {
        format!("{}-{}-{}", self.scaffold, self.competition, self.seed())
    }
}

/// The catalog entry of one competition, as stored with a run: its asset files.
fn competition_files(site: &Site, id: &str) -> BTreeMap<String, String> {
    let offline = format!("benchmark/offline/{id}/");
    let mut files = site.assets.under(&offline, "");
    files.extend(site.assets.under(&format!("benchmark/competitions/{id}."), ""));
    files.extend(site.assets.under(&format!("benchmark/boards/{id}."), ""));
    files
}

/// Packages of an environment as prompts name them, `name version`: a profile's in the order of its file, which puts
/// the most useful first; all of a user's own environment by name.
pub fn packages_of(
    description: &podium_sandbox::environment::Description,
    requirements: &str,
) -> Vec<String> {
    let pinned = packages_pinned(requirements);
    if !pinned.is_empty() {
        return pinned;
    }
    description.packages.iter().map(|(name, version)| format!("{name} {version}")).collect()
}

/// Packages as pinned in a profile that is not built yet.
pub fn packages_pinned(requirements: &str) -> Vec<String> {
    requirements
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .map(|line| line.replace("==", " "))
        .collect()
}

/// Where a value comes from that the command line may give and that otherwise is fixed here.
fn given(given: bool) -> String {
    if given { "command line" } else { "default" }.to_owned()
}

/// Where runs go by default.
pub fn default_runs_dir() -> PathBuf {
    PathBuf::from("runs")
}
