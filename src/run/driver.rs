//! The driver: polls the strategy, and lets one result at a time out of the journal.
//!
//! ```text
//! loop:  poll the strategy until it is idle
//!        take what it asked for
//!        the journal holds the next record?  check that it answers a pending request, release it       (replay)
//!        else: perform what is pending; commit the next result; release it                             (live)
//! ```
//! A strategy therefore meets the same results in the same order in a replay, whatever the world did in between.
//! An effect that cannot be done now (a limit, a service that failed for good) is parked; when nothing else is in
//! flight the run stops by that name, and a resume begins by asking for the parked effect again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::future::BoxFuture;
use podium_scaffold::strategy::StrategyFuture;
use podium_scaffold::{Effect, EffectResult, Strategy};
use podium_types::canonical;
use podium_types::key::EffectKey;
use podium_types::usage::Usage;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::run::clock::Clock;
use crate::run::context::Handle;
use crate::run::events::{RunEvent, Sink};
use crate::run::journal::{Entry, Intent, Journal, JournalError, Record, Stamp};
use crate::run::limits::Limits;
use crate::run::spending::Spending;
use crate::run::stop::{Stop, StoppedBy};
use crate::run::tally::Tally;

/// How long calls in flight may still answer after a stop that does not wait for them.
const DRAIN: Duration = Duration::from_secs(20);

/// What came of an effect.
#[derive(Debug)]
pub enum Performed {
    /// A result.
    Done {
        /// For the strategy.
        result: Box<EffectResult>,
        /// What it used.
        usage: Usage,
    },
    /// It cannot be done now, for this reason.
    Parked(Stop),
}

/// What the world reports to the driver.
#[derive(Debug)]
pub enum Report {
    /// An effect ended.
    Ended(EffectKey, Performed),
    /// Progress, for the event stream.
    Event(RunEvent),
}

/// The live side: performs effects.
pub trait World: Send + Sync {
    /// Performs an effect of the kinds that take time: chat, execute, validate, preview.
    fn perform(&self, key: EffectKey, effect: Effect) -> BoxFuture<'static, Performed>;

    /// Puts what a committed record says into files (`nodes/`, `best/`). Called in journal order, replays included.
    ///
    /// # Errors
    /// What could not be written; it stops the run.
    fn materialise(&self, entry: &Entry) -> Result<(), String>;
}

/// How urgently a run should stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interrupt {
    /// Not at all.
    #[default]
    None,
    /// Let calls in flight answer.
    Gently,
    /// At once.
    AtOnce,
}

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
    pub interrupt: watch::Receiver<Interrupt>,
    /// What the sitting's first record says.
    pub started: Record,
    /// Limits in force from now on, where they differ from the journal's.
    pub limits: Option<Limits>,
    /// Tries that a crash left open.
    pub open_intents: Vec<Intent>,
}

struct Pending {
    effect: Effect,
    hash: String,
    state: State,
}

enum State {
    Asked,
    Flying(AbortHandle),
    Parked(Stop),
}

