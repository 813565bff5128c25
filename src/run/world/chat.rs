//! Model calls: an intent is committed before each try, and caps are asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use podium_llm::{Call, Denied, Error, Ledger, Settled, WorstCase};
use podium_scaffold::EffectResult;
use podium_types::chat::{ChatError, ChatRequest};
use podium_types::key::EffectKey;

use super::Inner;
use super::trace::CallObserver;
use crate::run::driver::Performed;
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
        let observer = CallObserver::new(self, key, role, model);
        let ledger = CallLedger {
            key: key.clone(),
            hash,
            journal: self.journal.clone(),
            spending: self.spending.clone(),
            refusal: Mutex::new(None),
            observer: &observer,
        };
        let purpose = format!("{role} {key}");
        let call = Call { model, request, ledger: &ledger, observer: &observer, purpose: &purpose };
        let answer = self.equipment.client.chat(&call).await;
        let waited = observer.waited();
        let result = match answer {
            Ok(answer) => {
                observer.answered(&answer);
                Ok(answer)
            }
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

/// A service that failed for good, as an answer to a strategy that asked to hear of it.
pub(super) fn heard(performed: Performed) -> Performed {
    match performed {
        Performed::Parked(stop) if stop.by == StoppedBy::ModelService => {
            let error = ChatError::Service { message: stop.detail };
            Performed::Done { result: Box::new(EffectResult::Chat(Err(error))), waited: Duration::ZERO }
        }
        performed => performed,
    }
}

/// Reserves, and commits an intent, before each try.
struct CallLedger<'a> {
    key: EffectKey,
    hash: String,
    journal: Journal,
    spending: Spending,
    refusal: Mutex<Option<Stop>>,
    observer: &'a CallObserver,
}

impl CallLedger<'_> {
    fn refuse(&self, stop: Stop) -> Denied {
        let reason = stop.detail.clone();
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
        Denied { reason }
    }
}

impl Ledger for CallLedger<'_> {
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
        self.observer.settled(attempt, &settled);
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
