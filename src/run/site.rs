//! What this machine gives a run: assets, data, a cache, keys; and how a run's equipment is made from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use podium_competition::{Catalog, Competition, Folders, Status};
use podium_llm::{Client, ModelName, Pacing};
use podium_sandbox::environment::Interpreter;
use podium_sandbox::{CpuSet, Environment, GpuGrant, Job, Sandbox, SandboxKind};
use podium_scaffold::tree_search::operators::SOLUTION;
use podium_scaffold::{Budget, Scaffold};
use podium_types::chat::ChatRequest;
use podium_types::execution::Program;

use crate::assets::Assets;
use crate::run::config::{Place, RunConfig, SandboxConfig};
use crate::run::error::RunError;
use crate::run::models::{ModelTexts, OwnModels};
use crate::run::recording::RecordingPlace;
use crate::run::resources::{self, Resources, SandboxReport};
use crate::run::scaffold_file;
use crate::run::strategies;
use crate::run::tally::Tally;
use crate::run::world::Equipment;

pub use crate::run::grants::{execution_limits, sandbox_settings};
pub use podium_llm::playbook::PROVIDER as PLAYBOOK;

/// What this machine gives.
#[derive(Clone, Debug)]
pub struct Site {
    /// Assets in force.
    pub assets: Assets,
    /// Where competitions' data are.
    pub data_dir: PathBuf,
    /// Where environments are built.
    pub cache_dir: PathBuf,
    /// Environment variables, a `.env` file's included. Keys come from here only.
    pub variables: BTreeMap<String, String>,
    /// The user's own file of models, where there is one. It is read when models are asked for.
    pub own_models: Option<PathBuf>,
    /// How long a model's answer may be silent, where it is not the client's default.
    pub stall_timeout: Option<Duration>,
    /// Tries of a model at most, where it is not the client's default.
    pub max_tries: Option<u32>,
    /// A Python of the user's own, instead of a pinned profile.
    pub python: Option<PathBuf>,
    /// Read-only folders that are mounted by name.
    pub mounts: BTreeMap<String, PathBuf>,
    /// The lanes of model services, which all runs of this process share.
    pub pacing: Pacing,
    /// Where recordings are, by the model part of their names.
    pub recordings: BTreeMap<String, RecordingPlace>,
}

impl Site {
    /// Where things are, as stored beside a run.
    pub fn place(&self) -> Place {
        Place {
            data_dir: self.data_dir.clone(),
            assets: self.assets.folder().map(Path::to_owned),
            python: self.python.clone(),
            models: self.own_models.clone(),
            mounts: self.mounts.clone(),
            endpoints: BTreeMap::new(),
            recordings: self.recordings.clone(),
        }
    }

    /// All competitions.
    ///
    /// # Errors
    /// When a catalog entry is wrong.
    pub fn competitions(&self) -> Result<Catalog, RunError> {
        let mut texts = self.assets.under("benchmark/competitions/", "");
        texts.extend(self.assets.under("benchmark/boards/", ""));
        texts.extend(self.assets.under("benchmark/offline/", ""));
        texts.extend(podium_competition::own::texts(&self.data_dir, None));
        Ok(Catalog::from_texts(texts)?)
    }

    /// One competition; the others are read only to tell which one was meant.
    ///
    /// # Errors
    /// When there is none, or its entry is wrong.
    pub fn competition(&self, id: &str) -> Result<Competition, RunError> {
        let mut texts = BTreeMap::new();
        for place in ["competitions/{}.", "competitions/{}/", "boards/{}.", "offline/{}/"] {
            texts.extend(self.assets.under(&format!("benchmark/{}", place.replace("{}", id)), ""));
        }
        texts.extend(podium_competition::own::texts(&self.data_dir, Some(id)));
        if let Ok(found) = Catalog::from_texts(texts).and_then(|catalog| catalog.get(id).cloned()) {
            return Ok(found);
        }
        Ok(self.competitions()?.get(id)?.clone())
    }

    /// Makes sure that the data are there; offline competitions are unpacked on first use.
    ///
    /// # Errors
    /// When they are not and cannot be.
    pub fn prepared(&self, competition: &Competition) -> Result<Folders, RunError> {
        let folders = podium_competition::folders(&self.data_dir, &competition.id);
        if podium_competition::status(&self.data_dir, competition) == Status::Prepared {
            return Ok(folders);
        }
        let not_prepared = || RunError::NotPrepared {
            competition: competition.id.clone(),
            kind: competition.kind,
            data_dir: self.data_dir.clone(),
        };
        let archives = self.assets.offline_data(&competition.id).filter(|folder| folder.is_dir());
        let archives = archives.ok_or_else(not_prepared)?;
        let description = competition.description.as_deref().unwrap_or_default();
        let prepared =
            podium_competition::prepare_offline(&archives, &self.data_dir, &competition.id, description)?;
        Ok(prepared.folders)
    }

