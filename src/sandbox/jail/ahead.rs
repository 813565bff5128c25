//! Jails made before they are needed: in each of them a copy of a warm interpreter waits for its go.
//!
//! A jail sees the folder that it was made with, whatever that is called later. So one is made in the background, with a
//! fresh workspace beside the other ones; [`place`] gives that folder its name when the next execution is at hand, and
//! [`go`] lets the copy on to the script once that is in it. Nothing of the workspace is looked at before. A job gets
//! such a jail only where all that the jail was made of is equal ([`Made`]); for any other it is dropped, and a start as
//! ever follows. Each execution takes one or drops one, so there are never more than executions at one time.
//!
//! What waits costs two processes and the pages that it does not share with its server. It holds nothing of the harness
//! but sockets, whose ends it sees when the harness is killed, and it ends with them. Its folder lies where the
//! workspaces of the caller are, to be swept with them.

use std::{
    collections::BTreeMap,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use super::{
    Jail,
    tree::JailTree,
    warm::{self, Held},
};
use crate::{
    Expected, GpuGrant, Job, Limits, SandboxError, cgroup::label, failpoint, program::pipe_pair, supervisor,
    tree::Live, warm::Key, workspace,
};

/// More than these wait for nobody.
const AT_MOST: usize = 8;

/// What was made ahead. Shared by all clones.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// One is made, or could not be.
    made: Condvar,
}

#[derive(Default)]
struct State {
    /// The oldest first.
    ready: Vec<Ready>,
    /// How many are being made.
    making: usize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        f.debug_struct("Ahead").field("ready", &state.ready.len()).field("making", &state.making).finish()
    }
}

/// One that waits.
struct Ready {
    held: Held,
    output: OwnedFd,
    made: Made,
    /// What its jail knows for the workspace.
    identity: Option<(u64, u64)>,
    /// That folder is the workspace of a job that is about to come.
    is_placed: bool,
    folder: Folder,
}

/// A fresh workspace, removed with this where it was not given away.
struct Folder(Option<PathBuf>);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // What remains of it is swept with the workspaces beside it.
            let _ = workspace::remove(path);
        }
    }
}

/// Everything of a job that its jail is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Made {
    key: Key,
    parent: PathBuf,
    input: Option<PathBuf>,
    input_instead: Vec<(String, PathBuf)>,
    beside: Vec<(String, PathBuf)>,
    mounts: BTreeMap<String, PathBuf>,
    gpus: GpuGrant,
    hidden: Vec<PathBuf>,
    stores: Vec<PathBuf>,
    limits: Limits,
    is_checked: bool,
    is_served: bool,
    /// What stands at the paths that are mounted: a mount shows what stood there when it was made.
    sources: Vec<Option<(u64, u64)>>,
}

impl Made {
    /// What the jail of a job is made of; `None` for a job without a copy.
    fn of(jail: &Jail, job: &Job) -> Option<Self> {
        let key = warm::key(jail, job)?;
        // Looked after from outside, by the job's own.
        let limits = Limits {
            output_head_bytes: 0,
            output_tail_bytes: 0,
            workspace_bytes: 0,
            workspace_files: 0,
            ..job.limits.clone()
        };
        let instead = job.input_instead.iter().chain(&job.beside).map(|(_, path)| path);
        let mounted = job.read_only.iter().chain(&job.input).chain(instead).chain(job.mounts.values());
        Some(Self {
            key,
            parent: job.workspace.parent()?.to_owned(),
            input: job.input.clone(),
            input_instead: job.input_instead.clone(),
            beside: job.beside.clone(),
            mounts: job.mounts.clone(),
            gpus: job.gpus.clone(),
            hidden: job.hidden.clone(),
            stores: job.submission.iter().map(|rule| rule.store.clone()).collect(),
            limits,
            is_checked: job.submission_check.is_some(),
            is_served: job.service.is_some(),
            sources: mounted.map(|path| identity(path)).collect(),
        })
    }
}

/// What stands at a path.
fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|facts| (facts.dev(), facts.ino()))
}

impl Shared {
    /// What a panic left is a whole state all the same.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another one may be made, and counts from now on.
    fn begin_one(&self) -> bool {
        let mut state = self.lock();
        let is_room = state.ready.len() + state.making < AT_MOST;
        state.making += usize::from(is_room);
        is_room
    }
}

/// Makes a jail for a job like this one, in the background.
pub(super) fn expect(jail: &Jail, job: &Job) -> Expected {
    let shared = &jail.ahead.0;
    if warm::key(jail, job).is_none() || !shared.begin_one() {
        return Expected::nothing();
    }
    let making = Making(Arc::clone(shared));
    let (jail, job) = (jail.clone(), job.clone());
    let (reply, answer) = oneshot::channel();
    let begun = supervisor::begin(move || {
        match make(&jail, &job) {
            Ok(Some(ready)) => {
                making.0.lock().ready.push(ready);
                // Nobody need wait for it.
                let _ = reply.send(());
            }
            Ok(None) => {}
            // The job itself will say what is wrong with it.
            Err(error) => tracing::debug!(%error, "no jail was made ahead"),
        }
        drop(making);
    });
    if let Err(error) = begun {
        tracing::debug!(%error, "no jail is made ahead");
    }
    Expected(Some(answer))
}

