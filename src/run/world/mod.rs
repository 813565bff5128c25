//! The live world of a run: models, sandbox, competition and files behind the driver's `World`.
//!
//! Each effect crosses each layer once, downwards. Nothing of the answers comes back but a format verdict.

mod agent;
mod chat;
mod checks;
mod evaluations;
mod files;
mod home;
mod leases;
mod local;
mod recipe;
mod trace;
mod truncated;
mod workspaces;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use podium_competition::{Competition, Folders};
use podium_llm::ModelName;
use podium_sandbox::{Environment, Sandbox};
use podium_scaffold::context::Grants;
use podium_scaffold::{Effect, Scaffold};
use podium_types::execution::Workspace;
use podium_types::key::EffectKey;
use tokio::sync::mpsc;

use crate::run::clock::Clock;
use crate::run::command::desk::Desk;
use crate::run::config::PreviewMode;
use crate::run::driver::{Performed, Report, World};
use crate::run::folder::RunFolder;
use crate::run::journal::{Entry, HomeFiles, Journal, Record};
use crate::run::limits::Limits;
use crate::run::resources::{self, Resources, SandboxReport};
use crate::run::spending::Spending;
use crate::run::stop::{Stop, StoppedBy};

pub use files::Files;
use home::Home;
use leases::Leases;
pub use recipe::Recipe;
use workspaces::Workspaces;

/// What the live world is made of.
pub struct Equipment {
    /// The run's scaffold, read once for all that ask it.
    pub scaffold: Scaffold,
    /// The client of all models.
    pub client: podium_llm::Client,
    /// The model of each role.
    pub models: BTreeMap<String, ModelName>,
    /// Where code runs.
    pub sandbox: Arc<dyn Sandbox>,
    /// The Python environment.
    pub environment: Environment,
    /// Limits of one execution.
    pub execution_limits: podium_sandbox::Limits,
    /// The competition.
    pub competition: Arc<Competition>,
    /// Its data.
    pub data: Folders,
    /// Folders that no execution may see.
    pub hidden: Vec<PathBuf>,
    /// Whether executions may have a submission checked while they run.
    pub submission_check: bool,
    /// What of the data the overview shows.
    pub preview: PreviewMode,
    /// Read-only folders by name.
    pub mounts: BTreeMap<String, PathBuf>,
    /// Graphics processors of one execution.
    pub gpus: usize,
    /// Executions at the same time.
    pub workers: usize,
    /// What the run holds of the machine.
    pub resources: Resources,
    /// The sandbox as the run's report tells it.
    pub report: SandboxReport,
}

impl Equipment {
    /// The address of each model's service; a stand-in has none.
    pub fn endpoints(&self) -> BTreeMap<String, String> {
        let address = |model: &ModelName| {
            let prepared = self.client.prepare(model).ok()?;
            Some((model.to_string(), prepared.base_url?))
        };
        self.models.values().filter_map(address).collect()
    }

    /// What an execution is really granted: what a strategy is told. Each tier of the sandbox holds the memory, by a
    /// control group or by looking at it ten times a second.
    pub fn grants(&self) -> Option<Grants> {
        self.report.granted.as_ref().map(resources::told)
    }
}

/// The live world.
pub struct LiveWorld {
    inner: Arc<Inner>,
    files: Files,
}

struct Inner {
    equipment: Equipment,
    folder: RunFolder,
    journal: Journal,
    spending: Spending,
    clock: Clock,
    limits: Limits,
    reporter: mpsc::UnboundedSender<Report>,
    submission: PathBuf,
    training_table: Option<String>,
    leases: Leases,
    workspaces: Arc<Workspaces>,
    /// The first script of a node is expected already.
    is_expected: AtomicBool,
    home: Home,
    truncation_warnings: truncated::TruncationWarnings,
    /// Held during a check that a program asked for: one at a time, however many run.
    check: Mutex<()>,
    /// The questions of an agent that is a program of its own.
    desk: Arc<Desk>,
}

