//! One conversation with a program: what is outstanding, under which keys, and what it was told last.
//!
//! Invariants: each effect has one key and one answer; answers go out in the order in which results are released, which is
//! the journal's; whatever is told besides (`budget`, `rng`, faults) is a function of the run's configuration, the line
//! that asks and the answers before it. What would hang on when a line arrives is refused.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use podium_scaffold::{Budget, ContextError, Effect, EffectResult, Quiet, RunContext};
use podium_types::key::EffectKey;
use serde_json::{Value, json};

use super::answers;
use super::calls::{Call, METHODS, Terms};
use super::keys::{self, Keys};
use super::message::{
    BAD_KEY, CANCELLED, Fault, INVALID_PARAMS, INVALID_REQUEST, Id, NO_VERSION, NOT_ALONE, Request, TOO_MANY,
    VERSION, answer,
};

/// Requests outstanding at one time.
pub(super) const MOST_OUTSTANDING: usize = 256;
/// Answers that wait to be written before more is heard.
const MOST_UNSENT: usize = 64;
/// A program with requests outstanding that has said nothing for so long will hardly say more before it is answered.
const SETTLED: Duration = Duration::from_secs(5);
/// Random numbers that JSON readers of all languages keep exact.
const EXACT_BITS: u32 = 53;

/// A fault that ends the run, and the request that it answers.
pub(super) type Fatal = (Option<Id>, Fault);

/// Whether the program goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    GoesOn,
    Finished(String),
}

/// An effect that has ended.
pub(super) struct Landed {
    key: EffectKey,
    /// None: it was cancelled.
    result: Option<Result<EffectResult, ContextError>>,
}

type Flying<'a> = Pin<Box<dyn Future<Output = Landed> + 'a>>;

/// A request that has no answer yet.
struct Outstanding {
    id: Id,
    /// It carries no key, so it must be alone.
    alone: bool,
    abort: AbortHandle,
    /// What it cancels.
    cancels: Option<String>,
}

/// The conversation.
pub(super) struct Talk<'a> {
    context: &'a dyn RunContext,
    /// What `initialize` tells.
    greeting: Value,
    greeted: bool,
    terms: Terms,
    keys: Keys,
    used: BTreeSet<EffectKey>,
    outstanding: BTreeMap<EffectKey, Outstanding>,
    /// Effects under way.
    pub(super) flying: FuturesUnordered<Flying<'a>>,
    unsent: VecDeque<Vec<u8>>,
    /// As of the answer given last.
    budget: Budget,
    lines: u64,
    /// Requests for a model that were refused before a call was made, and why the first of them.
    refused: (u64, String),
    /// The method or key of the request that was answered last.
    answered: Option<String>,
}

impl<'a> Talk<'a> {
    pub(super) fn new(context: &'a dyn RunContext, greeting: Value, terms: Terms, budget: Budget) -> Self {
        Self {
            context,
            greeting,
            greeted: false,
            terms,
            keys: Keys::default(),
            used: BTreeSet::new(),
            outstanding: BTreeMap::new(),
            flying: FuturesUnordered::new(),
            unsent: VecDeque::new(),
            budget,
            lines: 0,
            refused: (0, String::new()),
            answered: None,
        }
    }

    /// Lines heard so far.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Requests without an answer.
    pub(super) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// How many requests for a model were refused, and why, where any was.
    pub(super) fn refused(&self) -> Option<String> {
        match &self.refused {
            (0, _) => None,
            (1, why) => Some(format!("1 request refused: {why}")),
            (count, why) => Some(format!("{count} requests refused, the first: {why}")),
        }
    }

    /// What was outstanding last, in words.
    pub(super) fn answered_last(&self) -> String {
        match &self.answered {
            Some(last) => format!("the last that was outstanding: {last}"),
            None => "it has asked for nothing".to_owned(),
        }
    }

    /// Whether more may be heard now.
    pub(super) fn listens(&self) -> bool {
        self.unsent.len() < MOST_UNSENT
    }

