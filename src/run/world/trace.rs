//! Follows one model call: its events and its settlements become a [`CallTrace`], and what is to be shown goes into the
//! run's stream at once. The trace is handed to the driver when the call is over, however it ends, also when it is
//! dropped on the way.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use podium_llm::{CallEvent, ModelName, Observer, Settled, WaitReason};
use podium_types::chat::ChatAnswer;
use podium_types::key::EffectKey;
use podium_types::usage::Usage;
use tokio::sync::mpsc;

use super::Inner;
use super::truncated::TruncationWarnings;
use crate::run::clock::InFlight;
use crate::run::driver::Report;
use crate::run::events::RunEvent;
use crate::run::journal::{Billed, CallNote, CallTrace, Record, TryFailure, TryTrace, WaitTrace};

/// The observer of one call.
pub(super) struct CallObserver {
    key: EffectKey,
    model: ModelName,
    truncation_warnings: TruncationWarnings,
    reporter: mpsc::UnboundedSender<Report>,
    in_flight: Mutex<InFlight>,
    recorder: Mutex<Recorder>,
}

/// The trace in the making.
#[derive(Default)]
struct Recorder {
    trace: CallTrace,
    /// When the try in flight was sent.
    sent: Option<Instant>,
    /// The wait going on, and its beginning.
    waiting: Option<(String, Instant)>,
}

impl CallObserver {
    /// The observer of a call of `model`, in its role, under `key`.
    pub(super) fn new(world: &Inner, key: &EffectKey, role: &str, model: &ModelName) -> Self {
        let trace = CallTrace { model: model.to_string(), role: role.to_owned(), ..CallTrace::default() };
        Self {
            key: key.clone(),
            model: model.clone(),
            truncation_warnings: world.truncation_warnings.clone(),
            reporter: world.reporter.clone(),
            in_flight: Mutex::new(world.clock.in_flight()),
            recorder: Mutex::new(Recorder { trace, ..Recorder::default() }),
        }
    }

    /// How long the call has waited for its service.
    pub(super) fn waited(&self) -> Duration {
        self.in_flight().waited()
    }

    /// The account of a try, told before its end is.
    pub(super) fn settled(&self, attempt: u32, settled: &Settled) {
        self.recorder().settled(attempt, settled);
    }

    /// The call's answer.
    pub(super) fn answered(&self, answer: &ChatAnswer) {
        self.recorder().trace.served = Some(answer.model.clone());
    }

    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, event: RunEvent) {
        let _ = self.reporter.send(Report::Event(event));
    }

    fn waiting(&self, why: WaitReason, delay: Option<Duration>, attempt: u32, of: u32) {
        self.in_flight().set_waiting(true);
        let why = format!("{}: {why}", self.model.provider);
        self.recorder().waiting = Some((why.clone(), Instant::now()));
        let until =
            delay.and_then(|delay| Timestamp::now().checked_add(SignedDuration::try_from(delay).ok()?).ok());
        self.report(RunEvent::Waiting {
            key: self.key.clone(),
            why,
            delay_ms: delay.map(millis),
            until: until.map(|until| until.to_string()),
            attempt,
            of,
        });
    }

    fn downgraded(&self, parameter: String) {
        tracing::warn!(key = %self.key, parameter, "the model does not take a parameter; going on without it");
        let model = self.model.to_string();
        let record = Record::Downgrade { key: self.key.clone(), model, parameter };
        let _ = self.reporter.send(Report::Record(Box::new(record)));
    }
}

