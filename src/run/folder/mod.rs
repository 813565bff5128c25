//! A run's folder: self-contained, and the truth about the run.
//!
//! ```text
//! runs/<name>/
//!   config.json      the resolved configuration; its hash is the run's identity
//!   journal.db       the run journal
//!   content/         content-addressed files: submissions, large journal bodies
//!   nodes/<n>/       solution.py, plan.md, output.txt, submission.csv, node.json (derived from the journal)
//!   holdout/         training labels that the harness keeps, where the scaffold asks for it
//!   best/            solution.py and submission.csv of the node that would be handed in, requirements.txt and run.sh
//!                    to run it without Podium, and the node's number in `node`
//!   submission.csv   what was handed in
//!   run.json         the run report, when it has ended
//!   provenance.json  with what it was made: versions, hashes, models as they answered, hardware, data
//!   closed           all its nodes were graded: it is never resumed
//!   lock             who is running it
//!   ballast          freed when the disk is full, so that the answer in hand still lands
//!   work/            workspaces of executions, emptied as they end
//!   home/workspace/  the workspace that a loop lives in; what is there stays
//! ```
//! No file is shared by two runs.

pub mod content;
pub mod lock;
pub mod swap;

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use content::ContentStore;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// Size of the ballast file: room for some hundred answers.
const BALLAST_BYTES: u64 = 4 << 20;

/// Folders that every run has from its beginning.
const PARTS: [&str; 3] = ["content", "nodes", "work"];

/// A failure with a path in it.
#[derive(Debug, thiserror::Error)]
#[error("could not {act} {}", path.display())]
pub struct FolderError {
    /// What was tried: `create`, `write`, ...
    pub act: &'static str,
    /// Where.
    pub path: PathBuf,
    /// The system's words.
    #[source]
    pub source: std::io::Error,
}

impl FolderError {
    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        is_disk_full(&self.source)
    }
}

/// Whether the system refused to write for want of room: a full disk or an exhausted quota.
pub fn is_disk_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

/// Where a run's files stand.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes a new folder `<parent>/<name>`, or `<name>-2`, `<name>-3`, ... : two runs that start at once never meet.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn create(parent: &Path, name: &str) -> Result<Self, FolderError> {
        create_folder(parent)?;
        for number in 1_u32.. {
            let path = parent.join(if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
            match std::fs::create_dir(&path) {
                Ok(()) => {
                    sync_folder(parent)?;
                    return Self::furnish(&path);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(failed("create", &path, source)),
            }
        }
        Err(failed("create", parent, std::io::ErrorKind::AlreadyExists.into()))
    }

    /// Takes exactly this folder, which must be empty or absent (`--into`).
    ///
    /// # Errors
    /// When it holds something already.
    pub fn create_exactly(path: &Path) -> Result<Self, FolderError> {
        create_folder(path)?;
        let mut entries = std::fs::read_dir(path).map_err(|source| failed("read", path, source))?;
        if entries.next().is_some() {
            let source = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "the folder is not empty");
            return Err(failed("start a run in", path, source));
        }
        Self::furnish(path)
    }

    fn furnish(path: &Path) -> Result<Self, FolderError> {
        let path = path.canonicalize().map_err(|source| failed("resolve", path, source))?;
        let folder = Self { path };
        // Their names become durable with that of the configuration, which makes a run of the folder.
        for part in PARTS {
            let part = folder.path.join(part);
            std::fs::create_dir_all(&part).map_err(|source| failed("create", &part, source))?;
        }
        // What an agent writes there, a set-uid file for one, is nobody else's to run.
        let work = folder.work_path();
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&work, own).map_err(|source| failed("close to others", &work, source))?;
        Ok(folder)
    }

    /// Takes a folder back in which no run has begun: what [`Self::create`] put there, and the folder itself where
    /// `with_itself`. Only empty folders go.
    pub fn discard(&self, with_itself: bool) {
        for part in PARTS {
            let _ = std::fs::remove_dir(self.path.join(part));
        }
        if with_itself {
            let _ = std::fs::remove_dir(&self.path);
        }
    }

    /// An existing run.
    ///
    /// # Errors
    /// When there is no run in `path`.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let path = path.canonicalize().map_err(|source| failed("open the run", path, source))?;
        let folder = Self { path };
        let config = folder.config_path();
        std::fs::metadata(&config).map_err(|source| failed("open the run: no", &config, source))?;
        Ok(folder)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its last component.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The resolved configuration.
    pub fn config_path(&self) -> PathBuf {
        self.path.join("config.json")
    }

    /// The run journal.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal.db")
    }

    /// The run report.
    pub fn report_path(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// With what the run was made.
    pub fn provenance_path(&self) -> PathBuf {
        self.path.join("provenance.json")
    }

    /// The description that the agent is shown instead of the one in the data folder, where it is another.
    pub fn description_path(&self) -> PathBuf {
        self.path.join("description.md")
    }

    /// Writes that description, readable by the user that a container runs as.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn lay_description(&self, text: &str) -> Result<(), FolderError> {
        let path = self.description_path();
        write_whole(&path, text.as_bytes())?;
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(&path, all).map_err(|source| failed("open to readers", &path, source))
    }

    /// The training labels that the run keeps, and what is shown of their rows.
    pub fn holdout(&self) -> podium_competition::Holdout {
        podium_competition::Holdout::at(self.path.join("holdout"))
    }

    /// The ballast file.
    pub fn ballast_path(&self) -> PathBuf {
        self.path.join("ballast")
    }

    /// The mark of a run that is never resumed.
    pub fn closed_path(&self) -> PathBuf {
        self.path.join("closed")
    }

    /// The lock file.
    pub fn lock_path(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// The folder of a node.
    pub fn node_path(&self, node: u32) -> PathBuf {
        self.path.join("nodes").join(node.to_string())
    }

    /// The folder of the best node.
    pub fn best_path(&self) -> PathBuf {
        self.path.join("best")
    }

    /// The workspaces.
    pub fn work_path(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The home workspace of a loop, which need not be there.
    pub fn home_path(&self) -> PathBuf {
        self.path.join("home").join("workspace")
    }

    /// Makes the folder that the home workspace is in. As `work/` it is closed to others.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn lay_home(&self) -> Result<(), FolderError> {
        let path = self.path.join("home");
        create_folder(&path)?;
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&path, own).map_err(|source| failed("close to others", &path, source))
    }

    /// The content store.
    pub fn content(&self) -> ContentStore {
        ContentStore::new(self.path.join("content"))
    }

    /// Puts the ballast in place, as far as the disk allows.
    pub fn lay_ballast(&self) {
        let path = self.ballast_path();
        if std::fs::metadata(&path).is_ok_and(|facts| facts.len() == BALLAST_BYTES) {
            return;
        }
        if let Err(error) = reserve(&path, BALLAST_BYTES) {
            tracing::warn!(%error, "no room for the ballast file");
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// A file that takes up so many bytes of the disk. Where the file system can, nothing is written for it.
fn reserve(path: &Path, bytes: u64) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        // Network file systems know no such thing.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            std::io::copy(&mut std::io::repeat(0x55).take(bytes), &mut file)?;
            file.sync_all()
        }
        reserved => Ok(reserved?),
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn failed(act: &'static str, path: &Path, source: std::io::Error) -> FolderError {
    FolderError { act, path: path.to_owned(), source }
}

/// Makes a folder, and those above it that are missing, so that a power cut leaves it where it is.
///
/// # Errors
/// When it cannot be made.
pub(super) fn create_folder(path: &Path) -> Result<(), FolderError> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_folder(parent)?;
    match std::fs::create_dir(path) {
        // Somebody else may have been faster.
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists || !path.is_dir() => {
            Err(failed("create", path, error))
        }
        _ => sync_folder(parent),
    }
}

