//! The live half: commits, starts what is pending, and waits for one thing at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use podium_scaffold::{Effect, EffectResult, Quiet};
use podium_types::key::EffectKey;
use podium_types::usage::Usage;
use tokio::sync::Notify;

use super::turns::{DriveError, Driver, Pending, State};
use super::world::{Interrupt, Performed, Report};
use crate::run::driver::world::interrupted;
use crate::run::events::RunEvent;
use crate::run::journal::{Intent, Record, name_of};
use crate::run::stop::{Stop, StoppedBy};

/// A call that a failed service had parked is asked again after this long, once the service answers others.
const REVIVE_AFTER: Duration = Duration::from_mins(1);

impl Driver<'_> {
    pub(super) async fn commit(&mut self, record: Record) -> Result<(), DriveError> {
        let Some(live) = &self.live else { return Ok(()) };
        let stamp = live.clock.stamp();
        let entry = live.journal.append(stamp, record).await?;
        self.release(entry, false);
        Ok(())
    }

    pub(super) async fn begin_sitting(&mut self) -> Result<(), DriveError> {
        self.sitting = true;
        if let Some(selected) = self.selected.take() {
            self.materialise(&selected);
        }
        let Some(live) = &mut self.live else { return Ok(()) };
        live.clock.begin();
        let (started, limits) = (live.started.clone(), live.limits.take());
        let mut charges: BTreeMap<EffectKey, Usage> = BTreeMap::new();
        for intent in std::mem::take(&mut live.open_intents) {
            match intent {
                Intent::Try { key, worst, .. } => {
                    let sum = charges.entry(key).or_insert(Usage::NOTHING);
                    *sum = sum.plus(&worst);
                }
                Intent::Act { key, hash } => {
                    self.cut.insert(key, hash);
                }
            }
        }
        self.commit(started).await?;
        if let Some(limits) = limits {
            self.commit(Record::Limits(limits)).await?;
        }
        for (key, usage) in charges {
            self.commit(Record::Charge { key, usage, call: None }).await?;
        }
        if let Some(live) = &self.live {
            live.spending.restart(self.tally.limits, self.tally.usage);
        }
        Ok(())
    }

    /// Commits the first pending effect that needs no time. False when there is none.
    pub(super) async fn commit_instant(&mut self) -> Result<bool, DriveError> {
        self.forget_dropped();
        let steps_left = self.tally.limits.steps.is_none_or(|limit| self.tally.steps < limit);
        let mut chosen = None;
        for key in &self.order {
            let Some(pending) = self.pending.get_mut(key) else { continue };
            if let Some(hash) = self.cut.get(key) {
                was_begun(self.last_seq, key, pending, hash)?;
                chosen = Some((key.clone(), EffectResult::Interrupted));
                break;
            }
            let result = match &pending.effect {
                Effect::BeginStep if steps_left => EffectResult::Granted,
                Effect::BeginStep => {
                    let limit = self.tally.limits.steps.unwrap_or_default();
                    let stop = Stop::new(StoppedBy::Steps, format!("step limit ({limit}) reached"));
                    pending.state = State::Parked(stop, Instant::now());
                    continue;
                }
                Effect::Node(_) | Effect::Step(_) | Effect::Note { .. } | Effect::SelectFinal { .. } => {
                    EffectResult::Recorded
                }
                Effect::Chat { .. }
                | Effect::Execute(_)
                | Effect::Files(_)
                | Effect::Session(_)
                | Effect::Hear
                | Effect::Reply { .. }
                | Effect::Collect { .. }
                | Effect::Validate { .. }
                | Effect::Evaluate { .. }
                | Effect::Preview(_) => {
                    continue;
                }
            };
            chosen = Some((key.clone(), result));
            break;
        }
        let Some((key, result)) = chosen else { return Ok(false) };
        self.cut.remove(&key);
        self.commit_result(&key, result, Duration::ZERO).await?;
        Ok(true)
    }

    /// What nobody waits for any more is not begun; what is in flight goes on, for its account.
    fn forget_dropped(&mut self) {
        let flying = |pending: &Pending| matches!(pending.state, State::Flying(..));
        self.pending.retain(|_, pending| !pending.dropped || flying(pending));
        let pending = &self.pending;
        self.order.retain(|key| pending.contains_key(key));
    }

    pub(super) async fn commit_result(
        &mut self,
        key: &EffectKey,
        result: EffectResult,
        waited: Duration,
    ) -> Result<(), DriveError> {
        let Some(pending) = self.pending.get(key) else { return Ok(()) };
        let took = match pending.state {
            State::Flying(_, since) => since.elapsed(),
            State::Asked | State::Parked(..) => Duration::ZERO,
        };
        // The call is over: what it was billed is recorded with it, in one transaction that closes its intents.
        let usage = self.live.as_ref().map_or(Usage::NOTHING, |live| live.spending.close(key));
        let record = Record::Result {
            key: key.clone(),
            hash: pending.hash.clone(),
            effect: Box::new(pending.effect.clone()),
            result: Box::new(result),
            usage,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
            call: self.traces.remove(key),
            home: self.changes.take(),
        };
        self.commit(record).await
    }

    /// Starts what can be started and waits for one thing to happen, a strategy that is woken among them. Some: the run
    /// stops.
    pub(super) async fn advance(&mut self, quiet: Quiet, told: &Notify) -> Result<Option<Stop>, DriveError> {
        let parked = self.pending.values().all(|pending| matches!(pending.state, State::Parked(..)));
        if parked && quiet != Quiet::Busy {
            return Ok(Some(self.reason_to_stop()));
        }
        // Asked before anything new is begun: a call that is sent now would be paid for by a run that stops.
        if let Some(stop) = self.must_stop() {
            return Ok(Some(stop));
        }
        self.start_asked();
        let left = self.run_time_left().unwrap_or(Duration::from_hours(1));
        let Some(live) = &mut self.live else { return Ok(None) };
        tokio::select! {
            report = live.reports.recv() => match report {
                Some(Report::Ended(key, performed)) => self.ended(key, performed).await?,
                Some(report) => self.reported(report).await?,
                None => {}
            },
            () = tokio::time::sleep(left) => {}
            () = live.interrupt.changed() => {}
            () = told.notified() => {}
        }
        Ok(None)
    }

    /// Takes in what the world reports of effects that go on.
    pub(super) async fn reported(&mut self, report: Report) -> Result<(), DriveError> {
        match report {
            Report::Event(event) => self.noted(&event),
            Report::Record(record) => self.commit(*record).await?,
            Report::Traced(key, trace) => {
                self.traces.insert(key, trace);
            }
            Report::Changed(change) => self.changes.get_or_insert_default().merge(*change),
            Report::Ended(..) => {}
        }
        Ok(())
    }

    /// Takes in progress of the world and passes it on.
    fn noted(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Waiting { key, .. } => {
                self.waiting.insert(key.clone());
            }
            RunEvent::WaitingOver { key } => {
                self.waiting.remove(key);
            }
            _ => {}
        }
        self.sink.event(event);
    }

    /// What stops the run whatever is in flight: a signal, a full disk, the time limit.
    fn must_stop(&self) -> Option<Stop> {
        let live = self.live.as_ref()?;
        if live.interrupt.urgency() != Interrupt::None {
            return Some(interrupted());
        }
        if let Some(detail) = &self.unwritten {
            return Some(Stop::new(StoppedBy::Interrupted, detail.clone()));
        }
        if live.journal.disk_was_full() {
            return Some(Stop::disk_full("the run journal took the room that is kept for it"));
        }
        self.run_time_left().filter(Duration::is_zero).and(self.tally.limits.run_ms).map(Stop::time)
    }

    fn run_time_left(&self) -> Option<Duration> {
        let used = self.live.as_ref()?.clock.stamp().run_ms;
        Some(Duration::from_millis(self.tally.limits.run_ms?.saturating_sub(used)))
    }

    fn start_asked(&mut self) {
        let Some(live) = &self.live else { return };
        for key in &self.order {
            let Some(pending) = self.pending.get_mut(key) else { continue };
            if !matches!(pending.state, State::Asked) {
                continue;
            }
            let (effect, role) = match &pending.effect {
                Effect::Chat { role, .. } => ("chat", Some(role.clone())),
                Effect::Execute(_) => ("execute", None),
                Effect::Files(_) => ("files", None),
                Effect::Session(_) => ("session", None),
                Effect::Hear => ("hear", None),
                Effect::Reply { .. } => ("reply", None),
                Effect::Collect { .. } => ("collect", None),
                Effect::Validate { .. } => ("validate", None),
                Effect::Evaluate { .. } => ("evaluate", None),
                _ => ("preview", None),
            };
            let future = live.world.perform(key.clone(), pending.effect.clone(), pending.hash.clone());
            let (reporter, ending) = (live.reporter.clone(), key.clone());
            let task = tokio::spawn(async move {
                // A panic is a bug of ours; it must end the run by that name, not leave it waiting.
                let performed =
                    std::panic::AssertUnwindSafe(future).catch_unwind().await.unwrap_or_else(|_| {
                        Performed::Parked(Stop::new(StoppedBy::Internal, format!("`{ending}` panicked")))
                    });
                let _ = reporter.send(Report::Ended(ending, performed));
            });
            pending.state = State::Flying(task, Instant::now());
            self.sink.event(&RunEvent::Begun { key: key.clone(), effect, role });
        }
    }

    pub(super) async fn ended(&mut self, key: EffectKey, performed: Performed) -> Result<(), DriveError> {
        match performed {
            Performed::Done { result, waited } => {
                let answered = matches!(*result, EffectResult::Chat(Ok(_)));
                self.commit_result(&key, *result, waited).await?;
                self.revive(answered);
            }
            Performed::Parked(stop) => {
                if let Some(pending) = self.pending.get_mut(&key) {
                    pending.state = State::Parked(stop, Instant::now());
                }
                self.charge_abandoned(&key).await?;
            }
        }
        Ok(())
    }

    /// Asks parked calls again where the reason may be gone: room under a cap, a service that answers others.
    fn revive(&mut self, answered: bool) {
        for pending in self.pending.values_mut() {
            let State::Parked(stop, since) = &pending.state else { continue };
            let again = match stop.by {
                StoppedBy::Dollars | StoppedBy::Tokens => true,
                StoppedBy::ModelService => answered && since.elapsed() >= REVIVE_AFTER,
                _ => false,
            };
            if again {
                pending.state = State::Asked;
            }
        }
    }

    pub(super) async fn charge_abandoned(&mut self, key: &EffectKey) -> Result<(), DriveError> {
        let charge = self.live.as_ref().and_then(|live| live.spending.abandon(key));
        let call = self.traces.remove(key).filter(|call| !call.tries.is_empty());
        if charge.is_some() || call.is_some() {
            let usage = charge.unwrap_or(Usage::NOTHING);
            self.commit(Record::Charge { key: key.clone(), usage, call }).await?;
        }
        Ok(())
    }

    /// Nothing is in flight: the most telling reason among what is parked.
    pub(super) fn reason_to_stop(&self) -> Stop {
        let parked = self.pending.values().filter_map(|pending| match &pending.state {
            State::Parked(stop, _) => Some(stop),
            _ => None,
        });
        parked
            .max_by_key(|stop| stop.by)
            .cloned()
            .unwrap_or_else(|| Stop::new(StoppedBy::Internal, "the strategy waits for nothing"))
    }
}

/// An act that was begun in an earlier sitting is told as cut, and only if it is the one that is asked for now.
fn was_begun(last_seq: u64, key: &EffectKey, pending: &Pending, hash: &str) -> Result<(), DriveError> {
    if pending.hash == hash {
        return Ok(());
    }
    Err(DriveError::Diverged {
        seq: last_seq.saturating_add(1),
        recorded: format!("that {} `{key}` was begun", name_of(&pending.effect)),
        asked: "asks for it with another content".to_owned(),
    })
}
