//! The end of a sitting: executions are killed, calls in flight may still answer, and what stays open is charged.

use std::time::Duration;

use podium_scaffold::Effect;
use podium_types::key::EffectKey;

use super::turns::{DriveError, Driver, State};
use super::world::{Interrupt, Performed, Report};
use crate::run::journal::Record;
use crate::run::stop::Stop;
use crate::run::tally::Tally;

/// How long calls in flight may still answer after a stop that does not wait for them.
const DRAIN: Duration = Duration::from_secs(20);

impl Driver<'_> {
    pub(super) async fn stop(mut self, stop: Stop) -> Result<(Stop, Tally), DriveError> {
        self.drain(&stop).await?;
        let calls: Vec<EffectKey> = self.order.clone();
        for key in calls {
            self.charge_abandoned(&key).await?;
        }
        self.commit(Record::Stopped(stop.clone())).await?;
        Ok((stop, self.tally))
    }

    /// Kills executions, and lets calls in flight answer for a while: they are paid for.
    async fn drain(&mut self, stop: &Stop) -> Result<(), DriveError> {
        let deadline = tokio::time::Instant::now() + DRAIN;
        for pending in self.pending.values_mut() {
            if let (Effect::Execute(_), State::Flying(task, _)) = (&pending.effect, &pending.state) {
                task.abort();
                pending.state = State::Parked(stop.clone());
            }
        }
        loop {
            let flying = self.pending.values().any(|pending| matches!(pending.state, State::Flying(..)));
            let Some(live) = &mut self.live else { return Ok(()) };
            if !flying || *live.interrupt.borrow() == Interrupt::AtOnce {
                break;
            }
            let report = tokio::select! {
                report = live.reports.recv() => report,
                () = tokio::time::sleep_until(deadline) => None,
                _ = live.interrupt.changed() => continue,
            };
            match report {
                Some(Report::Ended(key, performed)) => self.ended_while_draining(key, performed).await?,
                Some(Report::Event(event)) => self.sink.event(&event),
                None => break,
            }
        }
        for pending in self.pending.values() {
            if let State::Flying(task, _) = &pending.state {
                task.abort();
            }
        }
        Ok(())
    }

    async fn ended_while_draining(&mut self, key: EffectKey, performed: Performed) -> Result<(), DriveError> {
        let executed =
            self.pending.get(&key).is_some_and(|pending| matches!(pending.effect, Effect::Execute(_)));
        match performed {
            // An execution that ends while it is being killed says nothing about the solution.
            Performed::Done { .. } if executed => Ok(()),
            performed => self.ended(key, performed).await,
        }
    }
}
