//! The program of an external strategy in its sandbox: its files read-only, an empty folder to write to, and nothing else.
//!
//! It sees no data, no answers and no network; code that works on data is run by `execute`. It shares the processors of
//! the run with its executions, and has memory and processes of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use podium_sandbox::{
    CpuSet, Environment, Job, Limits, Sandbox, SandboxError, SandboxKind, scratch, workspace,
};
use podium_types::execution::{Execution, Program};
use tokio::task::JoinHandle;

use super::files;
use super::spec::External;
use super::wire::{self, Link};

/// The name of the mount of the program's files.
const MOUNT: &str = "strategy";
/// What it may write is small: it keeps notes, not data.
const DISK_BYTES: u64 = 1 << 30;
const MEMORY_FILES_BYTES: u64 = 256 << 20;
const MOST_FILES: u64 = 20_000;
/// No message is longer, in either direction.
pub(super) const MESSAGE_BYTES: usize = 16 << 20;

/// Where programs of external strategies are started.
#[derive(Clone)]
pub struct Stage {
    /// The sandbox of the run's executions.
    pub sandbox: Arc<dyn Sandbox>,
    /// Their Python environment.
    pub environment: Environment,
    /// Host folders that the program must never see.
    pub hidden: Vec<PathBuf>,
    /// The processors that the run holds.
    pub cpus: CpuSet,
    /// A file that gets what the program says on standard error, once it has ended.
    pub log: Option<PathBuf>,
}

/// A program that was started.
pub(super) struct Started {
    pub(super) link: Link,
    /// Ends when every process is dead and the program's folders are gone.
    pub(super) task: JoinHandle<()>,
}

impl Stage {
    /// A place with nothing beside it: no host folder to hide, all processors, no log.
    pub fn new(sandbox: Arc<dyn Sandbox>, environment: Environment) -> Self {
        Self { sandbox, environment, hidden: Vec::new(), cpus: CpuSet::default(), log: None }
    }

    /// Starts the program.
    pub(super) async fn start(
        &self,
        external: &External,
        files: Arc<BTreeMap<String, String>>,
    ) -> Result<Started, SandboxError> {
        let laid = tokio::task::spawn_blocking(move || lay(&files)).await;
        let folders = laid.unwrap_or_else(|panic| Err(failed(std::io::Error::other(panic))))?;
        let job = self.job(external, &folders);
        self.sandbox.check(&job)?;
        let dialogue = self.sandbox.open_dialogue(&job).await?;
        let (link, carried) = wire::connect(dialogue, MESSAGE_BYTES);
        let log = self.log.clone();
        let task = tokio::spawn(async move {
            let ended = carried.await;
            // Whatever remains is swept with the next start.
            let _ = tokio::task::spawn_blocking(move || {
                keep(log, ended);
                let _ = workspace::remove(&folders.scratch());
                drop(folders);
            })
            .await;
        });
        Ok(Started { link, task })
    }

    fn job(&self, external: &External, folders: &Folders) -> Job {
        let is_process = self.sandbox.facts().kind == SandboxKind::Process;
        let files = folders.files();
        let inside = if is_process {
            files.display().to_string()
        } else {
            format!("{}/{MOUNT}", podium_sandbox::job::MOUNTS)
        };
        let start = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", &inside].map(str::to_owned);
        let argv = start.into_iter().chain(external.command.iter().cloned()).collect();
        let mut job = Job::new(Program::Command { argv }, folders.scratch(), &self.environment);
        job.mounts.insert(MOUNT.to_owned(), files);
        job.hidden.clone_from(&self.hidden);
        job.timeout = Duration::MAX;
        job.limits = Limits {
            memory_bytes: external.memory_mib << 20,
            cpus: self.cpus.clone(),
            processes: external.processes,
            tmp_bytes: MEMORY_FILES_BYTES,
            shm_bytes: MEMORY_FILES_BYTES,
            file_bytes: DISK_BYTES,
            workspace_bytes: DISK_BYTES,
            workspace_files: MOST_FILES,
            ..Limits::default()
        };
        job
    }
}

/// Standard error into the file, whole.
fn keep(log: Option<PathBuf>, ended: Option<Execution>) {
    let (Some(log), Some(ended)) = (log, ended) else { return };
    let text = ended.output.text();
    if !text.is_empty()
        && let Err(error) = crate::run::folder::write_derived(&log, text.as_bytes())
    {
        tracing::warn!(%error, "what the strategy's program said could not be kept");
    }
}

/// The folders of one start.
struct Folders(tempfile::TempDir);

impl Folders {
    fn files(&self) -> PathBuf {
        self.0.path().join("files")
    }

    fn scratch(&self) -> PathBuf {
        self.0.path().join("scratch")
    }
}

fn lay(files: &BTreeMap<String, String>) -> Result<Folders, SandboxError> {
    let folders = Folders(scratch::folder()?);
    files::lay(&folders.files(), files)
        .and_then(|()| workspace::create(&folders.scratch()))
        .map_err(failed)?;
    Ok(folders)
}

fn failed(source: std::io::Error) -> SandboxError {
    SandboxError::Io {
        action: "laying the files of the strategy's program in",
        path: std::env::temp_dir(),
        source,
    }
}
