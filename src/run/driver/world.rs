//! What the driver needs of the world: effects performed, progress reported, a wish to stop.

use std::time::Duration;

use futures_util::future::BoxFuture;
use podium_scaffold::{Effect, EffectResult};
use podium_types::key::EffectKey;
use tokio::sync::watch;

use crate::run::events::RunEvent;
use crate::run::journal::{CallTrace, Entry, HomeChange, Record};
use crate::run::stop::{Stop, StoppedBy};

/// What came of an effect.
#[derive(Debug)]
pub enum Performed {
    /// A result.
    Done {
        /// For the strategy.
        result: Box<EffectResult>,
        /// How long it waited for a model service on the way.
        waited: Duration,
    },
    /// It cannot be done now, for this reason.
    Parked(Stop),
}

/// What the world reports to the driver.
#[derive(Debug)]
pub enum Report {
    /// An effect ended.
    Ended(EffectKey, Performed),
    /// Progress, for the event stream.
    Event(RunEvent),
    /// Something to be journaled at once.
    Record(Box<Record>),
    /// What changed in the home workspace; told before the end of the effect that did it.
    Changed(Box<HomeChange>),
    /// How a model call went; told before its end is, and also when it was ended from without.
    Traced(EffectKey, Box<CallTrace>),
}

/// The live side: performs effects.
pub trait World: Send + Sync {
    /// Performs an effect of the kinds that take time: chat, execute, sessions, files, validate, preview.
    /// `hash` is the effect's, as the journal will hold it. Dropping the future cancels the effect.
    fn perform(&self, key: EffectKey, effect: Effect, hash: String) -> BoxFuture<'static, Performed>;

    /// Puts what a committed record says into files (`nodes/`, `best/`). Called in journal order; when a run is
    /// resumed also for the records it holds, so that a file lost in a crash comes back.
    ///
    /// # Errors
    /// What could not be written; it stops the run.
    fn materialise(&self, entry: &Entry) -> Result<(), String>;

    /// Ends what outlives effects: sessions. Returns what is to be journaled of them.
    fn close(&self) -> BoxFuture<'static, Vec<Record>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// How urgently a run should stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interrupt {
    /// Not at all.
    #[default]
    None,
    /// Let calls in flight answer, however long they take (Ctrl-C).
    Gently,
    /// Let them answer for a moment: whoever asks will soon kill (SIGTERM of a scheduler or a service manager).
    Soon,
    /// At once.
    AtOnce,
}

/// Where wishes to stop come from.
#[derive(Debug)]
pub struct Interrupts(Option<watch::Receiver<Interrupt>>);

impl From<watch::Receiver<Interrupt>> for Interrupts {
    fn from(receiver: watch::Receiver<Interrupt>) -> Self {
        Self(Some(receiver))
    }
}

impl Interrupts {
    /// How urgently the run should stop.
    pub(super) fn urgency(&self) -> Interrupt {
        self.0.as_ref().map_or(Interrupt::None, |receiver| *receiver.borrow())
    }

    /// Resolves when that changes; never, when nobody can wish it any more.
    pub(super) async fn changed(&mut self) {
        if let Some(receiver) = &mut self.0
            && receiver.changed().await.is_ok()
        {
            return;
        }
        self.0 = None;
        std::future::pending::<()>().await;
    }
}

/// The stop of a wish to stop.
pub(super) fn interrupted() -> Stop {
    Stop::new(StoppedBy::Interrupted, "interrupted; nothing in the journal is lost")
}