impl Observer for CallObserver {
    fn event(&self, event: CallEvent) {
        match event {
            CallEvent::Waiting { why, delay, attempt, of } => self.waiting(why, delay, attempt, of),
            CallEvent::WaitingOver => {
                self.in_flight().set_waiting(false);
                self.recorder().wait_over();
                self.report(RunEvent::WaitingOver { key: self.key.clone() });
            }
            CallEvent::TryFailed { attempt, status, message, elapsed, service } => {
                if service.is_some() {
                    self.in_flight().try_failed(elapsed);
                }
                tracing::info!(key = %self.key, attempt, ?status, message, "a model try failed");
                let kind = service.map(|kind| kind.as_str().to_owned());
                self.recorder().ended(attempt, elapsed, Some(TryFailure { status, kind, message }));
            }
            CallEvent::ExceededWorstCase { attempt, worst, used } => {
                tracing::warn!(key = %self.key, attempt, ?worst, ?used, "a model call used more than its worst case");
                let note = CallNote::ExceededWorstCase { attempt, worst: worst.usage(), used };
                self.recorder().trace.notes.push(note);
            }
            CallEvent::ImplausibleUsage { attempt, told, settled } => {
                tracing::warn!(key = %self.key, attempt, ?told, ?settled, "the service told a usage that cannot be true");
                self.recorder().trace.notes.push(CallNote::ImplausibleUsage { attempt, told, settled });
            }
            CallEvent::Truncated { counted, told } => {
                self.truncation_warnings.warn(&self.model, counted, told);
                self.recorder().trace.notes.push(CallNote::Truncated { counted, told });
            }
            CallEvent::Downgraded { parameter } => self.downgraded(parameter),
            CallEvent::TryStarted { attempt, worst } => self.recorder().started(attempt, worst.usage()),
            CallEvent::FirstByte { attempt, after } => {
                if let Some(sent) = self.recorder().sent(attempt) {
                    sent.first_byte_ms = Some(millis(after));
                }
            }
            CallEvent::Repairing { problem } => {
                self.recorder().trace.notes.push(CallNote::Repaired { problem });
            }
            CallEvent::Answered { attempt, id, elapsed, .. } => {
                let mut recorder = self.recorder();
                recorder.trace.id = id;
                recorder.ended(attempt, elapsed, None);
            }
        }
    }
}

impl Drop for CallObserver {
    fn drop(&mut self) {
        let recorder = std::mem::take(self.recorder.get_mut().unwrap_or_else(PoisonError::into_inner));
        let trace = Box::new(recorder.finished());
        let _ = self.reporter.send(Report::Traced(self.key.clone(), trace));
    }
}

impl Recorder {
    fn sent(&mut self, attempt: u32) -> Option<&mut TryTrace> {
        self.trace.tries.iter_mut().rfind(|sent| sent.attempt == attempt)
    }

    fn started(&mut self, attempt: u32, worst: Usage) {
        self.sent = Some(Instant::now());
        self.trace.tries.push(TryTrace {
            attempt,
            elapsed_ms: 0,
            first_byte_ms: None,
            failure: None,
            billed: Billed::WorstCase,
            usage: Some(worst),
        });
    }

    fn settled(&mut self, attempt: u32, settled: &Settled) {
        let Some(sent) = self.sent(attempt) else { return };
        match settled {
            Settled::NotBilled => (sent.billed, sent.usage) = (Billed::Nothing, None),
            // As it was reserved.
            Settled::Unknown => sent.billed = Billed::WorstCase,
            Settled::Used(usage) => (sent.billed, sent.usage) = (Billed::Used, Some(*usage)),
        }
    }

    fn ended(&mut self, attempt: u32, elapsed: Duration, failure: Option<TryFailure>) {
        self.sent = None;
        if let Some(sent) = self.sent(attempt) {
            sent.elapsed_ms = millis(elapsed);
            sent.failure = failure;
        }
    }

    fn wait_over(&mut self) {
        if let Some((why, since)) = self.waiting.take() {
            let after = self.trace.tries.last().map_or(0, |sent| sent.attempt);
            self.trace.waits.push(WaitTrace { after, why, ms: millis(since.elapsed()) });
        }
    }

    /// The trace of a call that is over; a try still in flight was given up.
    fn finished(mut self) -> CallTrace {
        self.wait_over();
        if let (Some(since), Some(last)) = (self.sent, self.trace.tries.last_mut()) {
            last.elapsed_ms = millis(since.elapsed());
            let message = "given up by the run before it ended".to_owned();
            last.failure = Some(TryFailure { status: None, kind: None, message });
        }
        self.trace.lean()
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
