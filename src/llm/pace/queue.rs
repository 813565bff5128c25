//! The state of a lane: who is under way, who waits, and what holds them up. All of it is plain computation on
//! instants that are handed in; the lane around it has the lock, the timers and the wake-ups.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::expectation::{Expectation, Tokens};
use super::learnt::Learnt;
use super::limits::{Limits, ToldLimits};
use super::place::{Charge, Need, Place};
use super::window::Window;
use crate::observer::WaitReason;

/// A lane's state.
#[derive(Debug, Default)]
pub(super) struct State {
    declared: Limits,
    requests: Window,
    tokens: Window,
    in_flight: u32,
    held: Option<Instant>,
    opening: Option<Opening>,
    /// Counts the pauses, so that an answer to a call from before a pause opens nothing.
    pub(super) pauses: u64,
    models: BTreeMap<Arc<str>, Model>,
    queue: VecDeque<Ticket>,
    next: u64,
}

/// The gentle start after a pause.
#[derive(Clone, Copy, Debug)]
struct Opening {
    allowed: u32,
    in_flight: u32,
}

/// With so many calls at once a start is over.
const OPEN: u32 = 64;

#[derive(Debug, Default)]
struct Model {
    expectation: Expectation,
    in_flight: u32,
    requests: Learnt,
    tokens: Learnt,
    input: Learnt,
    output: Learnt,
}

/// A waiting call.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) number: u64,
    pub(super) need: Need,
    pub(super) wake: Arc<Notify>,
    pub(super) grant: oneshot::Sender<Place>,
}

/// What holds a call up, and until when, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) why: WaitReason,
    pub(super) until: Option<Instant>,
}

/// What a waiting call can expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outlook {
    pub(super) obstacle: Obstacle,
    /// When the call should look again by itself; `None` when somebody will wake it.
    pub(super) look_at: Option<Instant>,
}

impl State {
    pub(super) fn set_declared(&mut self, declared: Limits) {
        if self.declared != declared {
            self.declared = declared;
            self.requests.set_limit(declared.requests_per_minute.map(|limit| limit.get().into()));
            self.tokens.set_limit(declared.tokens_per_minute.map(std::num::NonZero::get));
        }
    }

    fn model(&mut self, name: &Arc<str>) -> &mut Model {
        self.models.entry(Arc::clone(name)).or_default()
    }

    fn expected(&mut self, need: &Need) -> Tokens {
        self.model(&need.model).expectation.of(need.estimate, u64::from(need.output_limit))
    }

    fn pause(&self, now: Instant) -> Option<Instant> {
        self.held.filter(|until| *until > now)
    }

    /// How long the service's pause still lasts.
    pub(super) fn pause_left(&self, now: Instant) -> Option<Duration> {
        self.pause(now).map(|until| until - now)
    }

    /// What the service's own limit of the model holds up.
    fn model_obstacle(
        &mut self,
        now: Instant,
        name: &Arc<str>,
        calls: u64,
        tokens: Tokens,
    ) -> Option<Obstacle> {
        let model = self.model(name);
        let requests = (WaitReason::RequestsPerMinute, model.requests.due(now, calls));
        let tokens = [
            model.tokens.due(now, tokens.total()),
            model.input.due(now, tokens.input),
            model.output.due(now, tokens.output),
        ];
        let tokens = (WaitReason::TokensPerMinute, tokens.into_iter().flatten().max());
        later(requests, tokens)
    }

    /// What the lane's own limits hold up.
    fn lane_obstacle(&mut self, now: Instant, tokens: Tokens) -> Option<Obstacle> {
        let full = self.declared.concurrency.is_some_and(|most| self.in_flight >= most.get());
        let opening = self.opening.is_some_and(|opening| opening.in_flight >= opening.allowed);
        if full || opening {
            let why = if full { WaitReason::Concurrency } else { WaitReason::Pause };
            return Some(Obstacle { why, until: None });
        }
        let requests = (WaitReason::RequestsPerMinute, self.requests.due(now, 1));
        later(requests, (WaitReason::TokensPerMinute, self.tokens.due(now, tokens.total())))
    }