/// The parts of a sitting that the world shares with the driver.
pub struct Sitting {
    /// The run's folder.
    pub folder: RunFolder,
    /// Where intents are committed.
    pub journal: Journal,
    /// Caps.
    pub spending: Spending,
    /// The clocks.
    pub clock: Clock,
    /// Limits in force.
    pub limits: Limits,
    /// Where progress is reported.
    pub reporter: mpsc::UnboundedSender<Report>,
    /// The submission's path inside a workspace.
    pub submission: PathBuf,
    /// How a solution is run without Podium.
    pub recipe: Recipe,
    /// The training table, where the run keeps labels of it.
    pub training_table: Option<String>,
    /// The files of the home workspace as the journal knows them.
    pub home: HomeFiles,
}

impl LiveWorld {
    /// A world for one sitting.
    pub fn new(equipment: Equipment, sitting: Sitting) -> Self {
        let files = Files::new(sitting.folder.clone(), sitting.recipe);
        let grant = equipment.execution_limits.cpus.count();
        let (processors, gpus) = (equipment.resources.cpus().ids(), equipment.resources.gpus());
        let inner = Inner {
            leases: Leases::new(&processors, grant, gpus, equipment.gpus, equipment.workers),
            workspaces: Arc::new(Workspaces::new(sitting.folder.work_path())),
            is_expected: AtomicBool::new(false),
            home: Home::new(sitting.home),
            equipment,
            folder: sitting.folder,
            journal: sitting.journal,
            spending: sitting.spending,
            desk: Arc::new(Desk::new(sitting.clock.clone())),
            clock: sitting.clock,
            limits: sitting.limits,
            reporter: sitting.reporter,
            submission: sitting.submission,
            training_table: sitting.training_table,
            truncation_warnings: truncated::TruncationWarnings::default(),
            check: Mutex::new(()),
        };
        Self { inner: Arc::new(inner), files }
    }
}

impl World for LiveWorld {
    fn perform(&self, key: EffectKey, effect: Effect, hash: String) -> BoxFuture<'static, Performed> {
        let inner = Arc::clone(&self.inner);
        if matches!(&effect, Effect::Execute(request) if request.agent.is_some()) {
            // At once: what is heard of it may be asked for next.
            inner.desk.expect();
        }
        Box::pin(async move {
            match effect {
                Effect::Chat { role, request, hears_failures } => {
                    inner.desk.call_begins(&key);
                    inner.expect_script(&key);
                    let performed = inner.chat(&key, &role, &request, hash).await;
                    if let Performed::Parked(stop) = &performed {
                        inner.desk.call_parked(&key, stop);
                    }
                    if hears_failures { chat::heard(performed) } else { performed }
                }
                Effect::Execute(request) if request.workspace == Workspace::Home => {
                    inner.execute_at_home(&key, *request, hash).await
                }
                Effect::Execute(request) if request.agent.is_some() => {
                    inner.execute_agent(&key, &request).await
                }
                Effect::Execute(request) => inner.execute(&key, &request).await,
                Effect::Hear => inner.hear(&key).await,
                Effect::Reply { question, reply } => inner.reply(question, &reply),
                Effect::Files(request) => inner.act_on_files(&key, *request).await,
                Effect::Session(request) => inner.act_on_session(&key, *request, hash).await,
                Effect::Collect { path } => inner.collect_from_home(path).await,
                Effect::Validate { sha256 } => inner.validate(sha256).await,
                Effect::Evaluate { labels, sha256 } => inner.evaluate(labels, sha256).await,
                Effect::Preview(request) => inner.preview(request).await,
                Effect::BeginStep
                | Effect::Node(_)
                | Effect::Step(_)
                | Effect::Note { .. }
                | Effect::SelectFinal { .. } => Performed::Parked(Stop::new(
                    StoppedBy::Internal,
                    format!("`{key}` is no effect of the world"),
                )),
            }
        })
    }

    fn materialise(&self, entry: &Entry) -> Result<(), String> {
        self.inner.desk.learn(entry);
        self.files.write(entry)
    }

    fn close(&self) -> BoxFuture<'static, Vec<Record>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            inner.workspaces.cleared().await;
            let records = inner.close_sessions().await;
            let rest = tokio::task::spawn_blocking(move || inner.equipment.sandbox.rest()).await;
            if let Err(error) = rest {
                tracing::warn!(%error, "what was made ahead could not be dropped in order");
            }
            records
        })
    }
}
