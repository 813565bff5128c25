//! What a user asks for, resolved into a configuration: every value with its origin, nothing run or spent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use podium_competition::{BoardKind, Competition};
use podium_llm::ModelName;
use podium_sandbox::SandboxKind;
use podium_scaffold::context::Grants;
use podium_scaffold::{Scaffold, Task};
use podium_types::money::Usd;

use crate::run::config::{FORMAT, PreviewMode, RunConfig, ScaffoldConfig};
use crate::run::error::RunError;
use crate::run::grants::Asked;
use crate::run::limits::Limits;
use crate::run::preset::MachinePreset;
use crate::run::scaffold_file;
use crate::run::site::Site;
use crate::run::validation;
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
    /// What is asked of the sandbox.
    pub sandbox: Asked,
    /// Which description the agent is shown.
    pub description: Wording,
    /// A checkout of MLE-bench's repository, which holds obfuscated descriptions.
    pub mle_bench: Option<PathBuf>,
    /// What of the data the overview shows to a model.
    pub preview: PreviewMode,
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
    /// Whether no model of it costs anything.
    pub free: bool,
    /// Where each value came from.
    pub origins: Vec<Origin>,
}

impl Resolved {
    /// The same with another seed, which need not be resolved anew; none where the seed decides what the agent is
    /// shown, by the labels that are held out.
    pub fn with_seed(&self, seed: u64) -> Option<Self> {
        let config = RunConfig { seed, ..self.config.clone() };
        config.task.validation.is_none().then(|| Self { config, ..self.clone() })
    }
}

