//! What a session's caller and its task share.
//!
//! The task writes down what happens; the caller takes it away in one step, without waiting in between, so that a look
//! that is dropped loses nothing.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use podium_types::{
    execution::{Ended, LimitHit},
    session::{BackgroundProcess, Observation, SessionKind, SessionState},
};
use tokio::sync::Notify;

use crate::{SandboxError, finish::millis, reader::Kept};

/// Shared by the two sides of a session.
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Notify,
    kept: Kept,
    kind: SessionKind,
    generation: u32,
}

/// The end of a call.
pub(super) struct Done {
    pub(super) state: SessionState,
    pub(super) limit: Option<LimitHit>,
    pub(super) background: Vec<BackgroundProcess>,
}

#[derive(Default)]
struct State {
    /// The last call that was sent; the greeting is number 0.
    call: u64,
    begun: Option<Instant>,
    /// The last call goes on.
    running: bool,
    wall: Duration,
    /// The end of the last call, until it is observed.
    done: Option<Done>,
    background: Vec<BackgroundProcess>,
    interrupted: bool,
    over: Option<(Ended, Option<LimitHit>)>,
}

impl Shared {
    pub(super) fn new(kind: SessionKind, generation: u32, kept: Kept) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), kept, kind, generation }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the output is kept.
    pub(super) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Notes that a call is sent; refused while one is running, and when all is over.
    pub(super) fn begin(&self, greeting: bool) -> Result<(), SandboxError> {
        let mut state = self.state();
        if state.over.is_some() {
            return Err(SandboxError::SessionOver { kind: self.kind });
        }
        if state.running {
            return Err(SandboxError::SessionBusy { kind: self.kind });
        }
        state.call += u64::from(!greeting);
        state.begun = Some(Instant::now());
        state.running = true;
        state.done = None;
        state.interrupted = false;
        Ok(())
    }

    /// A call is running.
    pub(super) fn is_running(&self) -> bool {
        let state = self.state();
        state.running && state.over.is_none()
    }

    /// Everything has ended.
    pub(super) fn is_over(&self) -> bool {
        self.state().over.is_some()
    }

    /// Notes that the running call is being cut.
    pub(super) fn interrupted(&self) {
        let mut state = self.state();
        state.interrupted |= state.running;
    }

    /// Notes the end of the running call.
    pub(super) fn finish(&self, done: Done) {
        let mut state = self.state();
        if state.running {
            state.running = false;
            state.wall = state.begun.map(|begun| begun.elapsed()).unwrap_or_default();
            state.background.clone_from(&done.background);
            state.done = Some(done);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Notes the end of everything. Only the first word counts.
    pub(super) fn end(&self, ended: Ended, limit: Option<LimitHit>) {
        let mut state = self.state();
        if state.over.is_none() {
            if state.running {
                state.interrupted = true;
                state.wall = state.begun.map(|begun| begun.elapsed()).unwrap_or_default();
            }
            state.over = Some((ended, limit));
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits for the end of the running call, at most `soft`, and takes what there is to see.
    pub(super) async fn observe(&self, soft: Duration) -> Observation {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                // From here on no change is missed.
                changed.as_mut().enable();
                if !self.is_running() {
                    return;
                }
                changed.await;
            }
        };
        // A soft time-out is no error: the call goes on.
        let _ = tokio::time::timeout(soft, wait).await;
        self.take()
    }

    /// What there is to see, which the next observation does not show again.
    fn take(&self) -> Observation {
        let mut state = self.state();
        let (call, interrupted) = (state.call, state.interrupted);
        let (now, limit, background, wall) = if let Some(done) = state.done.take() {
            (done.state, done.limit, done.background, state.wall)
        } else if let Some((ended, limit)) = state.over.clone() {
            state.running = false;
            (SessionState::Ended { ended }, limit, Vec::new(), state.wall)
        } else if state.running {
            let wall = state.begun.map(|begun| begun.elapsed()).unwrap_or_default();
            (SessionState::Running, None, Vec::new(), wall)
        } else {
            (SessionState::Idle, None, state.background.clone(), Duration::ZERO)
        };
        // After the state, so that all that was printed before the end is there.
        let output = self.kept.take();
        Observation {
            call,
            generation: self.generation,
            state: now,
            output,
            wall_ms: millis(wall),
            limit,
            background,
            interrupted,
        }
    }
}