    /// The scaffold `name`, an id or the path of a file, with its prompts.
    ///
    /// # Errors
    /// When there is none, or it is wrong.
    pub fn scaffold(&self, name: &str, overrides: &[(String, String)]) -> Result<Scaffold, RunError> {
        load_scaffold(name, &self.scaffold_text(name)?, self.prompts_of(name)?, overrides)
    }

    /// The error for a scaffold that there is not.
    pub fn unknown_scaffold(&self, name: &str) -> RunError {
        let known = self.scaffold_names();
        let nearest = podium_types::nearest::nearest(name, known.iter().map(String::as_str));
        RunError::UnknownScaffold { name: name.to_owned(), nearest }
    }

    /// Ids of all scaffolds.
    pub fn scaffold_names(&self) -> Vec<String> {
        let files = self.assets.under("scaffolds/", ".toml");
        files
            .keys()
            .filter_map(|name| name.strip_prefix("scaffolds/")?.strip_suffix(".toml").map(str::to_owned))
            .collect()
    }

    /// All prompt templates, by the names scaffolds use.
    pub fn prompts(&self) -> BTreeMap<String, String> {
        let files = self.assets.under("prompts/", ".tera");
        files
            .into_iter()
            .filter_map(|(name, text)| Some((name.strip_prefix("prompts/")?.to_owned(), text)))
            .collect()
    }

    /// A client of the models in `models`, with the stand-in's library where one of them is the stand-in, and with the
    /// recordings among them.
    ///
    /// # Errors
    /// When a model cannot be called.
    pub fn client(
        &self,
        texts: &ModelTexts,
        models: &BTreeMap<String, ModelName>,
        competition: Option<&str>,
    ) -> Result<Client, RunError> {
        let catalog = texts.catalog()?;
        let mut settings = podium_llm::Settings::new(&catalog, &self.variables);
        settings.stall_timeout = self.stall_timeout.unwrap_or(settings.stall_timeout);
        settings.max_tries = self.max_tries.unwrap_or(settings.max_tries);
        let stand_in = models.values().any(|model| model.provider == PLAYBOOK);
        let library = match competition.filter(|_| stand_in) {
            Some(competition) => {
                let own = podium_competition::own::home(&self.data_dir, competition).join("competition.toml");
                let files = if own.is_file() {
                    self.assets.own_playbook(competition, crate::run::ladder::TABLE)?
                } else {
                    self.assets.playbook(competition)?
                };
                if !files.keys().any(|file| file.starts_with(&format!("{competition}/"))) {
                    return Err(RunError::NoPlaybook(competition.to_owned()));
                }
                Some(Arc::new(podium_llm::playbook::Library::from_files(&files)?))
            }
            None => None,
        };
        let recordings = self.read_recordings(models.values())?;
        let client =
            Client::new(catalog, settings, library).paced(self.pacing.clone()).with_recordings(recordings);
        for model in models.values() {
            client.prepare(model)?;
        }
        Ok(client)
    }

    /// What is known of models: the catalog, and the user's own file over it.
    ///
    /// # Errors
    /// When that file cannot be read. What it says is judged later, by [`ModelTexts::catalog`].
    pub fn model_texts(&self) -> Result<ModelTexts, RunError> {
        let read = |path: &PathBuf| match std::fs::read_to_string(path) {
            Ok(text) => Ok(OwnModels { file: path.display().to_string(), text }),
            Err(source) => Err(RunError::OwnModels { path: path.clone(), source }),
        };
        Ok(ModelTexts {
            shipped: self.assets.text("benchmark/models.toml").unwrap_or_default().to_owned(),
            own: self.own_models.as_ref().map(read).transpose()?,
        })
    }

    /// The pinned requirements of an environment profile.
    pub fn requirements(&self, profile: &str) -> String {
        self.assets.text(&format!("benchmark/environments/{profile}.txt")).unwrap_or_default().to_owned()
    }

    /// Names of all environment profiles.
    pub fn environments(&self) -> Vec<String> {
        const FOLDER: &str = "benchmark/environments/";
        let files = self.assets.under(FOLDER, ".txt");
        let bare = |name: &String| name.strip_prefix(FOLDER)?.strip_suffix(".txt").map(str::to_owned);
        files.keys().filter_map(bare).filter(|name| !name.contains('/')).collect()
    }

