//! What the driver needs of the world: effects performed, progress reported, a wish to stop.

use futures_util::future::BoxFuture;
use podium_scaffold::{Effect, EffectResult};
use podium_types::key::EffectKey;
use podium_types::usage::Usage;

use crate::run::events::RunEvent;
use crate::run::journal::Entry;
use crate::run::stop::Stop;

/// What came of an effect.
#[derive(Debug)]
pub enum Performed {
    /// A result.
    Done {
        /// For the strategy.
        result: Box<EffectResult>,
        /// What it used.
        usage: Usage,
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
}

/// The live side: performs effects.
pub trait World: Send + Sync {
    /// Performs an effect of the kinds that take time: chat, execute, validate, preview.
    fn perform(&self, key: EffectKey, effect: Effect) -> BoxFuture<'static, Performed>;

    /// Puts what a committed record says into files (`nodes/`, `best/`). Called in journal order; when a run is
    /// resumed also for the records it holds, so that a file lost in a crash comes back.
    ///
    /// # Errors
    /// What could not be written; it stops the run.
    fn materialise(&self, entry: &Entry) -> Result<(), String>;
}

/// How urgently a run should stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interrupt {
    /// Not at all.
    #[default]
    None,
    /// Let calls in flight answer.
    Gently,
    /// At once.
    AtOnce,
}
