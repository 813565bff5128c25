//! The control groups of one sandbox: made before they are needed, and removed when nobody waits for them.
//!
//! Making and removing the folders of a group takes the kernel most of a millisecond, so a thread does both beside the
//! executions: it keeps one group ready, without limits and with nothing in it, and takes apart those that are done
//! with. Whoever drops the last of the sandbox and its groups waits for the thread, so nothing is left when a harness
//! ends in the ordinary way. What a killed one leaves bears its label and is swept.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::{Group, Hierarchy, kill_all, label, try_remove};
use crate::{InForce, Limits, SandboxError, strength::CgroupFacts};

/// How long the last processes of a killed group may take to leave it.
const LEAVE: Duration = Duration::from_secs(5);
/// Between two looks at a group that is not empty yet.
const PAUSE: Duration = Duration::from_millis(2);

/// Where a sandbox makes its groups. Shared by all clones.
#[derive(Clone, Debug)]
pub(crate) struct Groups(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    hierarchy: Hierarchy,
    spare: Spare,
    /// Folders to be removed; closed to end the thread.
    done_with: Option<Sender<Vec<PathBuf>>>,
    thread: Option<JoinHandle<()>>,
}

/// The folders of a group that is ready.
type Spare = Arc<Mutex<Option<Vec<PathBuf>>>>;

impl Groups {
    /// Finds where groups can be made; `None` where there is no such place.
    pub(crate) fn detect() -> Option<Self> {
        let hierarchy = Hierarchy::detect()?;
        let spare = Spare::default();
        let (done_with, folders) = mpsc::channel();
        let keeper = Keeper { hierarchy: hierarchy.clone(), spare: Arc::clone(&spare), left: Vec::new() };
        // Without the thread a group is removed by whoever drops it.
        let thread = std::thread::Builder::new().name("podium-cgroup".to_owned());
        let thread = thread.spawn(move || keeper.keep(&folders)).ok();
        let done_with = thread.is_some().then_some(done_with);
        Some(Self(Arc::new(Shared { hierarchy, spare, done_with, thread })))
    }

    /// Memory and processes are both limited.
    pub(crate) fn is_full(&self) -> bool {
        self.0.hierarchy.is_full()
    }

    /// This controller can be used.
    pub(crate) fn has(&self, controller: &str) -> bool {
        self.0.hierarchy.has(controller)
    }

    pub(crate) fn facts(&self) -> CgroupFacts {
        self.0.hierarchy.facts()
    }

    pub(super) fn hierarchy(&self) -> &Hierarchy {
        &self.0.hierarchy
    }

    /// The group of one execution, with its limits set.
    pub(crate) fn create(&self, limits: &Limits) -> Result<Group, SandboxError> {
        let folders = match take(&self.0.spare) {
            Some(folders) => folders,
            None => make(&self.0.hierarchy)?,
        };
        let group = Group { groups: self.clone(), folders };
        group.limit(limits)?;
        Ok(group)
    }

    /// What a group with these limits would be held to, as the kernel says.
    pub(crate) fn in_force(&self, limits: &Limits) -> Result<InForce, SandboxError> {
        Ok(self.create(limits)?.in_force())
    }

    /// Has folders removed, with whatever is still in them.
    pub(super) fn remove(&self, folders: Vec<PathBuf>) {
        match &self.0.done_with {
            // The thread lives as long as this does.
            Some(done_with) => drop(done_with.send(folders)),
            None => {
                for folder in &folders {
                    remove(folder);
                }
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.done_with = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread does.
struct Keeper {
    hierarchy: Hierarchy,
    spare: Spare,
    /// Groups that something is still in, and since when.
    left: Vec<(PathBuf, Instant)>,
}

impl Keeper {
    fn keep(mut self, done_with: &Receiver<Vec<PathBuf>>) {
        loop {
            let next = if self.left.is_empty() {
                done_with.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                done_with.recv_timeout(PAUSE)
            };
            match next {
                Ok(folders) => {
                    self.left.extend(folders.into_iter().map(|folder| (folder, Instant::now())));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.left.retain(|(folder, since)| !is_over(folder, *since));
            self.make_spare();
        }
        let spare = take(&self.spare).unwrap_or_default();
        for folder in self.left.drain(..).map(|(folder, _)| folder).chain(spare) {
            remove(&folder);
        }
    }

    /// Where this fails the next execution makes its own, and says why it cannot.
    fn make_spare(&self) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.is_none() {
            *spare = make(&self.hierarchy).ok();
        }
    }
}

fn take(spare: &Spare) -> Option<Vec<PathBuf>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The folders of a new group; none where one of them cannot be made.
fn make(hierarchy: &Hierarchy) -> Result<Vec<PathBuf>, SandboxError> {
    let name = label::fresh();
    let mut folders: Vec<PathBuf> = Vec::new();
    for parent in hierarchy.parents() {
        let folder = parent.join(&name);
        if let Err(source) = std::fs::create_dir(&folder) {
            for made in &folders {
                // It is empty, and was made a moment ago.
                let _ = try_remove(made);
            }
            return Err(SandboxError::io("creating", &folder)(source));
        }
        folders.push(folder);
    }
    Ok(folders)
}

/// Removes a group, or kills what is in it. True when it is gone, or will not go.
fn is_over(folder: &Path, since: Instant) -> bool {
    if try_remove(folder).is_ok() {
        return true;
    }
    kill_all(folder);
    let is_late = since.elapsed() > LEAVE;
    if is_late {
        tracing::warn!(group = %folder.display(), "control group could not be removed");
    }
    is_late
}

/// Kills what is in a group and removes it. False when it did not become empty in time.
pub(super) fn remove(folder: &Path) -> bool {
    let since = Instant::now();
    while !is_over(folder, since) {
        std::thread::sleep(PAUSE);
    }
    matches!(folder.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound)
}
