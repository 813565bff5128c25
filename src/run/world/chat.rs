//! Model calls: an intent is committed before each try, caps are asked, waits are shown and not counted as run time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use podium_llm::{Call, CallEvent, Denied, Error, Ledger, ModelName, Observer, Settled, WorstCase};
use podium_scaffold::EffectResult;
use podium_types::chat::ChatRequest;
use podium_types::key::EffectKey;
use tokio::sync::mpsc;

use super::Inner;
use super::truncated::TruncationWarnings;
use crate::run::clock::InFlight;
use crate::run::driver::{Performed, Report};
use crate::run::events::RunEvent;
use crate::run::journal::{Intent, Journal};
use crate::run::spending::Spending;
use crate::run::stop::{Stop, StoppedBy};

impl Inner {
    pub(super) async fn chat(
        self: &Arc<Self>,
        key: &EffectKey,
        role: &str,
        request: &ChatRequest,
        hash: String,
    ) -> Performed {
        let Some(model) = self.equipment.models.get(role) else {
            return Performed::Parked(Stop::new(
                StoppedBy::Internal,
                format!("no model has the role `{role}`"),
            ));
        };
        let ledger = CallLedger {
            key: key.clone(),
            hash,
            journal: self.journal.clone(),
            spending: self.spending.clone(),
            refusal: Mutex::new(None),
        };
        let observer = CallObserver {
            key: key.clone(),
            model: model.clone(),
            truncation_warnings: self.truncation_warnings.clone(),
            reporter: self.reporter.clone(),
            in_flight: Mutex::new(self.clock.in_flight()),
        };
        let call = Call { model, request, ledger: &ledger, observer: &observer, purpose: role };
        let answer = self.equipment.client.chat(&call).await;
        let waited = observer.in_flight.into_inner().unwrap_or_else(PoisonError::into_inner).waited();
        let result = match answer {
            Ok(answer) => Ok(answer),
            Err(Error::Request(error)) => Err(error),
            Err(Error::Denied(denied)) => {
                let refusal = ledger.refusal.lock().unwrap_or_else(PoisonError::into_inner).take();
                return Performed::Parked(
                    refusal.unwrap_or_else(|| Stop::new(StoppedBy::Dollars, denied.reason)),
                );
            }
            Err(error @ (Error::Service { .. } | Error::Configuration { .. })) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                return Performed::Parked(Stop::new(StoppedBy::ModelService, format!("{error}{hint}")));
            }
        };
        Performed::Done { result: Box::new(EffectResult::Chat(result)), waited }
    }
}

/// Reserves, and commits an intent, before each try.
struct CallLedger {
    key: EffectKey,
    hash: String,
    journal: Journal,
    spending: Spending,
    refusal: Mutex<Option<Stop>>,
}

impl CallLedger {
    fn refuse(&self, stop: Stop) -> Denied {
        let reason = stop.detail.clone();
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
        Denied { reason }
    }
}

impl Ledger for CallLedger {
    fn reserve(&self, attempt: u32, worst: WorstCase) -> BoxFuture<'_, Result<(), Denied>> {
        Box::pin(async move {
            let worst = worst.usage();
            self.spending.reserve(&self.key, attempt, worst).map_err(|stop| self.refuse(stop))?;
            let intent = Intent::Try { key: self.key.clone(), attempt, hash: self.hash.clone(), worst };
            if let Err(error) = self.journal.intend(intent).await {
                self.spending.release(&self.key, attempt);
                let stop = if error.is_disk_full() {
                    Stop::disk_full("a model call could not be journaled and was not sent")
                } else {
                    Stop::new(StoppedBy::Interrupted, format!("{error}; nothing was sent"))
                };
                return Err(self.refuse(stop));
            }
            Ok(())
        })
    }

    fn settle(&self, attempt: u32, settled: Settled) -> BoxFuture<'_, ()> {
        match settled {
            Settled::NotBilled => {
                self.spending.release(&self.key, attempt);
                self.journal.close_intent(self.key.clone(), attempt);
            }
            Settled::Unknown => self.spending.bill(&self.key, attempt, None),
            Settled::Used(usage) => self.spending.bill(&self.key, attempt, Some(usage)),
        }
        Box::pin(std::future::ready(()))
    }
}

/// Turns a call's events into the run's stream and its clocks.
struct CallObserver {
    key: EffectKey,
    model: ModelName,
    truncation_warnings: TruncationWarnings,
    reporter: mpsc::UnboundedSender<Report>,
    in_flight: Mutex<InFlight>,
}

impl CallObserver {
    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, event: RunEvent) {
        let _ = self.reporter.send(Report::Event(event));
    }
}

impl Observer for CallObserver {
    fn event(&self, event: CallEvent) {
        match event {
            CallEvent::Waiting { why, delay, attempt, of } => {
                self.in_flight().set_waiting(true);
                self.report(RunEvent::Waiting {
                    key: self.key.clone(),
                    why: format!("{}: {why}", self.model.provider),
                    delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                    attempt: attempt + 1,
                    of,
                });
            }
            CallEvent::WaitingOver => {
                self.in_flight().set_waiting(false);
                self.report(RunEvent::WaitingOver { key: self.key.clone() });
            }
            CallEvent::TryFailed { attempt, status, message, elapsed, service } => {
                if service.is_some() {
                    self.in_flight().try_failed(elapsed);
                }
                tracing::info!(key = %self.key, attempt, ?status, message, "a model try failed");
            }
            CallEvent::ExceededWorstCase { attempt, worst, used } => {
                tracing::warn!(key = %self.key, attempt, ?worst, ?used, "a model call used more than its worst case");
            }
            CallEvent::Downgraded { parameter } => {
                tracing::warn!(key = %self.key, parameter, "the model does not take a parameter; going on without it");
            }
            CallEvent::Truncated { counted, told } => {
                self.truncation_warnings.warn(&self.model, counted, told);
            }
            CallEvent::TryStarted { .. }
            | CallEvent::FirstByte { .. }
            | CallEvent::Repairing { .. }
            | CallEvent::Answered { .. } => {}
        }
    }
}