    /// The user's own Python, where one is named: this machine's, or the image's where an image is named beside it.
    ///
    /// # Errors
    /// When it cannot be started, or is too old.
    pub fn own_python(
        &self,
        config: &SandboxConfig,
        sandbox: &dyn Sandbox,
    ) -> Result<Option<Environment>, RunError> {
        let Some(python) = &self.python else { return Ok(None) };
        let own = if config.has_own_image() {
            Environment::of_image_now(sandbox, python)
        } else {
            Environment::of_user(python)
        };
        Ok(Some(own?))
    }

    /// The Python environment on this machine, built on first use; `progress` hears of it.
    fn environment(
        &self,
        config: &SandboxConfig,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Environment, RunError> {
        if let Some(python) = &self.python {
            return Ok(Environment::of_user(python)?);
        }
        let interpreter = Interpreter::find(None)?;
        Ok(Environment::build(
            &self.cache_dir,
            &config.environment,
            &config.requirements,
            &interpreter,
            progress,
        )?)
    }

    /// Both at once, for both wait for programs; an environment inside an image after the sandbox in which it is asked.
    pub(super) fn sandbox_and_environment(
        &self,
        config: &SandboxConfig,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(Arc<dyn Sandbox>, Environment), RunError> {
        if let Some(python) = self.python.as_ref().filter(|_| config.has_own_image()) {
            let sandbox = open_sandbox(config)?;
            let environment = Environment::of_image_now(&*sandbox, python)?;
            return Ok((sandbox, environment));
        }
        std::thread::scope(|scope| {
            let opening = std::thread::Builder::new()
                .name("podium-open".to_owned())
                .spawn_scoped(scope, || open_sandbox(config));
            let environment = self.environment(config, progress);
            let sandbox = match opening.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(sandbox)) => sandbox?,
                // No thread, or a panic in it: once more, here.
                Ok(Err(_)) | Err(_) => open_sandbox(config)?,
            };
            Ok((sandbox, environment?))
        })
    }

