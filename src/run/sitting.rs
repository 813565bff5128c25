//! One sitting of a run: the first, a resume, or a replay. All three are the same driver over the same journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use podium_scaffold::Scaffold;
use podium_types::sha256::Sha256;
use podium_types::usage::Usage;
use tokio::sync::{mpsc, watch};

use crate::run::clock::Clock;
use crate::run::config::{FORMAT, Place, RunConfig};
use crate::run::context::Handle;
use crate::run::driver::{DriveError, Driver, Interrupt, Live, World, last_stamp};
use crate::run::error::RunError;
use crate::run::events::{RunEvent, Sink};
use crate::run::external::Stage;
use crate::run::folder::lock::{HEARTBEAT, RunLock};
use crate::run::folder::{self, FolderError, RunFolder, write_before, write_whole};
use crate::run::journal::{
    Entry, HomeFiles, Intent, Journal, JournalError, Opened, PATIENCE, Record, read_entries,
    read_open_intents,
};
use crate::run::limits::Raise;
use crate::run::mirror::{self, Mirror};
use crate::run::own_files::{self, Files};
use crate::run::recording::RecordingPlace;
use crate::run::spending::Spending;
use crate::run::stop::{Stop, StoppedBy};
use crate::run::summary::{self, RunReport};
use crate::run::tally::Tally;
use crate::run::validation;
use crate::run::world::{Equipment, LiveWorld, Recipe, Sitting};

/// A run that was read from its folder.
#[derive(Debug)]
pub struct StoredRun {
    /// Where it is.
    pub folder: RunFolder,
    /// Its configuration.
    pub config: RunConfig,
    /// Where things were when it was made.
    pub place: Place,
    /// Changed files of the strategy's own program, with which the next sitting begins.
    files: Option<Files>,
}

impl StoredRun {
    /// Reads a run's configuration.
    ///
    /// # Errors
    /// When there is no run, or it is of another format.
    pub fn open(path: &std::path::Path) -> Result<Self, RunError> {
        let folder = RunFolder::open(path)?;
        let config: RunConfig = read_json(&folder.config_path(), "config.json")?;
        if config.format != FORMAT {
            return Err(RunError::Format(config.format));
        }
        let place = read_json(&folder.path().join("place.json"), "place.json")?;
        Ok(Self { folder, config, place, files: None })
    }

    /// The same, to go on with the files of the strategy's own program as they are in `folder` now.
    ///
    /// # Errors
    /// When one cannot be read, or the strategy is no program.
    pub fn with_files(self, folder: &std::path::Path) -> Result<Self, RunError> {
        Ok(Self { files: Some(own_files::read(&self.config, folder)?), ..self })
    }