/// One that is being made, until it is dropped.
struct Making(Arc<Shared>);

impl Drop for Making {
    fn drop(&mut self) {
        self.0.lock().making -= 1;
        self.0.made.notify_all();
    }
}

fn make(jail: &Jail, job: &Job) -> Result<Option<Ready>, SandboxError> {
    let Some(made) = Made::of(jail, job) else { return Ok(None) };
    let Some(server) = warm::server(jail, job, &made.key) else { return Ok(None) };
    failpoint::reach("serving");
    let path = made.parent.join(format!("ahead-{}", label::fresh()));
    let failed = SandboxError::io("creating", &path);
    workspace::create(&path)
        .and_then(|()| workspace::prepare_for(&path, std::iter::empty(), beside(job)))
        .map_err(failed)?;
    let (folder, identity) = (Folder(Some(path.clone())), identity(&path));
    failpoint::reach("folder");
    let job = Job { workspace: path, ..job.clone() };
    let (output, theirs) = pipe_pair()?;
    let held = warm::hold(jail, &job, made.key.clone(), server, theirs.as_fd());
    failpoint::reach("held");
    Ok(held.map(|held| Ready { held, output, made, identity, is_placed: false, folder }))
}

/// The names of the folders that are mounted in a job's workspace.
fn beside(job: &Job) -> impl Iterator<Item = &str> {
    job.beside.iter().map(|(name, _)| name.as_str())
}

/// Makes the workspace of a job one in which a jail waits for it. False when there is none: then nothing is there.
pub(super) fn place(jail: &Jail, job: &Job) -> bool {
    let Some(made) = Made::of(jail, job) else { return false };
    let mut state = jail.ahead.0.lock();
    // Whoever comes a second time has no use for what was placed the first time.
    drop(state.take(|ready| ready.is_at(&job.workspace)));
    let is_fitting = |ready: &Ready| !ready.is_placed && ready.made == made;
    if state.ready.iter_mut().find(|ready| is_fitting(ready)).is_some_and(|ready| ready.place(job)) {
        failpoint::reach("placed");
        return true;
    }
    // It was made for this one, and does not fit.
    let wrong = state.take(|ready| !ready.is_placed);
    drop(state);
    drop(wrong);
    false
}

/// Lets the copy that waits in the workspace of a job go on to its script, and gives its processes and its output;
/// `None` when none waits there, or not for such a job.
pub(super) fn go(jail: &Jail, job: &Job) -> Option<(Live<JailTree>, OwnedFd)> {
    let mut ready = jail.ahead.0.lock().take(|ready| ready.is_at(&job.workspace))?;
    // From here on it is the caller's.
    ready.folder.0 = None;
    let Ready { held, output, made, .. } = ready;
    if ready.identity != identity(&job.workspace) || Made::of(jail, job) != Some(made) {
        if let Err(error) = held.end() {
            tracing::warn!(%error, "a jail did not end");
        }
        return None;
    }
    let live = warm::go(jail, job, held)?;
    failpoint::reach("gone");
    Some((live, output))
}

impl State {
    /// The oldest that is such a one.
    fn take(&mut self, is_such: impl FnMut(&Ready) -> bool) -> Option<Ready> {
        self.ready.iter().position(is_such).map(|place| self.ready.remove(place))
    }
}

impl Ready {
    /// Gives its folder the name of a job's workspace.
    fn place(&mut self, job: &Job) -> bool {
        let Some(path) = &mut self.folder.0 else { return false };
        if let Err(error) = std::fs::rename(&path, &job.workspace) {
            tracing::debug!(%error, "a workspace that was made ahead could not be moved");
            return false;
        }
        path.clone_from(&job.workspace);
        self.is_placed = true;
        true
    }

    /// It was given this place.
    fn is_at(&self, path: &Path) -> bool {
        self.is_placed && self.folder.0.as_deref() == Some(path)
    }
}

/// Drops what was made, and what is being made as soon as it is there; waits until all of it is dead.
pub(super) fn rest(jail: &Jail) {
    let shared = &jail.ahead.0;
    let state = shared.lock();
    let mut state =
        shared.made.wait_while(state, |state| state.making > 0).unwrap_or_else(PoisonError::into_inner);
    let ready = std::mem::take(&mut state.ready);
    drop(state);
    for Ready { held, .. } in ready {
        if let Err(error) = held.end() {
            tracing::warn!(%error, "a jail did not end");
        }
    }
}