    /// Everything a live run of `config` works with.
    ///
    /// # Errors
    /// When anything of it is missing, or the sandbox would show what must stay hidden; nothing was run or spent then.
    /// `runs` is the run's folder, or where it will be made.
    pub fn equip(
        &self,
        config: &RunConfig,
        runs: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Equipment, RunError> {
        let competition = config.competition()?;
        let scaffold = config.scaffold()?;
        let models = config.models()?;
        let client = self.client(&config.model_texts(), &models, Some(&competition.id))?;
        let data = self.prepared(&competition)?;
        let (sandbox, environment) = self.sandbox_and_environment(&config.sandbox, progress)?;
        let workers = scaffold.parallel_executions();
        let resources = Resources::take(self, &config.sandbox, workers)?;
        let execution_limits = execution_limits(&config.sandbox);
        let submission_check = scaffold.submission_check() && sandbox.facts().callbacks;
        let hidden = self.hidden(&data, runs);
        let program = Program::Command { argv: vec!["true".to_owned()] };
        let mut job = Job::new(program, runs.join("work"), &environment);
        job.input = Some(data.public.clone());
        job.hidden.clone_from(&hidden);
        job.mounts.clone_from(&self.mounts);
        job.limits = execution_limits.clone();
        job.limits.cpus = CpuSet::of(resources.cpus().ids().into_iter().take(config.sandbox.cpus));
        let gpus = resources.gpus().iter().take(config.sandbox.gpus).cloned().collect();
        job.gpus = GpuGrant { root: resources.gpu_root().clone(), gpus };
        let asked = job.limits.workspace_bytes;
        job.limits.workspace_bytes = resources::disk(runs, asked);
        sandbox.check(&job)?;
        if !submission_check {
            // Begins while the look is at work. Strategies whose programs ask for checks have agents of their own.
            let program = Program::Python { file: SOLUTION.to_owned(), code: String::new() };
            sandbox.warm_up(&Job { program, timeout: Duration::MAX, ..job.clone() });
        }
        let granted = resources::look(&*sandbox, &job)?;
        let disk_cut = resources::disk_cut(asked, granted.disk_bytes);
        let report = SandboxReport {
            facts: sandbox.facts().clone(),
            granted: Some(granted),
            machine: config.sandbox.machine.clone(),
            cut: config.sandbox.cut.iter().cloned().chain(disk_cut).collect(),
            shared: resources.shared(),
            gpu_driver: resources.gpu_root().driver().filter(|_| config.sandbox.gpus > 0),
            environment: Some(environment.describe()),
            warning: resources::warning(config.sandbox.kind),
        };
        Ok(Equipment {
            scaffold,
            client,
            models,
            sandbox,
            environment,
            execution_limits,
            competition: Arc::new(competition),
            data,
            hidden,
            submission_check,
            preview: config.preview,
            mounts: self.mounts.clone(),
            gpus: config.sandbox.gpus,
            workers: usize::try_from(workers).unwrap_or(usize::MAX),
            resources,
            report,
        })
    }

    /// What no execution may see: the answers, this competition's and the others'; playbooks and archives of the
    /// offline competitions; other runs.
    pub(super) fn hidden(&self, data: &Folders, runs: &Path) -> Vec<PathBuf> {
        let mut hidden = vec![data.private.clone(), self.data_dir.clone(), runs.to_owned()];
        hidden.extend(self.assets.folders().filter_map(secret_part));
        hidden.extend(
            self.recordings.values().map(|place| place.folder.clone()).filter(|folder| folder.exists()),
        );
        let competitions = std::fs::read_dir(&self.data_dir).into_iter().flatten().flatten();
        hidden.extend(
            competitions.map(|entry| entry.path().join("prepared/private")).filter(|path| path.exists()),
        );
        hidden
    }
}

/// What of an assets folder must not be seen: all of a clone, whose tests know answers, too; of a folder of the user's own
/// what may hold playbooks and archives. An agent or another mount may lie beside it.
fn secret_part(folder: &Path) -> Option<PathBuf> {
    if folder.join("Cargo.toml").is_file() {
        return Some(folder.to_owned());
    }
    Some(folder.join("benchmark")).filter(|benchmark| benchmark.exists())
}

/// Opens the sandbox that a run asks for.
///
/// # Errors
/// When it cannot work, or is weaker than required.
pub fn open_sandbox(config: &SandboxConfig) -> Result<Arc<dyn Sandbox>, RunError> {
    Ok(Arc::from(podium_sandbox::open(config.kind, &sandbox_settings(config))?))
}

/// Reads a scaffold.
///
/// # Errors
/// When it is wrong.
pub fn load_scaffold(
    name: &str,
    text: &str,
    prompts: BTreeMap<String, String>,
    overrides: &[(String, String)],
) -> Result<Scaffold, RunError> {
    Scaffold::load_with(strategies::registry(), text, prompts, overrides)
        .map_err(|source| RunError::Scaffold { name: name.to_owned(), source })
}

impl RunConfig {
    /// The competition.
    ///
    /// # Errors
    /// When its stored catalog entry does not read back.
    pub fn competition(&self) -> Result<Competition, RunError> {
        let catalog = Catalog::from_texts(self.competition.clone())?;
        Ok(catalog.get(&self.task.competition)?.clone())
    }

    /// The models by role.
    ///
    /// # Errors
    /// When a name is wrong.
    pub fn models(&self) -> Result<BTreeMap<String, ModelName>, RunError> {
        self.models.iter().map(|(role, name)| Ok((role.clone(), name.parse()?))).collect()
    }

    /// The scaffold.
    ///
    /// # Errors
    /// When this program does not read it any more.
    pub fn scaffold(&self) -> Result<Scaffold, RunError> {
        let stored = &self.scaffold;
        let read = Scaffold::load_with(strategies::registry(), &stored.toml, stored.prompts.clone(), &[]);
        read.map_err(|source| RunError::StoredScaffold {
            name: stored.id.clone(),
            what: scaffold_file::unknown_here(&stored.toml, &source),
            program: self.program.clone(),
        })
    }

    /// The first request a run would send, and the budget it would be told.
    ///
    /// # Errors
    /// When a prompt does not render.
    pub fn first_request(&self, preview: &str) -> Result<(ChatRequest, Budget), RunError> {
        let budget = Tally::new(self.limits).budget();
        Ok((self.scaffold()?.first_prompt(&self.task, &budget, preview)?, budget))
    }

    /// Whether a stand-in model answers in any role.
    pub fn has_stand_in(&self) -> bool {
        self.models.values().any(|name| name.starts_with(&format!("{PLAYBOOK}/")))
    }

    /// Whether code runs without a boundary.
    pub fn is_unprotected(&self) -> bool {
        self.sandbox.kind == SandboxKind::Process
    }
}
