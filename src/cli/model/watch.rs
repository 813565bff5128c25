//! What a chat by hand shows while it goes on: tries, first bytes, waits and their reason, on standard error. And
//! what it writes down for `--json`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use podium_llm::{CallEvent, Observer};
use serde::Serialize;

use crate::cli::terminal::{Terminal, escape};

/// One try.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Try {
    attempt: u32,
    /// Seconds from sending to the first piece of the answer.
    first_byte_s: Option<f64>,
    /// Seconds from sending to its end.
    seconds: Option<f64>,
    /// The provider's id of the answer.
    id: Option<String>,
    /// The HTTP status of a refusal.
    status: Option<u16>,
    /// Why it failed.
    error: Option<String>,
}

/// What was seen so far.
#[derive(Debug, Default)]
struct Seen {
    tries: Vec<Try>,
    waited: Duration,
    /// When the wait going on began.
    waiting: Option<Instant>,
    without: Vec<String>,
}

/// An observer that shows and writes down.
pub(super) struct Watch<'a> {
    terminal: &'a Terminal,
    seen: Mutex<Seen>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(terminal: &'a Terminal) -> Self {
        Self { terminal, seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All tries, in order.
    pub(super) fn tries(&self) -> Vec<Try> {
        self.seen().tries.clone()
    }

    /// Seconds of waiting between tries.
    pub(super) fn waited_s(&self) -> f64 {
        self.seen().waited.as_secs_f64()
    }

    /// What the model turned out not to take.
    pub(super) fn without(&self) -> Vec<String> {
        self.seen().without.clone()
    }

    fn change(&self, attempt: u32, change: impl FnOnce(&mut Try)) {
        if let Some(known) = self.seen().tries.iter_mut().find(|known| known.attempt == attempt) {
            change(known);
        }
    }

    fn say(&self, what: &str, text: &str) {
        self.terminal.error_line(&format!("{what:<9} {}", escape(text)));
    }
}

/// When a wait that begins now will be over, as the clock on the wall shows it.
fn until(delay: Duration) -> String {
    let delay = jiff::SignedDuration::try_from(delay).unwrap_or_default();
    let end = jiff::Zoned::now().checked_add(delay);
    end.map_or_else(|_| "later".to_owned(), |end| end.strftime("%H:%M:%S").to_string())
}

impl Observer for Watch<'_> {
    fn event(&self, event: CallEvent) {
        match event {
            CallEvent::TryStarted { attempt, .. } => {
                self.seen().tries.push(Try { attempt, ..Try::default() });
                if attempt > 1 {
                    self.say("sent", &format!("try {attempt}"));
                }
            }
            CallEvent::FirstByte { attempt, after } => {
                self.change(attempt, |known| known.first_byte_s = Some(after.as_secs_f64()));
                self.say("answering", &format!("first byte after {:.1} s", after.as_secs_f64()));
            }
            CallEvent::TryFailed { attempt, status, message, elapsed, .. } => {
                self.say("failed", &format!("try {attempt} after {:.1} s: {message}", elapsed.as_secs_f64()));
                self.change(attempt, |known| {
                    known.seconds = Some(elapsed.as_secs_f64());
                    known.status = status;
                    known.error = Some(message);
                });
            }
            CallEvent::Waiting { why, delay, attempt, of } => {
                self.seen().waiting = Some(Instant::now());
                let length = delay.map_or_else(String::new, |delay| {
                    format!(", for {:.1} s until {}", delay.as_secs_f64(), until(delay))
                });
                self.say("waiting", &format!("{why}{length}; try {attempt} of {of}"));
            }
            CallEvent::WaitingOver => {
                let mut seen = self.seen();
                if let Some(since) = seen.waiting.take() {
                    seen.waited += since.elapsed();
                }
            }
            CallEvent::Downgraded { parameter } => {
                self.say("without", &format!("{parameter}: the model does not take it"));
                self.seen().without.push(parameter);
            }
            CallEvent::Repairing { problem } => {
                self.say("mending", &format!("the document does not fit: {problem}"));
            }
            CallEvent::Answered { attempt, id, elapsed, .. } => self.change(attempt, |known| {
                known.id = id;
                known.seconds = Some(elapsed.as_secs_f64());
            }),
            CallEvent::ImplausibleUsage { .. } => {
                self.say("note", "the service told a usage that cannot be true; it is estimated instead");
            }
            CallEvent::Truncated { counted, told } => {
                let what =
                    format!("the server saw {told} tokens of a prompt of {counted}: it seems to have cut it");
                self.say("note", &what);
            }
            CallEvent::ExceededWorstCase { .. } => {}
        }
    }
}