impl Order {
    /// Resolves the order on this machine. `packages` are those of the Python environment.
    ///
    /// # Errors
    /// In words for the user: unknown names, missing data, missing keys, limits that cannot be kept.
    pub fn resolve(&self, site: &Site, packages: Vec<String>) -> Result<Resolved, RunError> {
        let scaffold = site.scaffold(&self.scaffold, &self.overrides)?;
        let files = site.program_files(&self.scaffold, &scaffold)?;
        let competition = site.competition(&self.competition)?;
        let models = self.models(&scaffold)?;
        let texts = site.model_texts()?;
        let client = site.client(&texts, &models, Some(&competition.id))?;
        let data = site.prepared(&competition)?;
        let mut origins = Vec::new();
        let machine =
            self.sandbox.machine.as_ref().map(|name| MachinePreset::load(site, name)).transpose()?;
        let limits = self.limits(&scaffold, machine.as_ref(), &mut origins);
        if limits.cost.is_some() {
            for model in models.values() {
                if client.facts(model).prices.is_none() {
                    return Err(RunError::UnknownPrice(model.to_string()));
                }
            }
        }
        let mut sandbox = self.sandbox.resolve(site, scaffold.parallel_executions(), &mut origins)?;
        sandbox.warm = self.sandbox.warm_starts(competition.board.kind == BoardKind::Baselines);
        let warm = sandbox.warm.word().to_owned();
        let origin = given(self.sandbox.warm.is_some());
        origins.push(Origin { name: "warm starts".to_owned(), value: warm, origin });
        let description = self.description.text(&competition, &data, self.mle_bench.as_deref())?;
        if self.description == Wording::Obfuscated && sandbox.kind == SandboxKind::Process {
            return Err(RunError::Unhidden);
        }
        origins.push(Origin {
            name: "description".to_owned(),
            value: self.description.to_string(),
            origin: given(!self.description.is_original()),
        });
        origins.push(Origin {
            name: "preview".to_owned(),
            value: self.preview.as_str().to_owned(),
            origin: given(self.preview != PreviewMode::Full),
        });
        let validation = match validation::plan(scaffold.validation(), self.seed()) {
            Some(plan) => Some(validation::told(&competition, &data.public, &plan, sandbox.kind)?),
            None => None,
        };
        let task = Task {
            competition: competition.id.clone(),
            description,
            metric: competition.metric.name.as_str().to_owned(),
            direction: competition.direction(),
            metric_range: competition.metric.range(),
            submission_path: SUBMISSION_PATH.to_owned(),
            grants: Grants {
                cpus: u32::try_from(sandbox.cpus).unwrap_or(u32::MAX),
                memory_bytes: Some(sandbox.memory_bytes),
                gpus: site.gpus().into_iter().take(sandbox.gpus).map(|gpu| gpu.name).collect(),
                network: sandbox.kind == SandboxKind::Process,
                shm_bytes: Some(sandbox.allowances.shm_bytes),
                disk_bytes: Some(sandbox.allowances.disk_bytes),
                mounts: sandbox
                    .mounts
                    .iter()
                    .map(|name| format!("{}/{name}", podium_sandbox::job::MOUNTS))
                    .collect(),
            },
            packages,
            obfuscated: self.description == Wording::Obfuscated,
            submission_check: scaffold.submission_check() && sandbox.kind != SandboxKind::Process,
            validation,
        };
        let config = RunConfig {
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            scaffold: ScaffoldConfig {
                id: scaffold_file::id(&self.scaffold),
                toml: scaffold.to_toml(),
                prompts: scaffold.prompts().clone(),
                files,
            },
            competition: competition_files(site, &competition),
            task,
            models: models.iter().map(|(role, model)| (role.clone(), model.to_string())).collect(),
            model_catalog: texts.shipped,
            own_models: texts.own,
            seed: self.seed(),
            limits,
            sandbox,
            overridden: site.assets.overridden().to_vec(),
            description: self.description.clone(),
            preview: self.preview,
        };
        self.tell_origins(&scaffold, &models, &mut origins);
        let costs_nothing = |model: &ModelName| {
            let prices = client.facts(model).prices.as_ref();
            prices.is_some_and(|prices| prices.input <= 0.0 && prices.output <= 0.0)
        };
        let free = models.values().all(costs_nothing);
        Ok(Resolved { config, scaffold, competition, models, free, origins })
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

    fn limits(
        &self,
        scaffold: &Scaffold,
        machine: Option<&MachinePreset>,
        origins: &mut Vec<Origin>,
    ) -> Limits {
        let file = scaffold.limits();
        let or_file = |given: bool| if given { "command line".to_owned() } else { self.scaffold_file() };
        let of_machine = machine.and_then(|machine| machine.time_limit_ms().ok().flatten());
        let limits = Limits {
            steps: Some(self.steps.unwrap_or(file.steps)),
            run_ms: Some(self.run_ms.or(of_machine).unwrap_or(file.time_limit.millis())),
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
        let time_origin = match (&self.sandbox.machine, of_machine) {
            (Some(name), Some(_)) if self.run_ms.is_none() => format!("benchmark/machines/{name}.toml"),
            _ => or_file(self.run_ms.is_some()),
        };
        tell("time limit", limits.run_ms.map_or_else(none, duration), time_origin);
        tell("execution limit", duration(limits.execution_ms), or_file(self.execution_ms.is_some()));
        tell("token limit", self.tokens.map_or_else(none, |n| n.to_string()), given(self.tokens.is_some()));
        tell(
            "dollar limit",
            self.cost.map_or_else(none, |cost| cost.to_string()),
            given(self.cost.is_some()),
        );
        limits
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
                podium_scaffold::spec::Origin::Default => "default".to_owned(),
                podium_scaffold::spec::Origin::Unset => "not set".to_owned(),
            };
            origins.push(Origin { name: value.path.clone(), value: value.value.to_string(), origin });
        }
    }

    fn scaffold_file(&self) -> String {
        match scaffold_file::path(&self.scaffold) {
            Some(_) => self.scaffold.clone(),
            None => format!("scaffolds/{}.toml", self.scaffold),
        }
    }

    const fn seed(&self) -> u64 {
        match self.seed {
            Some(seed) => seed,
            None => 1,
        }
    }

    /// The name of the run's folder, before it is made unique.
    pub fn folder_name(&self) -> String {
        format!("{}-{}-{}", scaffold_file::id(&self.scaffold), self.competition, self.seed())
    }
}

/// The catalog entry of one competition, as stored with a run: its asset files.
fn competition_files(site: &Site, competition: &Competition) -> BTreeMap<String, String> {
    let id = competition.official_id();
    let offline = format!("benchmark/offline/{id}/");
    let mut files = site.assets.under(&offline, "");
    files.extend(site.assets.under(&format!("benchmark/competitions/{id}."), ""));
    files.extend(site.assets.under(&format!("benchmark/competitions/{id}/"), ""));
    files.extend(site.assets.under(&format!("benchmark/boards/{id}."), ""));
    files.extend(podium_competition::own::texts(&site.data_dir, Some(id)));
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
pub(super) fn given(given: bool) -> String {
    if given { "command line" } else { "default" }.to_owned()
}

/// Where runs go by default.
pub fn default_runs_dir() -> PathBuf {
    PathBuf::from("runs")
}
