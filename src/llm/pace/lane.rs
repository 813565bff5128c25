//! A lane: the lock, the timers and the wake-ups around its state.
//!
//! Only the first waiting call of each model has a timer. Whoever changes the state grants places to those who may go
//! now, and wakes the new first ones, which then set their own timers: nothing is polled, and a pause that ends does
//! not start a stampede.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::limits::{Limits, ToldLimits};
use super::place::{Need, Place};
use super::queue::{Outlook, State};
use crate::observer::WaitReason;

/// A wait that is known to be shorter is not worth telling.
const NOTICE: Duration = Duration::from_millis(250);

/// How long a chat may wait for pauses of the service. Waiting for its turn has no bound: it always moves on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// For one pause.
    pub(crate) cap: Duration,
    /// For all that are still to come.
    pub(crate) left: Duration,
}

/// A pause that is longer than the chat may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong(pub(crate) Duration);

/// A lane. It takes its limits from whoever passes, so a changed entry changes it.
#[derive(Debug, Default)]
pub(crate) struct Lane(Mutex<State>);

/// A waiting call; leaves the queue when it is dropped.
struct Waiting<'a> {
    lane: &'a Arc<Lane>,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.lane.change(|state, _| state.leave(self.number));
    }
}

impl Lane {
    fn with<T>(&self, act: impl FnOnce(&mut State, Instant) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), Instant::now())
    }

    /// Changes the state and lets go whoever may go then.
    pub(super) fn change(self: &Arc<Self>, act: impl FnOnce(&mut State, Instant)) {
        let unwanted = self.with(|state, now| {
            act(state, now);
            let mut unwanted = Vec::new();
            while let Some((ticket, charge)) = state.next(now) {
                let place = Place::new(Arc::clone(self), ticket.need, charge);
                unwanted.extend(ticket.grant.send(place).err());
            }
            state.wake_first();
            unwanted
        });
        // Places of calls that went away in this instant; they go back through the lock.
        drop(unwanted);
    }

    /// Waits for a place. `on_wait` is told once, when the wait is or becomes worth telling: why, and how long where
    /// that is known. Returns the place and how long pauses of the service took.
    pub(super) async fn pass(
        self: &Arc<Self>,
        need: &Need,
        declared: Limits,
        allowance: Allowance,
        mut on_wait: impl FnMut(WaitReason, Option<Duration>) + Send,
    ) -> Result<(Place, Duration), TooLong> {
        let charge = self.with(|state, now| {
            state.set_declared(declared);
            state.passes(now, need)
        });
        if let Some(charge) = charge {
            return Ok((Place::new(Arc::clone(self), need.clone(), charge), Duration::ZERO));
        }
        let (wake, (grant, mut granted)) = (Arc::new(Notify::new()), oneshot::channel());
        let number = self.with(|state, _| state.queue(need.clone(), Arc::clone(&wake), grant));
        let _waiting = Waiting { lane: self, number };
        self.change(|_, _| ());
        let begun = Instant::now();
        let (mut told, mut paused, mut looked) = (false, Duration::ZERO, begun);
        // Of the pause seen at the last look. A longer one wakes all, so what passed of it since is known.
        let mut left_then = Duration::ZERO;
        loop {
            let (now, outlook, pause) =
                self.with(|state, now| (now, state.outlook(now, number), state.pause_left(now)));
            paused += left_then.min(now - looked);
            (looked, left_then) = (now, pause.unwrap_or_default());
            if let Some(pause) = pause
                && outlook.is_some()
                && (pause > allowance.cap || paused.saturating_add(pause) > allowance.left)
            {
                return Err(TooLong(pause));
            }
            if let Some(Outlook { obstacle, .. }) = outlook.filter(|_| !told) {
                let left = obstacle.until.map(|until| until.saturating_duration_since(now));
                if left.is_some_and(|left| left >= NOTICE) || now - begun >= NOTICE {
                    told = true;
                    on_wait(obstacle.why, left);
                }
            }
            let look_at = outlook.and_then(|outlook| outlook.look_at);
            let notice = (!told).then_some(begun + NOTICE);
            tokio::select! {
                biased;
                place = &mut granted => return match place {
                    Ok(place) => Ok((place, paused + left_then.min(looked.elapsed()))),
                    // The queue ends with the lane only, which is ours as long as we wait.
                    Err(_) => Err(TooLong(Duration::ZERO)),
                },
                () = wake.notified() => {}
                () = until(look_at) => self.change(|_, _| ()),
                () = until(notice) => {}
            }
        }
    }

    /// Takes in what the service told of its limits with an answer to `model`.
    pub(super) fn tell(self: &Arc<Self>, model: &Arc<str>, told: &ToldLimits) {
        if *told != ToldLimits::default() {
            self.change(|state, now| state.tell(now, model, told));
        }
    }

    /// Lets nobody go for `pause`.
    pub(super) fn hold(self: &Arc<Self>, pause: Duration) {
        self.change(|state, now| {
            state.hold(now.checked_add(pause).unwrap_or(now));
            state.wake_all();
        });
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