    /// Writes the configuration of a new run into its folder; the folder is a run from then on.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(folder: RunFolder, config: RunConfig, place: Place) -> Result<Self, RunError> {
        let json = |value: Result<Vec<u8>, serde_json::Error>, file| {
            value.map_err(|source| RunError::Corrupt { file, source })
        };
        write_before(
            &folder.path().join("place.json"),
            &json(serde_json::to_vec_pretty(&place), "place.json")?,
        )?;
        write_whole(&folder.config_path(), &json(serde_json::to_vec_pretty(&config), "config.json")?)?;
        Ok(Self { folder, config, place, files: None })
    }

    /// All journal entries.
    ///
    /// # Errors
    /// When the journal does not read back.
    pub fn entries(&self) -> Result<Vec<Entry>, RunError> {
        self.check_journal()?;
        let entries = self.read_entries(PATIENCE)?;
        self.check_begun(&entries)?;
        Ok(entries)
    }

    fn has_begun(&self) -> bool {
        let nodes = entries_of(&self.folder.path().join("nodes"));
        self.folder.report_path().exists() || self.folder.best_path().exists() || !nodes.is_empty()
    }

    /// A run that has done something has a journal.
    pub(super) fn check_journal(&self) -> Result<(), RunError> {
        if self.has_begun() && !self.folder.journal_path().exists() {
            return Err(RunError::JournalLost(self.folder.path().to_owned()));
        }
        Ok(())
    }

    /// And there is something in it.
    fn check_begun(&self, entries: &[Entry]) -> Result<(), RunError> {
        if entries.is_empty() && self.has_begun() {
            return Err(RunError::JournalLost(self.folder.path().to_owned()));
        }
        Ok(())
    }

    /// The file of the configuration, which must be what it was when the run began.
    fn check_config(&self, entries: &[Entry]) -> Result<Sha256, RunError> {
        let path = self.folder.config_path();
        let failed = |source| FolderError { act: "read", path: path.clone(), source };
        let found = Sha256::of(&std::fs::read(&path).map_err(failed)?);
        let noted = entries.iter().find_map(|entry| match &entry.record {
            Record::Started { config, .. } => config.as_ref(),
            _ => None,
        });
        if noted.is_some_and(|noted| *noted != found) {
            return Err(RunError::ConfigChanged(path));
        }
        Ok(found)
    }

    /// All journal entries, also while the run is going on; where its journal is locked for good, on a network file
    /// system, those of the mirror.
    ///
    /// # Errors
    /// When neither reads back.
    pub fn entries_so_far(&self) -> Result<Vec<Entry>, RunError> {
        self.check_journal()?;
        match self.read_entries(PATIENCE / 10) {
            Err(error) if error.is_busy() => mirror::read(&self.folder).ok_or_else(|| error.into()),
            read => {
                let entries = read?;
                self.check_begun(&entries)?;
                Ok(entries)
            }
        }
    }

    fn read_entries(&self, patience: std::time::Duration) -> Result<Vec<Entry>, JournalError> {
        let path = self.folder.journal_path();
        if path.exists() { read_entries(&path, &self.folder.content(), patience) } else { Ok(Vec::new()) }
    }

    /// The report of an ended run; `None` when it has not ended.
    ///
    /// # Errors
    /// When it does not read back.
    pub fn report(&self) -> Result<Option<RunReport>, RunError> {
        if self.folder.report_path().exists() {
            read_json(&self.folder.report_path(), "run.json").map(Some)
        } else {
            Ok(None)
        }
    }

    /// Tries that were sent and have no account yet: in flight, or left by a sitting that was killed. None are known
    /// where the journal is locked for good, on a network file system.
    ///
    /// # Errors
    /// When they do not read back.
    pub fn open_intents(&self) -> Result<Vec<Intent>, RunError> {
        let path = self.folder.journal_path();
        if !path.exists() {
            return Ok(Vec::new());
        }
        match read_open_intents(&path, PATIENCE / 10) {
            Err(error) if error.is_busy() => Ok(Vec::new()),
            read => Ok(read?),
        }
    }

    /// Whether a stand-in model answers in any role, or had answered in a recording that does.
    pub fn has_stand_in(&self) -> bool {
        self.config.has_stand_in() || self.place.recordings.values().any(|recording| recording.stand_in)
    }

    /// Whether its strategy is a program whose files it keeps.
    pub fn keeps_a_program(&self) -> bool {
        !self.config.scaffold.files.is_empty()
    }

    /// The folders of the recordings that answer, by model.
    pub fn recordings(&self) -> BTreeMap<String, String> {
        let named = |(name, place): (&String, &RecordingPlace)| {
            (format!("{}/{name}", podium_llm::REPLAY), place.folder.display().to_string())
        };
        self.place.recordings.iter().map(named).collect()
    }

    /// Where the program of the strategy is started, if it has one.
    fn stage(&self, equipment: &Equipment) -> Stage {
        let mut hidden = equipment.hidden.clone();
        hidden.push(self.folder.path().to_owned());
        Stage {
            sandbox: Arc::clone(&equipment.sandbox),
            environment: equipment.environment.clone(),
            hidden,
            cpus: equipment.resources.cpus().clone(),
            log: Some(self.folder.path().join("strategy.log")),
        }
    }

    fn handle(&self) -> Handle {
        Handle::new(self.config.task.clone(), self.config.seed, Tally::new(self.config.limits).budget())
    }

    /// Runs the strategy against the journal with no model and no execution. One that is a program needs a `stage`.
    ///
    /// # Errors
    /// When anything differs.
    pub async fn replay(&self, stage: Option<Stage>, sink: &mut dyn Sink) -> Result<(Stop, Tally), RunError> {
        let entries = self.entries()?;
        let files = own_files::in_force(&self.config, &entries).clone();
        let scaffold = self.config.scaffold()?;
        let driver = Driver::new(self.handle(), self.config.limits, entries, None, sink);
        self.drive(driver, &scaffold, stage, &files).await
    }

    /// Drives the run's strategy, and its program where it is one.
    async fn drive(
        &self,
        driver: Driver<'_>,
        scaffold: &Scaffold,
        stage: Option<Stage>,
        files: &Files,
    ) -> Result<(Stop, Tally), RunError> {
        let Some(agent) = self.config.agent(scaffold, stage, files) else {
            return Ok(driver.drive(&*scaffold.strategy()).await?);
        };
        let ended = driver.drive(&agent).await;
        agent.close().await;
        ended.map_err(|error| match error {
            DriveError::Diverged { .. } => RunError::OwnProgram(error),
            error => error.into(),
        })
    }

    /// Takes the run's lock, before anything of it is touched.
    ///
    /// # Errors
    /// When somebody else runs it, or it was closed for good.
    pub fn lock(&self) -> Result<RunLock, RunError> {
        if self.is_closed() {
            return Err(RunError::Closed(self.folder.path().to_owned()));
        }
        Ok(RunLock::take(&self.folder.lock_path())?)
    }

    /// Begins the run or goes on with it, until it ends or a limit fires; then grades what was selected.
    ///
    /// # Errors
    /// When it cannot go on. What is committed stays.
    pub async fn sit(
        &self,
        lock: RunLock,
        equipment: Equipment,
        raise: &Raise,
        interrupt: watch::Receiver<Interrupt>,
        sink: &mut dyn Sink,
    ) -> Result<RunReport, RunError> {
        let heartbeat = beat(lock);
        let ended = self.sit_locked(equipment, raise, interrupt, sink).await;
        heartbeat.abort();
        ended.map_err(|error| if error.is_disk_full() { RunError::DiskFull(Box::new(error)) } else { error })
    }

    async fn sit_locked(
        &self,
        equipment: Equipment,
        raise: &Raise,
        interrupt: watch::Receiver<Interrupt>,
        sink: &mut dyn Sink,
    ) -> Result<RunReport, RunError> {
        self.check_journal()?;
        if let Some(report) = self.ended_before(raise)? {
            return Ok(report);
        }
        if !self.config.description.is_original() {
            self.folder.lay_description(&self.config.task.description)?;
        }
        let scaffold = equipment.scaffold.clone();
        let plan = validation::plan(scaffold.validation(), self.config.seed);
        if let Some(plan) = plan {
            let (competition, public) = (&equipment.competition, &equipment.data.public);
            validation::lay(&self.folder.holdout(), competition, public, &plan)?;
        }
        self.folder.lay_ballast();
        self.sweep();
        let Opened { journal, entries, open_intents, file_system } = Journal::open(&self.folder)?;
        self.check_begun(&entries)?;
        let config = self.check_config(&entries)?;
        let mut mirror = Mirror::open(&self.folder, file_system, &entries);
        remember(&equipment.client, &entries);
        let tally = Tally::of(self.config.limits, &entries);
        let limits = tally.limits.raised(raise)?;
        let sandbox = equipment.report.clone();
        let competition = Arc::clone(&equipment.competition);
        let data = equipment.data.clone();
        let ended = summary::last_stop(&entries).filter(|stop| ended_for_good(stop, &tally, limits));
        let stop = if let Some(stop) = ended {
            stop
        } else {
            let _ = std::fs::remove_file(self.folder.report_path());
            let clock = Clock::resume(last_stamp(&entries));
            let spending = Spending::resume(limits, Usage::NOTHING);
            let (reporter, reports) = mpsc::unbounded_channel();
            let sitting = Sitting {
                folder: self.folder.clone(),
                journal: journal.clone(),
                spending: spending.clone(),
                clock: clock.clone(),
                limits,
                reporter: reporter.clone(),
                submission: self.config.task.submission_path.trim_start_matches("./").into(),
                recipe: Recipe::of(&self.config),
                home: HomeFiles::of(&entries),
                training_table: self.config.task.validation.as_ref().map(|told| told.training_table.clone()),
            };
            let stage = self.stage(&equipment);
            let before = own_files::in_force(&self.config, &entries);
            let brought = self.files.clone().filter(|files| files != before);
            let files = brought.clone().unwrap_or_else(|| before.clone());
            let world: Arc<dyn World> = Arc::new(LiveWorld::new(equipment, sitting));
            let live = Live {
                journal: journal.clone(),
                world,
                reports,
                reporter,
                clock,
                spending,
                interrupt: interrupt.into(),
                started: Record::Started {
                    program: env!("CARGO_PKG_VERSION").to_owned(),
                    sandbox: sandbox.facts.describe(),
                    config: Some(config),
                    files: brought,
                },
                limits: (limits != tally.limits).then_some(limits),
                open_intents,
            };
            let mut both = |event: &RunEvent| {
                mirror.event(event);
                sink.event(event);
            };
            let driver = Driver::new(self.handle(), self.config.limits, entries, Some(live), &mut both);
            self.drive(driver, &scaffold, Some(stage), &files).await?.0
        };
        journal.close().await;
        self.sweep();
        // The report needs room, too.
        let _ = std::fs::remove_file(self.folder.ballast_path());
        let derived = self.derived();
        let report = std::thread::scope(|scope| {
            let sync = || folder::sync_all(&derived);
            let syncing =
                std::thread::Builder::new().name("podium-sync".to_owned()).spawn_scoped(scope, sync);
            let report = summary::conclude(self, &competition, &data, sandbox, &stop);
            match syncing {
                Ok(syncing) => drop(syncing.join()),
                Err(_) => sync(),
            }
            report
        })?;
        // It tells that the run has ended, so it comes last.
        report.write(&self.folder)?;
        sink.event(&RunEvent::Reported { report: Box::new(report.clone()) });
        Ok(report)
    }

    /// The folders of files that follow from the journal and may not be on the disk yet.
    fn derived(&self) -> Vec<std::path::PathBuf> {
        let mut folders = folder::young(&self.folder.path().join("nodes"));
        folders.extend(Some(self.folder.best_path()).filter(|best| best.exists()));
        folders
    }

    /// The report of a run that has ended for good, its limits as they stand: there is nothing to do, and nothing of
    /// it is touched.
    fn ended_before(&self, raise: &Raise) -> Result<Option<RunReport>, RunError> {
        // A report that does not read back is written anew.
        let Ok(Some(report)) = self.report() else { return Ok(None) };
        let entries = self.entries()?;
        let tally = Tally::of(self.config.limits, &entries);
        let limits = tally.limits.raised(raise)?;
        let ended = summary::last_stop(&entries).is_some_and(|stop| ended_for_good(&stop, &tally, limits));
        Ok(ended.then_some(report))
    }

    /// What a sitting that was killed left: workspaces, and files that were not yet whole.
    fn sweep(&self) {
        let told = |path: &std::path::Path, removed: std::io::Result<()>| {
            if let Err(error) = removed {
                tracing::warn!(%error, path = %path.display(), "a leftover could not be removed");
            }
        };
        for path in entries_of(&self.folder.work_path()) {
            told(&path, podium_sandbox::workspace::remove(&path));
        }
        let nodes = entries_of(&self.folder.path().join("nodes"));
        let folders =
            [self.folder.path().to_owned(), self.folder.best_path(), self.folder.path().join("content")];
        for path in nodes.into_iter().chain(folders).flat_map(|folder| entries_of(&folder)) {
            let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if hidden && path.is_file() {
                told(&path, std::fs::remove_file(&path));
            }
        }
    }
}