    /// Whether a call may go now although it has just come.
    pub(super) fn passes(&mut self, now: Instant, need: &Need) -> Option<Charge> {
        if !self.queue.is_empty() || self.pause(now).is_some() {
            return None;
        }
        let tokens = self.expected(need);
        let free = self.model_obstacle(now, &need.model, 1, tokens).is_none()
            && self.lane_obstacle(now, tokens).is_none();
        free.then(|| self.charge(now, need))
    }

    /// Queues a call and returns its number.
    pub(super) fn queue(&mut self, need: Need, wake: Arc<Notify>, grant: oneshot::Sender<Place>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.queue.push_back(Ticket { number, need, wake, grant });
        number
    }

    /// Takes a call out of the queue, if it is there.
    pub(super) fn leave(&mut self, number: u64) {
        self.queue.retain(|ticket| ticket.number != number);
    }

    /// The next call that may go: the first of the queue whose model's limits allow it, if the lane's do.
    pub(super) fn next(&mut self, now: Instant) -> Option<(Ticket, Charge)> {
        if self.pause(now).is_some() {
            return None;
        }
        let mut index = 0;
        let mut held_up: Vec<Arc<str>> = Vec::new();
        while let Some(need) = self.queue.get(index).map(|ticket| ticket.need.clone()) {
            index += 1;
            if held_up.contains(&need.model) {
                continue;
            }
            let tokens = self.expected(&need);
            if self.model_obstacle(now, &need.model, 1, tokens).is_some() {
                held_up.push(need.model);
                continue;
            }
            if self.lane_obstacle(now, tokens).is_some() {
                return None;
            }
            let charge = self.charge(now, &need);
            return self.queue.remove(index - 1).map(|ticket| (ticket, charge));
        }
        None
    }

    fn charge(&mut self, now: Instant, need: &Need) -> Charge {
        let tokens = self.expected(need);
        self.in_flight += 1;
        if let Some(opening) = &mut self.opening {
            opening.in_flight += 1;
        }
        let charge = Charge {
            tokens,
            at_request: self.requests.take(now, 1),
            at_tokens: self.tokens.take(now, tokens.total()),
            pauses: self.pauses,
        };
        let model = self.model(&need.model);
        model.in_flight += 1;
        model.requests.take(now, 1);
        model.take(now, tokens, Tokens::default());
        charge
    }

    /// Wakes whoever may have become the first of its model.
    pub(super) fn wake_first(&self) {
        let mut seen: Vec<&Arc<str>> = Vec::new();
        for ticket in &self.queue {
            if !seen.contains(&&ticket.need.model) {
                seen.push(&ticket.need.model);
                ticket.wake.notify_one();
            }
        }
    }

    /// Wakes all, for what they wait for has changed.
    pub(super) fn wake_all(&self) {
        self.queue.iter().for_each(|ticket| ticket.wake.notify_one());
    }

    /// What the call `number` waits for.
    pub(super) fn outlook(&mut self, now: Instant, number: u64) -> Option<Outlook> {
        let place = self.queue.iter().position(|ticket| ticket.number == number)?;
        let need = self.queue.get(place)?.need.clone();
        let ahead: Vec<Need> = self.queue.iter().take(place).map(|ticket| ticket.need.clone()).collect();
        let own = self.expected(&need);
        let (mut all, mut same, mut same_calls) = (own.total(), own, 1);
        for other in &ahead {
            let tokens = self.expected(other);
            all = all.saturating_add(tokens.total());
            if other.model == need.model {
                same.input = same.input.saturating_add(tokens.input);
                same.output = same.output.saturating_add(tokens.output);
                same_calls += 1;
            }
        }
        let first = same_calls == 1;
        if let Some(until) = self.pause(now) {
            let obstacle = Obstacle { why: WaitReason::Pause, until: Some(until) };
            return Some(Outlook { obstacle, look_at: first.then_some(until) });
        }
        let lane_requests = self.requests.outlook(now, place as u64 + 1);
        let lane_tokens = self.tokens.outlook(now, all);
        let of_lane =
            later((WaitReason::RequestsPerMinute, lane_requests), (WaitReason::TokensPerMinute, lane_tokens));
        let of_model = self.model_obstacle(now, &need.model, same_calls, same);
        let by_time = [of_lane, of_model].into_iter().flatten().max_by_key(|obstacle| obstacle.until);
        let own_model = self.model_obstacle(now, &need.model, 1, own);
        let own_lane = self.lane_obstacle(now, own);
        let look_at = [own_model, own_lane].into_iter().flatten().filter_map(|obstacle| obstacle.until).max();
        let waits_for_calls = own_lane.filter(|obstacle| obstacle.until.is_none());
        let obstacle = waits_for_calls.or(by_time);
        let obstacle = obstacle.unwrap_or(Obstacle { why: WaitReason::Concurrency, until: None });
        Some(Outlook { obstacle, look_at: look_at.filter(|_| first) })
    }

