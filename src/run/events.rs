//! The one event stream that leaves a run. The terminal, `--events FILE`, the viewer and the mirror on network file
//! systems are its consumers; nothing else reports progress.

use podium_types::key::EffectKey;
use serde::Serialize;

use crate::run::journal::Entry;
use crate::run::summary::RunReport;

/// Something happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// A record was committed (or, in a replay, read).
    Entry {
        /// Whether it came from the journal rather than from the world.
        replayed: bool,
        /// The record in its place.
        entry: Box<Entry>,
    },
    /// An effect was begun.
    Begun {
        /// Its key.
        key: EffectKey,
        /// `chat` or `execute`.
        effect: &'static str,
        /// The role, for a chat.
        role: Option<String>,
    },
    /// A call waits for a model service; that is not run time.
    Waiting {
        /// Its key.
        key: EffectKey,
        /// Who waits for what, in words.
        why: String,
        /// For how long, in milliseconds; `null` where nobody knows.
        delay_ms: Option<u64>,
        /// Until when, RFC 3339; `null` where nobody knows.
        until: Option<String>,
        /// The try that comes next.
        attempt: u32,
        /// How many tries there are.
        of: u32,
    },
    /// The run stops, and waits for model calls that are in flight: they are paid for.
    Draining {
        /// How many.
        calls: usize,
    },
    /// The sitting is over, and this is its report: the last event of the stream.
    Reported {
        /// The report.
        report: Box<RunReport>,
    },
    /// The wait is over.
    WaitingOver {
        /// Its key.
        key: EffectKey,
    },
}

/// A consumer of the stream. Called on the run's own thread, in order: it should be quick and must not fail.
pub trait Sink {
    /// Takes one event.
    fn event(&mut self, event: &RunEvent);
}

impl<F: FnMut(&RunEvent)> Sink for F {
    fn event(&mut self, event: &RunEvent) {
        self(event);
    }
}
