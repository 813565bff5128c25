//! The home workspace of a run: one folder that lives as long as the run, where a loop's executions, sessions and file
//! tools work side by side.
//!
//! A resume does not touch it: what is on the disk is the truth. Only where the folder is gone it is made again from
//! what the content store kept. What happens here is at-most-once where twice is another thing than once: an intent is
//! committed before it is begun, and one without a result is told as interrupted.
//!
//! - `acts`: executions and collections; `files`: acts on files; `sessions`: shells and kernels
//! - `keeper`: what changed, into the content store
//! - `rebuild`: the folder made again

mod acts;
mod files;
mod keeper;
mod rebuild;
mod sessions;

use std::sync::{Arc, Mutex, PoisonError};

use podium_scaffold::EffectResult;
use podium_types::key::EffectKey;
use tokio::sync::OnceCell;

use super::Inner;
use super::leases::Lease;
use super::local::Refused;
use crate::run::driver::{Performed, Report};
use crate::run::journal::{HomeFiles, Intent};
use crate::run::stop::{Stop, StoppedBy};
use keeper::Keeper;
use sessions::Sessions;

/// The home workspace, as one sitting has it.
pub(super) struct Home {
    /// It is there, and its lease is taken.
    ready: OnceCell<Option<Lease>>,
    keeper: Mutex<Keeper>,
    sessions: Sessions,
}

impl Home {
    /// With what the journal knows of its files.
    pub(super) fn new(known: HomeFiles) -> Self {
        Self { ready: OnceCell::new(), keeper: Mutex::new(Keeper::new(known)), sessions: Sessions::default() }
    }

    /// The processors that everything in it shares, once it was used.
    pub(super) fn lease(&self) -> Option<&Lease> {
        self.ready.get().and_then(Option::as_ref)
    }
}

impl Inner {
    /// Makes the home workspace at its first use in a sitting; from then on it holds one lease, for programs go on
    /// between acts.
    async fn at_home(self: &Arc<Self>) -> Result<(), Refused> {
        let ready = self.home.ready.get_or_try_init(|| async {
            let inner = Arc::clone(self);
            let made = tokio::task::spawn_blocking(move || inner.make_home()).await;
            made.map_err(|panic| Refused::Stop(Stop::new(StoppedBy::Internal, panic.to_string())))??;
            Ok::<_, Refused>(self.leases.lease().await)
        });
        ready.await.map(drop)
    }

    /// Commits that an act is begun.
    async fn begin_act(&self, key: &EffectKey, hash: String) -> Result<(), Refused> {
        let intent = Intent::Act { key: key.clone(), hash };
        self.journal.intend(intent).await.map_err(|error| {
            Refused::Stop(if error.is_disk_full() {
                Stop::disk_full("an act could not be journaled and was not begun")
            } else {
                Stop::new(StoppedBy::Interrupted, format!("{error}; nothing was begun"))
            })
        })
    }

    /// Notes that an act which was to be begun was not.
    fn not_begun(&self, key: &EffectKey) {
        self.journal.close_intent(key.clone(), 1);
    }

    /// Ends an effect that may have changed files: what changed is told before its result.
    async fn changed(self: &Arc<Self>, key: &EffectKey, result: EffectResult) -> Performed {
        let inner = Arc::clone(self);
        let change = tokio::task::spawn_blocking(move || {
            let mut keeper = inner.home.keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let change = keeper.look(&inner.folder.home_path(), inner.folder.content().folder())?;
            if !change.is_empty() {
                // Told from here: what the keeper knows must be journaled even if nobody waits any more.
                let _ = inner.reporter.send(Report::Changed(Box::new(change)));
            }
            Ok::<_, std::io::Error>(())
        });
        match change.await {
            Ok(Ok(())) => {}
            // What was done is done; only its trace is thinner.
            Ok(Err(error)) => tracing::warn!(%error, %key, "what changed in the home workspace is not known"),
            Err(panic) => return Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
        super::local::done(result)
    }
}