    /// Whether an answer waits to be written.
    pub(super) fn has_answers(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// The next answer to write.
    pub(super) fn take_answer(&mut self) -> Vec<u8> {
        self.unsent.pop_front().unwrap_or_default()
    }

    /// How sure it is that the program says nothing more before it is answered, when nothing was heard or told for so
    /// long; and how much longer that stays so.
    pub(super) fn quiet(&self, silent: Duration, silence: Duration) -> (Quiet, Option<Duration>) {
        let left = |until: Duration| Some(until.saturating_sub(silent));
        if self.has_answers() || self.outstanding.is_empty() {
            return (Quiet::Busy, left(silence));
        }
        if self.outstanding.values().any(|outstanding| outstanding.alone) || silent >= silence {
            return (Quiet::Waiting, None);
        }
        if silent >= SETTLED {
            (Quiet::Silent, left(silence))
        } else {
            (Quiet::Busy, left(SETTLED.min(silence)))
        }
    }

    /// Takes in a line of the program.
    ///
    /// # Errors
    /// A fault after which there is no going on.
    pub(super) fn hear(&mut self, line: &[u8]) -> Result<Next, Fatal> {
        self.lines += 1;
        let Request { id, method, mut params } = Request::read(line)?;
        let fatal = |fault| Err((Some(id.clone()), fault));
        if self.outstanding.values().any(|outstanding| outstanding.id == id) {
            return fatal(Fault::new(INVALID_REQUEST, "the id is that of a request that is outstanding"));
        }
        if !self.greeted && method != "initialize" {
            return fatal(Fault::new(NO_VERSION, "the first request must be `initialize`"));
        }
        let key = match params.remove("key") {
            None | Some(Value::Null) => None,
            Some(Value::String(key)) => Some(key),
            Some(_) => {
                self.tell(&id, Err(Fault::new(INVALID_PARAMS, "`key` is no text")));
                return Ok(Next::GoesOn);
            }
        };
        let call = match self.terms.call(&method, params) {
            Ok(call) => call,
            Err(fault) => {
                if method == "chat" {
                    self.refused.0 += 1;
                    if self.refused.0 == 1 {
                        self.refused.1.clone_from(&fault.message);
                    }
                }
                self.tell(&id, Err(fault));
                return Ok(Next::GoesOn);
            }
        };
        // What is told at once was outstanding as well.
        self.answered = METHODS.iter().find(|(name, _)| *name == method).map(|(name, _)| format!("`{name}`"));
        match call {
            Call::Initialize(versions) => {
                if self.greeted || !versions.contains(&VERSION) {
                    let message = format!("this is version {VERSION} of the protocol, greeted once");
                    return fatal(Fault::with(NO_VERSION, message, json!({ "protocol": [VERSION] })));
                }
                self.greeted = true;
                let greeting = std::mem::take(&mut self.greeting);
                self.tell(&id, Ok(greeting));
            }
            Call::Budget if !self.outstanding.is_empty() => {
                let message = "`budget` must be alone: beside other requests it would hang on the time";
                return fatal(Fault::new(NOT_ALONE, message));
            }
            Call::Budget => {
                let budget = answers::plain(&self.budget);
                self.tell(&id, Ok(json!({ "value": budget, "budget": budget })));
            }
            Call::Rng(purpose, count) => {
                let mut rng = self.context.rng(&EffectKey::run(&format!("rng-{purpose}")));
                let seed = rng.next_u64() >> (u64::BITS - EXACT_BITS);
                let numbers: Vec<f64> = (0..count).map(|_| rng.uniform()).collect();
                let budget = answers::plain(&self.budget);
                self.tell(
                    &id,
                    Ok(json!({ "value": { "seed": seed, "numbers": numbers }, "budget": budget })),
                );
            }
            Call::Finish(reason) => return Ok(Next::Finished(reason)),
            Call::Effect(effect) => self.begin(id, &method, key, effect, None)?,
            Call::Cancel(target) => {
                let effect = Effect::Note { text: format!("the strategy cancels `{target}`") };
                self.begin(id, &method, key, effect, Some(target))?;
            }
        }
        Ok(Next::GoesOn)
    }

    /// Begins an effect.
    fn begin(
        &mut self,
        id: Id,
        method: &str,
        key: Option<String>,
        effect: Effect,
        cancels: Option<String>,
    ) -> Result<(), Fatal> {
        let fatal = |code, message: String| Err((Some(id.clone()), Fault::new(code, message)));
        if self.outstanding.len() >= MOST_OUTSTANDING {
            return fatal(TOO_MANY, format!("{MOST_OUTSTANDING} requests are outstanding"));
        }
        let (key, alone) = match (&effect, key) {
            // A node's record has the node's own place.
            (Effect::Node(node), _) => (EffectKey::node(node.id, "record", 0), false),
            (_, Some(key)) => (keys::read(&key).map_err(|fault| (Some(id.clone()), fault))?, false),
            (_, None) => {
                let name = METHODS.iter().find(|(name, _)| *name == method).map_or("call", |(name, _)| *name);
                (self.keys.next(name), true)
            }
        };
        if (alone && !self.outstanding.is_empty()) || self.outstanding.values().any(|before| before.alone) {
            let message = "a request without a `key` must be alone: its number would hang on the time";
            return fatal(NOT_ALONE, message.to_owned());
        }
        if !self.used.insert(key.clone()) {
            return fatal(BAD_KEY, format!("key `{key}` was used before"));
        }
        let (abort, registration) = AbortHandle::new_pair();
        let performed = Abortable::new(self.context.perform(key.clone(), effect), registration);
        self.outstanding.insert(key.clone(), Outstanding { id, alone, abort, cancels });
        self.flying.push(Box::pin(async move { Landed { key, result: performed.await.ok() } }));
        Ok(())
    }

    /// Takes in the end of an effect, and answers.
    ///
    /// # Errors
    /// A misuse of the run context that was not seen before.
    pub(super) fn land(&mut self, landed: Landed) -> Result<(), ContextError> {
        let Landed { key, result } = landed;
        let Some(Outstanding { id, cancels, .. }) = self.outstanding.remove(&key) else { return Ok(()) };
        let Some(result) = result else {
            self.tell(&id, Err(Fault::new(CANCELLED, format!("`{key}` was cancelled"))));
            return Ok(());
        };
        self.answered = Some(format!("`{key}`"));
        let result = result?;
        self.budget = self.context.budget();
        self.terms.collected.extend(answers::collected(&result));
        let outcome = match &cancels {
            None => answers::of(&result, key.number(), &self.budget),
            Some(target) => {
                let found = self.outstanding.iter().find(|(key, _)| key.as_str() == target);
                if let Some((_, target)) = found {
                    target.abort.abort();
                }
                Ok(json!({ "value": found.is_some(), "budget": answers::plain(&self.budget) }))
            }
        };
        self.tell(&id, outcome);
        Ok(())
    }

    fn tell(&mut self, id: &Id, outcome: Result<Value, Fault>) {
        self.unsent.push_back(answer(Some(id), outcome));
    }
}