/// Tells the client what the run has learnt of its models, so that nothing is asked of them twice.
fn remember(client: &podium_llm::Client, entries: &[Entry]) {
    for entry in entries {
        if let Record::Downgrade { model, parameter, .. } = &entry.record
            && let Ok(model) = model.parse()
        {
            client.remember(&model, parameter);
        }
    }
}

/// Whether a resume has nothing to go on with: the strategy was done, or the limit that fired still stands.
fn ended_for_good(stop: &Stop, tally: &Tally, limits: crate::run::limits::Limits) -> bool {
    match stop.by {
        StoppedBy::Finished => true,
        StoppedBy::Steps | StoppedBy::Time | StoppedBy::Tokens | StoppedBy::Dollars => limits == tally.limits,
        _ => false,
    }
}

fn entries_of(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Renews the lock's heartbeat until it is aborted; the lock is dropped with it.
fn beat(mut lock: RunLock) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(HEARTBEAT);
        loop {
            ticks.tick().await;
            if let Err(error) = lock.beat() {
                tracing::warn!(%error, "the lock's heartbeat could not be written");
            }
        }
    })
}

fn read_json<T: serde::de::DeserializeOwned>(
    path: &std::path::Path,
    file: &'static str,
) -> Result<T, RunError> {
    let fail = |source| FolderError { act: "read", path: path.to_owned(), source };
    // A pipe in its place would be waited on for ever.
    if !std::fs::metadata(path).map_err(fail)?.is_file() {
        return Err(fail(std::io::Error::other("it is no regular file")).into());
    }
    let bytes = std::fs::read(path).map_err(fail)?;
    serde_json::from_slice(&bytes).map_err(|source| RunError::Corrupt { file, source })
}
