//! Where questions of an agent lie until they are answered.
//!
//! A question comes in by a connection, is heard by the strategy under a number, and is told which call answers it. The
//! answer leaves when the journal has it: the desk learns answers from committed records only, also from those of earlier
//! sittings. A call that cannot be made is refused to the agent at once, while the run still waits for it: so an agent
//! ends by itself where a limit of the run stops it.
//!
//! The agent counts as at work, for the clock, while none of its questions is open.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use podium_scaffold::context::answer_key;
use podium_scaffold::{Effect, EffectResult};
use podium_types::agent::{Heard, Over, Question, Reply};
use podium_types::canonical;
use podium_types::chat::ChatResult;
use podium_types::execution::{Execution, LimitHit};
use podium_types::key::EffectKey;
use tokio::sync::{Notify, oneshot};

use super::wire::refusal::Refusal;
use crate::run::clock::{Clock, InFlight};
use crate::run::journal::{Entry, Record};
use crate::run::stop::Stop;

/// Calls that could not be made, and wait; while there are so many, further questions are refused unheard.
const MOST_PARKED: usize = 16;

/// The desk of a sitting.
#[derive(Debug)]
pub struct Desk {
    clock: Clock,
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// There is, or was, an agent: answers are kept.
    in_use: bool,
    stage: Stage,
    begun: bool,
    /// Why it was cut, if it was.
    cut: Option<Over>,
    queue: VecDeque<(Question, Asker)>,
    heard: BTreeMap<u32, Asker>,
    /// The questions that wait for the answer of a step.
    links: BTreeMap<u32, Vec<u32>>,
    answers: BTreeMap<u32, Arc<ChatResult>>,
    parked: BTreeMap<u32, Stop>,
    /// The requests that were refused for a call that waits, by their hashes: clients ask the same again.
    refused: BTreeMap<String, u32>,
    refused_since: Option<Instant>,
    at_work: Option<InFlight>,
}

/// Who waits for an answer, and the hash of the request.
#[derive(Debug)]
struct Asker {
    hash: String,
    sender: oneshot::Sender<Told>,
}

/// How far an agent is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Its execution has not begun in this sitting.
    #[default]
    Coming,
    Running,
    Over(Over),
    /// It cannot be begun.
    Failed(Stop),
}

/// What a connection is told.
#[derive(Clone, Debug)]
pub enum Told {
    /// The answer of a step's call.
    Answer(u32, Arc<ChatResult>),
    /// There is none.
    Refused(Refusal),
}

impl Desk {
    /// An empty desk.
    pub fn new(clock: Clock) -> Self {
        Self { clock, state: Mutex::default(), news: Notify::new() }
    }

