//! The end of a sitting: executions are killed, calls in flight may still answer, and what stays open is charged.

use std::collections::BTreeSet;
use std::time::Duration;

use podium_scaffold::Effect;
use podium_types::key::EffectKey;

use super::turns::{DriveError, Driver, Pending, State};
use super::world::{Interrupt, Performed, Report};
use crate::run::events::RunEvent;
use crate::run::journal::Record;
use crate::run::stop::{Stop, StoppedBy};
use crate::run::tally::Tally;

/// How long calls in flight may still answer once the time limit has fired. After a gentle interrupt they may take
/// as long as they need: a second one ends them.
const AFTER_TIME: Duration = Duration::from_mins(1);

/// How long after a SIGTERM: schedulers and service managers kill half a minute after it.
const AFTER_TERM: Duration = Duration::from_secs(15);

impl Driver<'_> {
    pub(super) async fn stop(mut self, stop: Stop) -> Result<(Stop, Tally), DriveError> {
        self.drain(&stop).await?;
        let calls: Vec<EffectKey> = self.order.clone();
        for key in calls {
            self.charge_abandoned(&key).await?;
        }
        if let Some(live) = &self.live {
            for record in live.world.close().await {
                self.commit(record).await?;
            }
        }
        self.commit(Record::Stopped(stop.clone())).await?;
        Ok((stop, self.tally))
    }

    /// Kills executions, and lets calls in flight answer: they are paid for.
    async fn drain(&mut self, stop: &Stop) -> Result<(), DriveError> {
        // A run that stops sends nothing new; what is between two tries, or is no call at all, is ended.
        if let Some(live) = &self.live {
            live.spending.refuse(stop.clone());
        }
        self.abort(stop, |key, effect, waiting| {
            !matches!(effect, Effect::Chat { .. }) || waiting.contains(key)
        })
        .await?;
        let now = tokio::time::Instant::now();
        let mut deadline = (stop.by == StoppedBy::Time).then(|| now + AFTER_TIME);
        let mut told = false;
        loop {
            let flying =
                self.pending.values().filter(|pending| matches!(pending.state, State::Flying(..))).count();
            let Some(live) = &mut self.live else { return Ok(()) };
            if flying == 0 || live.interrupt.urgency() == Interrupt::AtOnce {
                break;
            }
            if live.interrupt.urgency() == Interrupt::Soon {
                deadline = deadline.or(Some(tokio::time::Instant::now() + AFTER_TERM));
            }
            if !told {
                told = true;
                self.sink.event(&RunEvent::Draining { calls: flying });
            }
            tokio::select! {
                report = live.reports.recv() => match report {
                    Some(report) => self.reported_while_draining(report).await?,
                    None => break,
                },
                () = until(deadline) => break,
                () = live.interrupt.changed() => {}
            }
        }
        self.abort(stop, |_, _, _| true).await
    }

    /// Ends what is in flight, and takes in what had ended just before.
    async fn abort(
        &mut self,
        stop: &Stop,
        which: impl Fn(&EffectKey, &Effect, &BTreeSet<EffectKey>) -> bool,
    ) -> Result<(), DriveError> {
        let waiting = self.waiting.clone();
        let chosen = |key: &EffectKey, pending: &Pending| which(key, &pending.effect, &waiting);
        for (_, pending) in self.pending.iter().filter(|(key, pending)| chosen(key, pending)) {
            if let State::Flying(task, _) = &pending.state {
                task.abort();
            }
        }
        for (_, pending) in self.pending.iter_mut().filter(|(key, pending)| chosen(key, pending)) {
            if let State::Flying(task, _) = &mut pending.state {
                let _ = task.await;
            }
        }
        // An answer that was already on its way when its task was ended still counts.
        let mut reports = Vec::new();
        if let Some(live) = &mut self.live {
            while let Ok(report) = live.reports.try_recv() {
                reports.push(report);
            }
        }
        for report in reports {
            self.reported_while_draining(report).await?;
        }
        for (_, pending) in self.pending.iter_mut().filter(|(key, pending)| chosen(key, pending)) {
            if matches!(pending.state, State::Flying(..)) {
                pending.state = State::Parked(stop.clone(), std::time::Instant::now());
            }
        }
        Ok(())
    }

    async fn reported_while_draining(&mut self, report: Report) -> Result<(), DriveError> {
        match report {
            Report::Ended(key, performed) => {
                let executed = self
                    .pending
                    .get(&key)
                    .is_some_and(|pending| matches!(pending.effect, Effect::Execute(_) | Effect::Session(_)));
                match performed {
                    // An execution that ends while it is being killed says nothing about the solution. What is begun
                    // once at most is told as interrupted when the run goes on.
                    Performed::Done { .. } if executed => {}
                    performed => self.ended(key, performed).await?,
                }
            }
            report => self.reported(report).await?,
        }
        Ok(())
    }
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
