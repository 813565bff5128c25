//! One turn after another: poll the strategy, take what it asked for, release what comes next.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use podium_scaffold::strategy::StrategyFuture;
use podium_scaffold::{Effect, Quiet, Strategy, StrategyError};
use podium_types::canonical;
use podium_types::key::EffectKey;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::world::{Interrupt, Interrupts, Report, World, interrupted};
use crate::run::clock::Clock;
use crate::run::context::Handle;
use crate::run::difference;
use crate::run::events::{RunEvent, Sink};
use crate::run::journal::{
    CallTrace, Entry, HomeChange, Intent, Journal, JournalError, Record, Stamp, name_of,
};
use crate::run::limits::Limits;
use crate::run::spending::Spending;
use crate::run::stop::{Stop, StoppedBy};
use crate::run::tally::Tally;

/// Why a journal and a strategy do not fit.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The strategy asked for something else than the journal holds.
    #[error("replay differs at entry {seq}: the journal has {recorded}, the strategy {asked}")]
    Diverged {
        /// The entry.
        seq: u64,
        /// What the journal holds.
        recorded: String,
        /// What the strategy does instead.
        asked: String,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An effect that does not become JSON.
    #[error("effect `{key}` could not be hashed")]
    Hash {
        /// Its key.
        key: EffectKey,
        /// The serialiser's words.
        #[source]
        source: serde_json::Error,
    },
}

/// The live half of a driver.
pub struct Live {
    /// Where effects are committed.
    pub journal: Journal,
    /// Where effects are performed.
    pub world: Arc<dyn World>,
    /// Where the world reports.
    pub reports: mpsc::UnboundedReceiver<Report>,
    /// The other end, for the tasks.
    pub reporter: mpsc::UnboundedSender<Report>,
    /// The clocks.
    pub clock: Clock,
    /// Caps on tokens and dollars.
    pub spending: Spending,
    /// Ctrl-C and friends.
    pub interrupt: Interrupts,
    /// What the sitting's first record says.
    pub started: Record,
    /// Limits in force from now on, where they differ from the journal's.
    pub limits: Option<Limits>,
    /// Tries and acts that a crash or a stop left open.
    pub open_intents: Vec<Intent>,
}

pub(super) struct Pending {
    pub(super) effect: Effect,
    pub(super) hash: String,
    pub(super) state: State,
    /// Nobody waits for it any more: it is not started, and what is in flight is only accounted for.
    pub(super) dropped: bool,
}

pub(super) enum State {
    Asked,
    Flying(JoinHandle<()>, Instant),
    Parked(Stop, Instant),
}

/// Drives one strategy over one journal.
pub struct Driver<'a> {
    pub(super) context: Handle,
    pub(super) tally: Tally,
    pub(super) recorded: VecDeque<Entry>,
    pub(super) pending: BTreeMap<EffectKey, Pending>,
    pub(super) order: Vec<EffectKey>,
    /// How the last recorded sitting ended; none while it is going on.
    pub(super) last_stop: Option<Stop>,
    pub(super) last_seq: u64,
    /// The selection replayed last; put into files when the replay is over.
    pub(super) selected: Option<Entry>,
    pub(super) sitting: bool,
    /// Calls that wait for their service between tries: nothing of them is under way.
    pub(super) waiting: BTreeSet<EffectKey>,
    /// How calls went that are not in the journal yet.
    pub(super) traces: BTreeMap<EffectKey, Box<CallTrace>>,
    /// What changed in the home workspace and is not in the journal yet: the next result takes it along.
    pub(super) changes: Option<Box<HomeChange>>,
    /// Acts that were begun in an earlier sitting and have no result, with their hashes.
    pub(super) cut: BTreeMap<EffectKey, String>,
    /// The strategy waits for what the journal does not answer, and has said nothing for too long.
    lost: bool,
    /// The first file of the run folder that could not be written: the run stops, and the next sitting writes it.
    pub(super) unwritten: Option<String>,
    pub(super) live: Option<Live>,
    pub(super) sink: &'a mut dyn Sink,
}

/// How long a silent strategy may wait in a replay for what a journal that was cut does not answer: another part of it may
/// be thinking.
const ASTRAY: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(25) };

/// Whether what a strategy waits for is in the rest of the journal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Astray {
    No,
    Perhaps,
    Surely,
}

/// Whether the strategy has something to do. Most strategies are woken by what the driver releases; one whose program
/// runs elsewhere also while the driver waits.
#[derive(Default)]
struct Flag {
    set: AtomicBool,
    told: Notify,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.set.store(true, Ordering::Release);
        self.told.notify_one();
    }
}