    fn change<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state: MutexGuard<'_, State> = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let done = act(&mut state);
        let works = state.stage == Stage::Running && state.queue.is_empty() && state.heard.is_empty();
        match (works, state.at_work.is_some()) {
            (true, false) => state.at_work = Some(self.clock.in_flight()),
            (false, true) => state.at_work = None,
            _ => {}
        }
        done
    }

    /// An agent's execution was asked for and will begin.
    pub fn expect(&self) {
        self.change(|state| {
            state.in_use = true;
            state.stage = Stage::Coming;
        });
    }

    /// It begins.
    pub fn begin(&self) {
        self.change(|state| {
            state.stage = Stage::Running;
            (state.begun, state.cut, state.refused_since) = (true, None, None);
            state.queue.clear();
            state.heard.clear();
            state.links.clear();
            state.refused.clear();
        });
        self.news.notify_one();
    }

    /// It cannot begin, or go on.
    pub fn fail(&self, stop: Stop) {
        self.change(|state| state.stage = Stage::Failed(stop));
        self.news.notify_one();
    }

    /// It is about to be cut, for this reason.
    pub fn cut(&self, why: Over) {
        self.change(|state| {
            state.cut.get_or_insert(why);
        });
    }

    /// How long ago a call was refused, where none was answered since.
    pub fn refused_for(&self) -> Option<Duration> {
        self.change(|state| state.refused_since.map(|since| since.elapsed()))
    }

    /// Waits for what is heard next, under `number`.
    ///
    /// # Errors
    /// When the agent cannot run.
    pub async fn hear(&self, number: u32) -> Result<Heard, Stop> {
        loop {
            let heard = self.change(|state| state.hear(number));
            if let Some(heard) = heard {
                return heard;
            }
            self.news.notified().await;
        }
    }

    /// Takes a question in; what is told comes later.
    ///
    /// # Errors
    /// When it is not even heard.
    pub fn ask(&self, question: Question) -> Result<oneshot::Receiver<Told>, Refusal> {
        let (sender, receiver) = oneshot::channel();
        let hash = canonical::hash(&question).unwrap_or_default();
        self.change(|state| {
            if let Some(stop) = state.refused.get(&hash).and_then(|step| state.parked.get(step)) {
                return Err(Refusal::stop(stop));
            }
            if let Some((_, stop)) =
                state.parked.first_key_value().filter(|_| state.parked.len() >= MOST_PARKED)
            {
                return Err(Refusal::stop(stop));
            }
            state.queue.push_back((question, Asker { hash, sender }));
            Ok(())
        })?;
        self.news.notify_one();
        Ok(receiver)
    }

    /// Says what comes of a question.
    pub fn reply(&self, question: u32, reply: &Reply) {
        self.change(|state| match reply {
            Reply::AnswerOf { step } => {
                state.links.entry(*step).or_default().push(question);
                state.send(*step);
            }
            Reply::Refused { why } => {
                state.refused_since.get_or_insert_with(Instant::now);
                state.tell(question, Told::Refused(Refusal::limit(why)));
            }
        });
    }

    /// A call is made, perhaps once more.
    pub fn call_begins(&self, key: &EffectKey) {
        if let Some(step) = step_of(key) {
            self.change(|state| state.parked.remove(&step));
        }
    }

    /// A call cannot be made now.
    pub fn call_parked(&self, key: &EffectKey, stop: &Stop) {
        let Some(step) = step_of(key) else { return };
        self.change(|state| {
            if state.in_use {
                state.parked.insert(step, stop.clone());
                state.refused_since.get_or_insert_with(Instant::now);
                state.send(step);
            }
        });
    }

    /// Takes in a committed record, of this sitting or an earlier one.
    pub fn learn(&self, entry: &Entry) {
        let Record::Result { key, effect, result, .. } = &entry.record else { return };
        match (&**effect, &**result) {
            (_, EffectResult::Heard(_)) => self.change(|state| state.in_use = true),
            (Effect::Execute(request), EffectResult::Execution(execution)) if request.agent.is_some() => {
                self.change(|state| state.end(execution));
                self.news.notify_one();
            }
            (Effect::Chat { .. }, EffectResult::Chat(answer)) => {
                let Some(step) = step_of(key) else { return };
                self.change(|state| {
                    if state.in_use {
                        state.answers.insert(step, Arc::new(answer.clone()));
                        state.parked.remove(&step);
                        state.send(step);
                    }
                });
            }
            _ => {}
        }
    }
}

impl State {
    fn hear(&mut self, number: u32) -> Option<Result<Heard, Stop>> {
        if std::mem::take(&mut self.begun) {
            return Some(Ok(Heard::Began));
        }
        match (&self.stage, self.queue.pop_front()) {
            (Stage::Failed(stop), _) => Some(Err(stop.clone())),
            (Stage::Over(why), _) => Some(Ok(Heard::Over { why: *why })),
            (_, Some((question, asker))) => {
                self.heard.insert(number, asker);
                Some(Ok(Heard::Asked(Box::new(question))))
            }
            (Stage::Coming | Stage::Running, None) => None,
        }
    }

    /// The execution is over. Why is known where this sitting has seen it; else what goes on is assumed.
    fn end(&mut self, execution: &Execution) {
        let seen = self.stage == Stage::Running;
        let was_cut = matches!(execution.limit, Some(LimitHit::WallClock { .. }));
        let why = match self.cut.take() {
            Some(why) if was_cut => why,
            _ if seen && self.refused_since.is_none() => Over::Itself,
            _ if !seen && was_cut => Over::Time,
            _ => Over::Refused,
        };
        self.in_use = true;
        self.stage = Stage::Over(why);
        self.begun = false;
        self.queue.clear();
        self.heard.clear();
    }

    /// Tells those who wait for a step what is known of it.
    fn send(&mut self, step: u32) {
        let told = match (self.answers.get(&step), self.parked.get(&step)) {
            (Some(answer), _) => Told::Answer(step, Arc::clone(answer)),
            (None, Some(stop)) => Told::Refused(Refusal::stop(stop)),
            (None, None) => return,
        };
        for question in self.links.remove(&step).unwrap_or_default() {
            match (&told, self.heard.get(&question)) {
                (Told::Answer(..), _) => self.refused_since = None,
                (Told::Refused(_), Some(asker)) => {
                    self.refused.insert(asker.hash.clone(), step);
                }
                (Told::Refused(_), None) => {}
            }
            self.tell(question, told.clone());
        }
    }

    fn tell(&mut self, question: u32, told: Told) {
        if let Some(Asker { sender, .. }) = self.heard.remove(&question) {
            // The agent may have gone away.
            let _ = sender.send(told);
        }
    }
}

/// The step whose call answers questions, of its key.
pub(super) fn step_of(key: &EffectKey) -> Option<u32> {
    key.number().filter(|step| *key == answer_key(*step))
}