/// Drives one strategy over one journal.
pub struct Driver<'a> {
    context: Handle,
    tally: Tally,
    recorded: VecDeque<Entry>,
    pending: BTreeMap<EffectKey, Pending>,
    order: Vec<EffectKey>,
    last_stop: Option<Stop>,
    live: Option<Live>,
    sink: &'a mut dyn Sink,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
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
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&flag));
        let mut sitting = false;
        loop {
            loop {
                flag.0.store(false, Ordering::Relaxed);
                if let Poll::Ready(ended) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    let stop = match ended {
                        Ok(finished) => Stop::new(StoppedBy::Finished, finished.reason),
                        Err(error) => Stop::new(StoppedBy::Internal, error.to_string()),
                    };
                    return self.strategy_ended(stop).await;
                }
                if !flag.0.load(Ordering::Relaxed) {
                    break;
                }
            }
            self.take_requests()?;
            if let Some(entry) = self.recorded.pop_front() {
                self.replay(entry)?;
                continue;
            }
            if self.live.is_none() {
                return self.journal_read();
            }
            if !sitting {
                sitting = true;
                self.begin_sitting().await?;
                continue;
            }
            if self.commit_instant().await? {
                continue;
            }
            if let Some(stop) = self.advance().await? {
                return self.stop(stop).await;
            }
        }
    }

    fn take_requests(&mut self) -> Result<(), DriveError> {
        for (key, effect) in self.context.take_asked() {
            let hash =
                canonical::hash(&effect).map_err(|source| DriveError::Hash { key: key.clone(), source })?;
            self.order.push(key.clone());
            self.pending.insert(key, Pending { effect, hash, state: State::Asked });
        }
        for key in self.context.take_dropped() {
            // A dropped execution is killed; a dropped call is paid for, so its answer is still journaled.
            if let Some(Pending { effect: Effect::Execute(_), state, .. }) = self.pending.get(&key) {
                if let State::Flying(task) = state {
                    task.abort();
                }
                self.forget(&key);
            }
        }
        Ok(())
    }

    fn forget(&mut self, key: &EffectKey) -> Option<Pending> {
        self.order.retain(|other| other != key);
        self.pending.remove(key)
    }

    fn replay(&mut self, entry: Entry) -> Result<(), DriveError> {
        if let Record::Result { key, hash, effect, .. } = &entry.record {
            let diverged = |asked: String| DriveError::Diverged {
                seq: entry.seq,
                recorded: format!("{} `{key}`", name_of(effect)),
                asked,
            };
            match self.pending.get(key) {
                None => {
                    let asked: Vec<&str> = self.order.iter().map(EffectKey::as_str).collect();
                    return Err(diverged(format!("waits for [{}]", asked.join(", "))));
                }
                Some(pending) if pending.hash != *hash => {
                    return Err(diverged("asks for it with another content".to_owned()));
                }
                Some(_) => {}
            }
        }
        if let Record::Stopped(stop) = &entry.record {
            self.last_stop = Some(stop.clone());
        }
        self.release(entry, true);
        Ok(())
    }

    /// Makes an entry count and lets its result out.
    fn release(&mut self, entry: Entry, replayed: bool) {
        self.tally.apply(&entry);
        self.context.set_budget(self.tally.budget());
        if let Record::Result { key, result, .. } = &entry.record {
            let (key, result) = (key.clone(), (**result).clone());
            self.forget(&key);
            self.context.release(&key, result);
        }
        self.sink.event(&RunEvent::Entry { replayed, entry: Box::new(entry) });
    }

    /// The end of a replay without a live half.
    fn journal_read(self) -> Result<(Stop, Tally), DriveError> {
        match self.last_stop {
            Some(stop) if stop.by == StoppedBy::Finished => Err(DriveError::Diverged {
                seq: 0,
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
            match &entry.record {
                Record::Result { key, effect, .. } => {
                    return Err(DriveError::Diverged {
                        seq: entry.seq,
                        recorded: format!("{} `{key}`", name_of(effect)),
                        asked: format!("has ended: {}", stop.detail),
                    });
                }
                Record::Stopped(recorded) => self.last_stop = Some(recorded.clone()),
                _ => {}
            }
            self.release(entry, true);
        }
        match &self.last_stop {
            // The recorded end stands.
            Some(recorded) if recorded.by == stop.by && recorded.by == StoppedBy::Finished => {
                Ok((stop, self.tally))
            }
            _ if self.live.is_none() => Ok((stop, self.tally)),
            _ => self.stop(stop).await,
        }
    }

    async fn commit(&mut self, record: Record) -> Result<(), DriveError> {
        let Some(live) = &self.live else { return Ok(()) };
        let stamp = live.clock.stamp();
        let entry = live.journal.append(stamp, record).await?;
        let materialised = live.world.materialise(&entry);
        self.release(entry, false);
        if let Err(detail) = materialised {
            tracing::error!(detail, "a file of the run folder could not be written");
        }
        Ok(())
    }

    async fn begin_sitting(&mut self) -> Result<(), DriveError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let (started, limits) = (live.started.clone(), live.limits.take());
        let mut charges: BTreeMap<EffectKey, Usage> = BTreeMap::new();
        for intent in std::mem::take(&mut live.open_intents) {
            let sum = charges.entry(intent.key).or_insert(Usage::NOTHING);
            *sum = sum.plus(&intent.worst);
        }
        self.commit(started).await?;
        if let Some(limits) = limits {
            self.commit(Record::Limits(limits)).await?;
        }
        for (key, usage) in charges {
            self.commit(Record::Charge { key, usage }).await?;
        }
        if let Some(live) = &mut self.live {
            live.spending = live.spending.restart(self.tally.limits, self.tally.usage);
        }
        Ok(())
    }

    /// Commits the first pending effect that needs no time. False when there is none.
    async fn commit_instant(&mut self) -> Result<bool, DriveError> {
        let steps_left = self.tally.limits.steps.is_none_or(|limit| self.tally.steps < limit);
        let mut chosen = None;
        for key in &self.order {
            let Some(pending) = self.pending.get_mut(key) else { continue };
            let result = match &pending.effect {
                Effect::BeginStep if steps_left => EffectResult::Granted,
                Effect::BeginStep => {
                    let limit = self.tally.limits.steps.unwrap_or_default();
                    let stop = Stop::new(StoppedBy::Steps, format!("step limit ({limit}) reached"));
                    pending.state = State::Parked(stop);
                    continue;
                }
                Effect::Node(_) | Effect::Note { .. } | Effect::SelectFinal { .. } => EffectResult::Recorded,
                Effect::Chat { .. } | Effect::Execute(_) | Effect::Validate { .. } | Effect::Preview(_) => {
                    continue;
                }
            };
            chosen = Some((key.clone(), result));
            break;
        }
        let Some((key, result)) = chosen else { return Ok(false) };
        self.commit_result(&key, result, Usage::NOTHING).await?;
        Ok(true)
    }

    async fn commit_result(
        &mut self,
        key: &EffectKey,
        result: EffectResult,
        usage: Usage,
    ) -> Result<(), DriveError> {
        let Some(pending) = self.pending.get(key) else { return Ok(()) };
        let record = Record::Result {
            key: key.clone(),
            hash: pending.hash.clone(),
            effect: Box::new(pending.effect.clone()),
            result: Box::new(result),
            usage,
        };
        self.commit(record).await
    }

    /// Starts what can be started and waits for one thing to happen. Some: the run stops.
    async fn advance(&mut self) -> Result<Option<Stop>, DriveError> {
        self.start_asked();
        let flying = self.pending.values().any(|pending| matches!(pending.state, State::Flying(_)));
        if !flying {
            return Ok(Some(self.reason_to_stop()));
        }
        let Some(live) = &mut self.live else { return Ok(None) };
        if *live.interrupt.borrow() != Interrupt::None {
            return Ok(Some(interrupted()));
        }
        if live.journal.disk_was_full() {
            return Ok(Some(Stop::new(
                StoppedBy::Interrupted,
                "the disk is full; everything paid for is kept",
            )));
        }
        let left = match self.tally.limits.run_ms {
            Some(limit) => match limit.saturating_sub(live.clock.stamp().run_ms) {
                0 => return Ok(Some(Stop::time(limit))),
                left => Duration::from_millis(left),
            },
            None => Duration::from_hours(1),
        };
        tokio::select! {
            report = live.reports.recv() => match report {
                Some(Report::Ended(key, performed)) => self.ended(key, performed).await?,
                Some(Report::Event(event)) => self.sink.event(&event),
                None => {}
            },
            () = tokio::time::sleep(left) => {}
            changed = live.interrupt.changed() => {
                if changed.is_err() {
                    // Nobody can interrupt any more: wait for the rest alone.
                    tokio::task::yield_now().await;
                }
            }
        }
        Ok(None)
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
                Effect::Validate { .. } => ("validate", None),
                _ => ("preview", None),
            };
            let future = live.world.perform(key.clone(), pending.effect.clone());
            let (reporter, ending) = (live.reporter.clone(), key.clone());
            let task = tokio::spawn(async move {
                let performed = future.await;
                let _ = reporter.send(Report::Ended(ending, performed));
            });
            pending.state = State::Flying(task.abort_handle());
            self.sink.event(&RunEvent::Begun { key: key.clone(), effect, role });
        }
    }

    async fn ended(&mut self, key: EffectKey, performed: Performed) -> Result<(), DriveError> {
        match performed {
            Performed::Done { result, usage } => {
                self.commit_result(&key, *result, usage).await?;
                // Room may have come free: what a cap had parked is asked again.
                for pending in self.pending.values_mut() {
                    if let State::Parked(Stop { by: StoppedBy::Dollars | StoppedBy::Tokens, .. }) =
                        pending.state
                    {
                        pending.state = State::Asked;
                    }
                }
            }
            Performed::Parked(stop) => {
                if let Some(pending) = self.pending.get_mut(&key) {
                    pending.state = State::Parked(stop);
                }
                self.charge_abandoned(&key).await?;
            }
        }
        Ok(())
    }

    async fn charge_abandoned(&mut self, key: &EffectKey) -> Result<(), DriveError> {
        let charge = self.live.as_ref().and_then(|live| live.spending.abandon(key));
        if let Some(usage) = charge {
            self.commit(Record::Charge { key: key.clone(), usage }).await?;
        }
        Ok(())
    }

    /// Nothing is in flight: the most telling reason among what is parked.
    fn reason_to_stop(&self) -> Stop {
        let parked = self.pending.values().filter_map(|pending| match &pending.state {
            State::Parked(stop) => Some(stop),
            _ => None,
        });
        parked
            .max_by_key(|stop| stop.by)
            .cloned()
            .unwrap_or_else(|| Stop::new(StoppedBy::Internal, "the strategy waits for nothing"))
    }

    async fn stop(mut self, stop: Stop) -> Result<(Stop, Tally), DriveError> {
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
            if let (Effect::Execute(_), State::Flying(task)) = (&pending.effect, &pending.state) {
                task.abort();
                pending.state = State::Parked(stop.clone());
            }
        }
        loop {
            let flying = self.pending.values().any(|pending| matches!(pending.state, State::Flying(_)));
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
            if let State::Flying(task) = &pending.state {
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

fn interrupted() -> Stop {
    Stop::new(StoppedBy::Interrupted, "interrupted; nothing in the journal is lost")
}

fn name_of(effect: &Effect) -> &'static str {
    match effect {
        Effect::BeginStep => "step",
        Effect::Chat { .. } => "chat",
        Effect::Execute(_) => "execution",
        Effect::Validate { .. } => "submission check",
        Effect::Preview(_) => "preview",
        Effect::Node(_) => "node",
        Effect::Note { .. } => "note",
        Effect::SelectFinal { .. } => "final selection",
    }
}

/// Where a run stands after its journal: its clocks.
pub fn last_stamp(entries: &[Entry]) -> Stamp {
    entries.last().map(|entry| entry.stamp).unwrap_or_default()
}