    /// Takes in what the service told of its limits.
    pub(super) fn tell(&mut self, now: Instant, name: &Arc<str>, told: &ToldLimits) {
        let model = self.model(name);
        let alone = model.in_flight <= 1;
        for (limit, told) in [
            (&mut model.requests, told.requests),
            (&mut model.tokens, told.tokens),
            (&mut model.input, told.input_tokens),
            (&mut model.output, told.output_tokens),
        ] {
            if let Some(told) = told {
                limit.tell(now, told, alone);
            }
        }
    }

    /// Lets nobody go before `until`, and then one at first.
    pub(super) fn hold(&mut self, until: Instant) {
        if self.held.is_none_or(|held| held < until) {
            self.held = Some(until);
        }
        self.pauses += 1;
        self.opening = Some(Opening { allowed: 1, in_flight: 0 });
    }

    /// The call was answered: one more may join. With nobody waiting, or with many under way, the start is over.
    pub(super) fn answered(&mut self, pauses: u64) {
        let idle = self.queue.is_empty();
        let current = pauses == self.pauses;
        if let Some(opening) = self.opening.as_mut().filter(|_| current) {
            opening.allowed += 1;
            if idle || opening.allowed >= OPEN {
                self.opening = None;
            }
        }
    }

    /// The call is over, or was never sent.
    pub(super) fn end(&mut self, name: &Arc<str>, pauses: u64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let current = pauses == self.pauses;
        if let Some(opening) = self.opening.as_mut().filter(|_| current) {
            opening.in_flight = opening.in_flight.saturating_sub(1);
        }
        let model = self.model(name);
        model.in_flight = model.in_flight.saturating_sub(1);
    }

    /// A call that was never sent gives back what it took.
    pub(super) fn undo(&mut self, now: Instant, need: &Need, charge: &Charge) {
        if let Some(entry) = charge.at_request {
            self.requests.undo(entry);
        }
        let model = self.model(&need.model);
        model.requests.take(now, -1);
        self.correct(now, need, charge, Tokens::default());
    }

    /// A call used this much instead of what it was charged with.
    pub(super) fn correct(&mut self, now: Instant, need: &Need, charge: &Charge, used: Tokens) {
        if let Some(entry) = charge.at_tokens {
            self.tokens.correct(now, entry, used.total());
        }
        self.model(&need.model).take(now, used, charge.tokens);
    }

    /// Remembers what a call of this model used.
    pub(super) fn learn(&mut self, need: &Need, used: Tokens) {
        self.model(&need.model).expectation.learn(need.estimate, used);
    }
}

impl Model {
    /// Takes `more` and gives `less` back.
    fn take(&mut self, now: Instant, more: Tokens, less: Tokens) {
        let difference = |more: u64, less: u64| {
            let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
            signed(more).saturating_sub(signed(less))
        };
        self.tokens.take(now, difference(more.total(), less.total()));
        self.input.take(now, difference(more.input, less.input));
        self.output.take(now, difference(more.output, less.output));
    }
}

/// Whichever ends later, if either is there.
fn later(one: (WaitReason, Option<Instant>), other: (WaitReason, Option<Instant>)) -> Option<Obstacle> {
    let obstacle =
        |(why, until): (WaitReason, Option<Instant>)| until.map(|until| Obstacle { why, until: Some(until) });
    [obstacle(one), obstacle(other)].into_iter().flatten().max_by_key(|obstacle| obstacle.until)
}