/// Makes the names in a folder durable: a file that is synced can still lose its name in a power cut.
///
/// # Errors
/// When the system cannot say that they are.
pub(super) fn sync_folder(path: &Path) -> Result<(), FolderError> {
    match std::fs::File::open(path).and_then(|folder| folder.sync_all()) {
        // Some network and user-space file systems know no such thing.
        Err(error)
            if !matches!(
                error.kind(),
                std::io::ErrorKind::InvalidInput | std::io::ErrorKind::Unsupported
            ) =>
        {
            Err(failed("sync", path, error))
        }
        _ => Ok(()),
    }
}

/// Writes a file whole: into a temporary one beside it, synced, then renamed over it, and its name synced.
///
/// # Errors
/// When it cannot be written; the old file then still stands.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    create_folder(parent(path))?;
    write_before(path, bytes)?;
    sync_folder(parent(path))
}

/// As [`write_whole`], for a file before another one in the same folder: its name is synced with that one's.
///
/// # Errors
/// When it cannot be written; the old file then still stands.
pub(super) fn write_before(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let fail = |source| failed("write", path, source);
    let mut file = tempfile::NamedTempFile::new_in(parent(path)).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(path).map(drop).map_err(|error| fail(error.error))
}

/// As [`write_whole`], for a file that follows from the journal: whoever looks finds a whole file, but what a power cut
/// takes of it is left to the next sitting, which writes it anew, or to [`sync_all`].
///
/// # Errors
/// When it cannot be written; the old file then still stands.
pub fn write_derived(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let fail = |source| failed("write", path, source);
    let mut file = match tempfile::NamedTempFile::new_in(parent(path)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::create_dir_all(parent(path)).map_err(fail)?;
            tempfile::NamedTempFile::new_in(parent(path)).map_err(fail)?
        }
        file => file.map_err(fail)?,
    };
    file.write_all(bytes).map_err(fail)?;
    file.persist(path).map(drop).map_err(|error| fail(error.error))
}

/// Systems write what was written to them to disk within half a minute.
const WRITTEN_BACK: Duration = Duration::from_mins(2);

/// Folders that are synced at the same time: disks take many syncs in little more time than one.
const AT_ONCE: usize = 8;

/// The folders in `path` that a system may not have written to disk by itself.
pub fn young(path: &Path) -> Vec<PathBuf> {
    let young = |path: &PathBuf| {
        let changed = std::fs::symlink_metadata(path).and_then(|facts| facts.modified());
        changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < WRITTEN_BACK))
    };
    entries(path).filter(young).collect()
}

/// Makes folders with the files in them durable, and what they are in.
pub fn sync_all(folders: &[PathBuf]) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
            for file in entries(folder).filter(|file| file.is_file()) {
                // Derived, and on its way to the disk: one that cannot be synced is no reason to fail.
                let _ = std::fs::File::open(file).and_then(|file| file.sync_all());
            }
            let _ = sync_folder(folder);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..folders.len().min(AT_ONCE) {
            // Without another thread this one does it all.
            let _ = std::thread::Builder::new().name("podium-sync".to_owned()).spawn_scoped(scope, work);
        }
        work();
    });
    let above: BTreeSet<&Path> = folders.iter().map(|folder| parent(folder)).collect();
    for folder in above {
        let _ = sync_folder(folder);
    }
}

fn entries(path: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path())
}