impl<'a> Driver<'a> {
    /// A driver that first replays `recorded`, then goes on live; without `live` it ends there.
    pub fn new(
        context: Handle,
        limits: Limits,
        recorded: Vec<Entry>,
        live: Option<Live>,
        sink: &'a mut dyn Sink,
    ) -> Self {
        Self {
            context,
            tally: Tally::new(limits),
            recorded: recorded.into(),
            pending: BTreeMap::new(),
            order: Vec::new(),
            last_stop: None,
            last_seq: 0,
            selected: None,
            sitting: false,
            waiting: BTreeSet::new(),
            traces: BTreeMap::new(),
            changes: None,
            cut: BTreeMap::new(),
            lost: false,
            unwritten: None,
            live,
            sink,
        }
    }

    /// Runs until the strategy ends, a limit fires, or (without a live half) the journal is read.
    ///
    /// # Errors
    /// When the journal and the strategy do not fit, or the journal cannot be written.
    pub async fn drive(mut self, strategy: &dyn Strategy) -> Result<(Stop, Tally), DriveError> {
        let context = self.context.clone();
        let mut future: StrategyFuture<'_> = strategy.run(&context);
        let flag = Arc::new(Flag::default());
        let waker = Waker::from(Arc::clone(&flag));
        loop {
            loop {
                flag.set.store(false, Ordering::Release);
                if let Poll::Ready(ended) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    let stop = match ended {
                        Ok(finished) => Stop::new(StoppedBy::Finished, finished.reason),
                        Err(error @ StrategyError::Program(_)) => {
                            Stop::new(StoppedBy::Strategy, error.to_string())
                        }
                        Err(error) => Stop::new(StoppedBy::Internal, error.to_string()),
                    };
                    return self.strategy_ended(stop).await;
                }
                if !flag.set.load(Ordering::Acquire) {
                    break;
                }
            }
            self.take_requests()?;
            if self.thinks_first(strategy.quiet()) {
                if let Some(stop) = self.listen(&flag.told, strategy.quiet()).await {
                    self.begin_sitting().await?;
                    return self.stop(stop).await;
                }
                continue;
            }
            if let Some(entry) = self.recorded.pop_front() {
                self.replay(entry)?;
                continue;
            }
            if self.live.is_none() {
                return self.journal_read();
            }
            if !self.sitting {
                self.begin_sitting().await?;
                continue;
            }
            if self.commit_instant().await? {
                continue;
            }
            if let Some(stop) = self.advance(strategy.quiet(), &flag.told).await? {
                return self.stop(stop).await;
            }
        }
    }

    fn take_requests(&mut self) -> Result<(), DriveError> {
        for (key, effect) in self.context.take_asked() {
            let hash =
                canonical::hash(&effect).map_err(|source| DriveError::Hash { key: key.clone(), source })?;
            self.order.push(key.clone());
            self.pending.insert(key, Pending { effect, hash, state: State::Asked, dropped: false });
        }
        for key in self.context.take_dropped() {
            let Some(pending) = self.pending.get_mut(&key) else { continue };
            pending.dropped = true;
            // A dropped execution is killed, in a replay as it was live; of a session only the look at it ends. A
            // dropped call may have been paid for: its answer is journaled all the same, so it stays until that is
            // known.
            if let Effect::Execute(_) | Effect::Session(_) = pending.effect {
                if let State::Flying(task, _) = &pending.state {
                    task.abort();
                }
                if let (Some(live), true) = (&self.live, pending.effect.is_at_most_once()) {
                    live.journal.close_intent(key.clone(), 1);
                }
                self.forget(&key);
            }
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, key: &EffectKey) -> Option<Pending> {
        self.order.retain(|other| other != key);
        self.pending.remove(key)
    }

    /// Whether the replay has to wait for a strategy that is thinking: a recorded answer is withheld until it was asked
    /// for, and a recorded end until the strategy has come to it.
    fn thinks_first(&self, quiet: Quiet) -> bool {
        let next = match self.recorded.front() {
            Some(Entry { record: Record::Result { key, .. }, .. }) => !self.pending.contains_key(key),
            Some(_) => false,
            None => {
                let finished = |stop: &Stop| stop.by == StoppedBy::Finished;
                self.live.is_none() && self.last_stop.as_ref().is_some_and(finished)
            }
        };
        next && match quiet {
            Quiet::Busy => true,
            Quiet::Silent => !self.lost && self.astray() != Astray::Surely,
            Quiet::Waiting => false,
        }
    }

    /// Whether a strategy that says nothing more waits for what the journal will never answer.
    fn astray(&self) -> Astray {
        let answered = |key| self.recorded.iter().any(|entry| entry.record.key() == Some(key));
        if self.order.iter().all(answered) {
            return Astray::No;
        }
        let end = self.recorded.iter().rev().find_map(|entry| match &entry.record {
            Record::Stopped(stop) => Some(stop.by == StoppedBy::Finished),
            Record::Started { .. } => Some(false),
            _ => None,
        });
        // One that came to its end was answered whatever it had asked; one that was cut may have been waiting for more.
        if end == Some(true) { Astray::Surely } else { Astray::Perhaps }
    }

    /// Waits until the strategy is woken, or has been astray for too long. Some: the run is to stop before.
    async fn listen(&mut self, told: &Notify, quiet: Quiet) -> Option<Stop> {
        let is_astray = quiet == Quiet::Silent && self.astray() != Astray::No;
        let patience = if is_astray { ASTRAY } else { Duration::MAX };
        let woken = tokio::time::timeout(patience, told.notified());
        let Some(live) = &mut self.live else {
            self.lost = woken.await.is_err();
            return None;
        };
        if live.interrupt.urgency() != Interrupt::None {
            return Some(interrupted());
        }
        tokio::select! {
            woken = woken => self.lost = woken.is_err(),
            () = live.interrupt.changed() => {}
        }
        None
    }

    fn replay(&mut self, entry: Entry) -> Result<(), DriveError> {
        self.check(&entry)?;
        self.release(entry, true);
        Ok(())
    }

    /// A recorded result must answer a pending effect of the same content.
    fn check(&self, entry: &Entry) -> Result<(), DriveError> {
        let Record::Result { key, hash, effect, .. } = &entry.record else { return Ok(()) };
        let diverged = |asked: String| DriveError::Diverged {
            seq: entry.seq,
            recorded: format!("{} `{key}`", name_of(effect)),
            asked,
        };
        match self.pending.get(key) {
            None => {
                let asked: Vec<&str> = self.order.iter().map(EffectKey::as_str).collect();
                Err(diverged(format!("waits for [{}]", asked.join(", "))))
            }
            // The hash is that of the effect as it was asked for; the effect beside it is what others read.
            Some(pending) if pending.hash != *hash || pending.effect != **effect => {
                let what = difference::told(effect, &pending.effect);
                Err(diverged(format!("asks for it with another content: {what}")))
            }
            Some(_) => Ok(()),
        }
    }

    /// Makes an entry count, puts it into files, and lets its result out.
    pub(super) fn release(&mut self, entry: Entry, replayed: bool) {
        // Of recorded selections only the last counts: the best submission so far stays in place all the while.
        if replayed && selects(&entry) {
            self.selected = Some(entry.clone());
        } else {
            self.materialise(&entry);
        }
        match &entry.record {
            Record::Stopped(stop) => self.last_stop = Some(stop.clone()),
            Record::Started { .. } => self.last_stop = None,
            _ => {}
        }
        self.last_seq = entry.seq;
        self.tally.apply(&entry);
        self.context.set_budget(self.tally.budget());
        if let Record::Result { key, result, .. } = &entry.record {
            let (key, result) = (key.clone(), (**result).clone());
            self.forget(&key);
            self.context.release(&key, result);
        }
        self.sink.event(&RunEvent::Entry { replayed, entry: Box::new(entry) });
    }

    pub(super) fn materialise(&mut self, entry: &Entry) {
        if let Some(live) = &self.live
            && let Err(detail) = live.world.materialise(entry)
        {
            tracing::error!(detail, "a file of the run folder could not be written");
            self.unwritten.get_or_insert(detail);
        }
    }

    /// The end of a replay without a live half.
    fn journal_read(self) -> Result<(Stop, Tally), DriveError> {
        match self.last_stop {
            Some(stop) if stop.by == StoppedBy::Finished => Err(DriveError::Diverged {
                seq: self.last_seq,
                recorded: "the strategy's own end".to_owned(),
                asked: "goes on".to_owned(),
            }),
            Some(stop) => Ok((stop, self.tally)),
            None => Ok((
                Stop::new(StoppedBy::Interrupted, "the journal has no end: the run was killed"),
                self.tally,
            )),
        }
    }

    async fn strategy_ended(mut self, stop: Stop) -> Result<(Stop, Tally), DriveError> {
        while let Some(entry) = self.recorded.pop_front() {
            // Calls that were in flight when the strategy ended were still answered: paid for, though for nobody.
            if self.check(&entry).is_err()
                && let Record::Result { key, effect, .. } = &entry.record
            {
                return Err(DriveError::Diverged {
                    seq: entry.seq,
                    recorded: format!("{} `{key}`", name_of(effect)),
                    asked: format!("has ended: {}", stop.detail),
                });
            }
            self.release(entry, true);
        }
        let recorded_end = self.last_stop.as_ref().is_some_and(|recorded| recorded.by == StoppedBy::Finished);
        if self.live.is_none() || (recorded_end && stop.by == StoppedBy::Finished) {
            return Ok((stop, self.tally));
        }
        if !self.sitting {
            self.begin_sitting().await?;
        }
        self.stop(stop).await
    }
}

fn selects(entry: &Entry) -> bool {
    matches!(&entry.record, Record::Result { effect, .. } if matches!(**effect, Effect::SelectFinal { .. }))
}

/// Where a run stands after its journal: its clocks.
pub fn last_stamp(entries: &[Entry]) -> Stamp {
    entries.last().map(|entry| entry.stamp).unwrap_or_default()
}
