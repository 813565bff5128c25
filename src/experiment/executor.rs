//! Where a run works. In this process each has a thread, which polls its strategy; models and sandboxes work on the
//! runtime that all share, and so do the lanes of model services.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::experiment::error::ExperimentError;
use crate::experiment::plan::{PlannedRun, resolve};
use crate::experiment::standing::{Follower, Standing};
use crate::run::config::Place;
use crate::run::driver::Interrupt;
use crate::run::error::RunError;
use crate::run::events::RunEvent;
use crate::run::folder::{FolderError, RunFolder};
use crate::run::limits::Raise;
use crate::run::order::packages_of;
use crate::run::site::Site;
use crate::run::sitting::StoredRun;
use crate::run::summary::RunReport;
use crate::run::world::Equipment;

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
    /// How far it has come.
    Standing(usize, Box<Standing>),
    /// It has ended: no more is told of it.
    Ended(usize, Box<Result<RunReport, ExperimentError>>),
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
            // Whatever happens, the end is told: otherwise the experiment would wait for it for ever.
            let sitting = AssertUnwindSafe(|| sit(&site, &runtime, &job, interrupt, &told));
            let ended = catch_unwind(sitting).unwrap_or(Err(ExperimentError::Broke));
            // Nobody listens any more: then nobody has to know.
            let _ = told.send(Told::Ended(place, Box::new(ended)));
        };
        if let Err(source) = std::thread::Builder::new().name(format!("run-{place}")).spawn(work) {
            let source = FolderError { act: "start a thread for", path: PathBuf::new(), source };
            let _ = ends.send(Told::Ended(place, Box::new(Err(source.into()))));
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
    let inside = runtime.enter();
    let (run, equipment) = if job.folder.join("config.json").exists() {
        stored(site, job, &runs)?
    } else {
        created(site, job, &runs)?
    };
    drop(inside);
    let lock = run.lock().map_err(named)?;
    let (mut follower, place) = (Follower::new(run.config.limits), job.place);
    let mut sink = |event: &RunEvent| {
        if let Some(standing) = follower.see(event) {
            let _ = told.send(Told::Standing(place, Box::new(standing)));
        }
    };
    runtime.block_on(run.sit(lock, equipment, &Raise::default(), interrupt, &mut sink)).map_err(named)
}

/// A run that has begun, as it was made: its own mounts, recordings and services, whatever the command says now.
fn stored(site: &Site, job: &Job, runs: &Path) -> Result<(StoredRun, Equipment), ExperimentError> {
    let named = |source| ExperimentError::Run { run: job.run.folder.clone(), source };
    let run = StoredRun::open(&job.folder).map_err(named)?;
    let (mounts, recordings) = (run.place.mounts.clone(), run.place.recordings.clone());
    let site = Site { mounts, recordings, ..site.clone() };
    let equipment = site.equip(&run.config, runs, &mut |_| {}).map_err(named)?;
    run.place.same_services(&equipment.endpoints()).map_err(named)?;
    Ok((run, equipment))
}

/// A run that begins. What it would be now has to be what was planned.
fn created(site: &Site, job: &Job, runs: &Path) -> Result<(StoredRun, Equipment), ExperimentError> {
    let named = |source| ExperimentError::Run { run: job.run.folder.clone(), source };
    let mut site = site.clone();
    let mut config = resolve(&mut site, &job.run.arm, &job.run.competition, job.run.seed)?.config;
    let corrupt = |source| named(RunError::Corrupt { file: "config.json", source });
    if config.identity().map_err(corrupt)? != job.run.identity {
        return Err(ExperimentError::Setting {
            name: "identity".to_owned(),
            value: format!("what it was in {}", job.run.folder),
            message: "a scaffold, a prompt or a description has changed since the plan was made; run the \
                      experiment again to plan anew"
                .to_owned(),
        });
    }
    let equipment = site.equip(&config, runs, &mut |_| {}).map_err(named)?;
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
    Ok((StoredRun::create(folder, config, place).map_err(named)?, equipment))
}
