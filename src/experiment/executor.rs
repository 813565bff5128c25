//! Where a run works. In this process each has a thread, which polls its strategy; models and sandboxes work on the
//! runtime that all share, and so do the lanes of model services.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::experiment::error::ExperimentError;
use crate::experiment::plan::{PlannedRun, resolve};
use crate::run::config::Place;
use crate::run::driver::Interrupt;
use crate::run::error::RunError;
use crate::run::events::RunEvent;
use crate::run::folder::RunFolder;
use crate::run::journal::Record;
use crate::run::limits::Raise;
use crate::run::order::packages_of;
use crate::run::site::Site;
use crate::run::sitting::StoredRun;
use crate::run::summary::RunReport;

/// A run to begin, or to go on with.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its place in the plan.
    pub place: usize,
    /// The run.
    pub run: PlannedRun,
    /// Its folder.
    pub folder: PathBuf,
}

/// What is told of a job.
#[derive(Debug)]
pub enum Told {
    /// It has taken steps; so many in all.
    Steps(usize, u32),
    /// It has ended: no more is told of it.
    Ended(usize, Result<Box<RunReport>, Box<ExperimentError>>),
}

/// Where runs work.
pub trait Executor {
    /// Begins a run or goes on with it, and returns at once. Its end is always told.
    fn start(&self, job: Job, told: Sender<Told>);
}

/// Runs in this process.
#[derive(Debug)]
pub struct InProcess {
    site: Arc<Site>,
    runtime: Handle,
    interrupt: watch::Sender<Interrupt>,
}

impl InProcess {
    /// On `runtime`, until `interrupt` says otherwise.
    pub fn new(site: Site, runtime: Handle, interrupt: watch::Sender<Interrupt>) -> Self {
        Self { site: Arc::new(site), runtime, interrupt }
    }
}

impl Executor for InProcess {
    fn start(&self, job: Job, told: Sender<Told>) {
        let (site, runtime) = (Arc::clone(&self.site), self.runtime.clone());
        let interrupt = self.interrupt.subscribe();
        let place = job.place;
        let ends = told.clone();
        let work = move || {
            let ended = sit(&site, &runtime, &job, interrupt, &told);
            // Nobody listens any more: then nobody has to know.
            let _ = told.send(Told::Ended(place, ended.map(Box::new).map_err(Box::new)));
        };
        if let Err(source) = std::thread::Builder::new().name(format!("run-{place}")).spawn(work) {
            let source =
                crate::run::folder::FolderError { act: "start a thread for", path: PathBuf::new(), source };
            let _ = ends.send(Told::Ended(place, Err(Box::new(source.into()))));
        }
    }
}

fn sit(
    site: &Site,
    runtime: &Handle,
    job: &Job,
    interrupt: watch::Receiver<Interrupt>,
    told: &Sender<Told>,
) -> Result<RunReport, ExperimentError> {
    let named = |source| ExperimentError::Run { run: job.run.folder.clone(), source };
    let runs = job.folder.parent().and_then(|folder| folder.parent()).unwrap_or(&job.folder);
    let runs = std::path::absolute(runs).unwrap_or_else(|_| runs.to_owned());
    let (run, equipment) = if job.folder.join("config.json").exists() {
        let run = StoredRun::open(&job.folder).map_err(named)?;
        let _inside = runtime.enter();
        let equipment = site.equip(&run.config, &runs, &mut |_| {}).map_err(named)?;
        (run, equipment)
    } else {
        let mut resolved = resolve(&mut site.clone(), &job.run.arm, &job.run.competition, job.run.seed)?;
        let config = &mut resolved.config;
        let identity =
            config.identity().map_err(|source| named(RunError::Corrupt { file: "config.json", source }))?;
        if identity != job.run.identity {
            return Err(ExperimentError::Setting {
                name: "identity".to_owned(),
                value: format!("what it was in {}", job.run.folder),
                message:
                    "a scaffold, a prompt or a description has changed since the plan was made; run the \
                          experiment again to plan anew"
                        .to_owned(),
            });
        }
        let _inside = runtime.enter();
        let equipment = site.equip(config, &runs, &mut |_| {}).map_err(named)?;
        let description = equipment.environment.describe();
        config.task.submission_check = equipment.submission_check;
        config.task.packages = packages_of(&description, &config.sandbox.requirements);
        if let Some(grants) = equipment.grants() {
            config.task.grants = grants;
        }
        // A folder without a configuration is what a crash left before the run had begun: nothing was paid for in it.
        let _ = std::fs::remove_dir_all(&job.folder);
        let folder = RunFolder::create_exactly(&job.folder).map_err(RunError::from).map_err(named)?;
        let place = Place { endpoints: equipment.endpoints(), ..site.place() };
        (StoredRun::create(folder, resolved.config, place).map_err(named)?, equipment)
    };
    let lock = run.lock().map_err(named)?;
    let (mut steps, place) = (0, job.place);
    let mut sink = |event: &RunEvent| {
        if let RunEvent::Entry { entry, .. } = event
            && let Record::Result { effect, .. } = &entry.record
            && matches!(**effect, podium_scaffold::Effect::BeginStep)
        {
            steps += 1;
            let _ = told.send(Told::Steps(place, steps));
        }
    };
    runtime.block_on(run.sit(lock, equipment, &Raise::default(), interrupt, &mut sink)).map_err(named)
}
