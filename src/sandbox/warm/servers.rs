//! The fork servers of one sandbox: which one a job takes, and what becomes of those that do not work.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Profile, server::Server};
use crate::SandboxError;

/// More of one kind would cost more memory than they save time: a heavy one holds some 200 MB.
const AT_MOST: usize = 4;
/// A server that ended so often is not started again.
const ATTEMPTS: usize = 3;

/// What a server is started with: an execution can only take one that was started exactly as it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Interpreter and script.
    pub(crate) argv: Vec<OsString>,
    /// Everything in the environment; the number of processors granted is in it.
    pub(crate) environment: BTreeMap<String, OsString>,
    /// Folders mounted read-only.
    pub(crate) read_only: Vec<PathBuf>,
    /// What it imports.
    pub(crate) profile: Profile,
}

/// The servers in use. Shared by all clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Servers(Arc<Mutex<Vec<(Key, Slot)>>>);

type Slot = Arc<Mutex<State>>;

#[derive(Debug, Default)]
struct State {
    server: Option<Arc<Server>>,
    failures: usize,
}

impl Servers {
    /// The server of a key, started with `start` where there is none; others who want the same one wait. `None` when
    /// it cannot be had.
    pub(crate) fn get(
        &self,
        key: &Key,
        start: impl FnOnce() -> Result<Server, SandboxError>,
    ) -> Option<Arc<Server>> {
        let slot = self.slot(key)?;
        let mut state = lock(&slot);
        if state.server.is_none() && state.failures < ATTEMPTS {
            match start() {
                Ok(server) => state.server = Some(Arc::new(server)),
                // Its imports would fail again.
                Err(error) => {
                    state.failures = ATTEMPTS;
                    give_up(&error);
                }
            }
        }
        state.server.clone()
    }

    /// The server of a key, where there is one by now.
    pub(crate) fn find(&self, key: &Key) -> Option<Arc<Server>> {
        self.slot(key)?.try_lock().ok()?.server.clone()
    }

    /// Tells that a server did not serve; the next job starts another one, unless that happened too often.
    pub(crate) fn failed(&self, key: &Key, server: &Arc<Server>, error: &SandboxError) {
        let Some(slot) = self.slot(key) else { return };
        let mut state = lock(&slot);
        if state.server.as_ref().is_some_and(|current| Arc::ptr_eq(current, server)) {
            state.server = None;
            state.failures += 1;
            if state.failures == ATTEMPTS {
                give_up(error);
            }
        }
    }

    fn slot(&self, key: &Key) -> Option<Slot> {
        let mut slots = lock(&self.0);
        if let Some((_, slot)) = slots.iter().find(|(known, _)| known == key) {
            return Some(Arc::clone(slot));
        }
        if slots.iter().filter(|(known, _)| known.profile == key.profile).count() == AT_MOST {
            return None;
        }
        let slot = Slot::default();
        slots.push((key.clone(), Arc::clone(&slot)));
        Some(slot)
    }
}

/// Said once for each server.
fn give_up(error: &SandboxError) {
    tracing::warn!(%error, "scripts start cold from now on");
}

/// What a panic left is a whole state all the same.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
