//! The tries of one turn: find a place in the service's lane, reserve, send, settle; then return, downgrade, wait or
//! give up.

use std::time::Duration;

use podium_types::chat::{ChatError, ChatRequest};
use podium_types::usage::Usage;
use tokio::time::Instant;

use super::delay::{Delays, NoWait};
use super::redaction::Keys;
use super::shape::Shaped;
use super::truncation;
use crate::client::{Call, Client};
use crate::correction;
use crate::error::{Error, ServiceFailure};
use crate::ledger::{Settled, WorstCase};
use crate::observer::{CallEvent, WaitReason};
use crate::pace::{Lanes, Lodging, TooLong};
use crate::provider::{Answered, Attempt, Cause, Failed, Parameter, Provider, Without};
use crate::secret::redact;
use crate::tokens;

/// An empty answer is asked for again this many times, and then returned as it is: some models have nothing to say.
const EMPTY_REPEATS: u32 = 2;

/// A window is near when less than one part in this many is left by the estimate, which is above the count for
/// most texts.
const NEAR: u64 = 4;

/// What was set aside for a try.
#[derive(Clone, Copy)]
struct Reserved {
    attempt: u32,
    /// The prompt's tokens before any correction.
    estimate: u64,
    output_limit: u32,
    worst: WorstCase,
}

/// The tries of a chat so far. One value serves all its turns, so attempts and usage go on counting.
pub(crate) struct Tries<'a> {
    pub(crate) client: &'a Client,
    pub(crate) provider: &'a dyn Provider,
    pub(crate) call: &'a Call<'a>,
    /// Tries reserved so far.
    pub(crate) attempts: u32,
    /// What answered tries used, thrown away answers included.
    pub(crate) used: Usage,
    lanes: Option<Lanes>,
    /// How long tries waited for their place, pauses of the service not counted.
    queued: Duration,
}

/// One turn so far.
struct Turn {
    delays: Delays,
    started: Instant,
    /// What was queued before it began.
    queued: Duration,
    /// Tries reserved before it began.
    before: u32,
    /// Failures that were waited out.
    waits: u32,
}

/// A sent try, and its place in the lane.
struct Tried {
    result: Result<Answered, Failed>,
    lodging: Option<Lodging>,
}

impl<'a> Tries<'a> {
    pub(crate) fn new(client: &'a Client, provider: &'a dyn Provider, call: &'a Call<'a>) -> Self {
        let lanes = client.lanes(call.model);
        let (used, queued) = (Usage::NOTHING, Duration::ZERO);
        Self { client, provider, call, attempts: 0, used, lanes, queued }
    }

    /// Sends `request` until it is answered or fails for good.
    pub(crate) async fn turn(&mut self, request: &ChatRequest) -> Result<Answered, Error> {
        let mut turn = Turn {
            delays: Delays::new(&self.client.shared.settings),
            started: Instant::now(),
            queued: self.queued,
            before: self.attempts,
            waits: 0,
        };
        let mut empties = 0;
        loop {
            let Tried { result, lodging } = self.attempt(request, &turn).await?;
            let failed = match result {
                Ok(answered) if answered.is_empty() && empties < EMPTY_REPEATS => {
                    empties += 1;
                    Failed::service(
                        ServiceFailure::BadAnswer,
                        Settled::Used(answered.usage),
                        "the answer is empty",
                    )
                }
                Ok(answered) => return Ok(answered),
                Err(failed) => failed,
            };
            let kind = match failed.cause {
                Cause::Request(error) => return Err(Error::Request(*error)),
                Cause::Unsupported(parameter) => {
                    self.downgrade(parameter);
                    continue;
                }
                Cause::Service(kind) => kind,
            };
            let worth_it = kind.retryable() && (!failed.hopeless || failed.retry_after.is_some());
            let spent = self.spent(&turn);
            let next = worth_it.then(|| turn.delays.next(spent, failed.retry_after));
            self.hold_lane(kind, failed.retry_after, next.and_then(Result::ok));
            // Given back after the lane is held: nobody takes it up before the pause.
            drop(lodging);
            let delay = match next {
                Some(Ok(delay)) => delay,
                // The number of tries is told with every failure.
                None | Some(Err(NoWait::Tries(_))) => {
                    return Err(self.given_up(&turn, kind, failed.message, failed.retry_after));
                }
                Some(Err(limit)) => {
                    let message = format!("{}; {limit}", failed.message);
                    return Err(self.given_up(&turn, kind, message, failed.retry_after));
                }
            };
            turn.waits += 1;
            self.wait(&turn, kind, delay).await;
        }
    }

    /// The time of a turn that counts against its deadline: tries, waits after failures, and pauses of the service. A
    /// queue that moves on is not the service's failure.
    fn spent(&self, turn: &Turn) -> Duration {
        turn.started.elapsed().saturating_sub(self.queued.saturating_sub(turn.queued))
    }

    fn given_up(
        &self,
        turn: &Turn,
        kind: ServiceFailure,
        message: String,
        retry_after: Option<Duration>,
    ) -> Error {
        Error::Service {
            provider: self.call.model.provider.clone(),
            kind,
            tries: self.attempts - turn.before,
            message,
            retry_after,
        }
    }

    /// A service that turns calls away or asks for a pause gets it from all calls.
    fn hold_lane(&self, kind: ServiceFailure, asked: Option<Duration>, delay: Option<Duration>) {
        let pause = match kind {
            ServiceFailure::RateLimited => delay.or(asked),
            kind if kind.retryable() => asked,
            _ => None,
        };
        if let (Some(lanes), Some(pause)) = (&self.lanes, pause) {
            lanes.hold(pause);
        }
    }

    /// Waits for a place in the lane.
    async fn lodge(
        &mut self,
        turn: &Turn,
        estimate: u64,
        output_limit: u32,
    ) -> Result<Option<Lodging>, Error> {
        let Some(lanes) = &self.lanes else { return Ok(None) };
        let (call, of, attempt) = (self.call, turn.delays.most_tries(), turn.waits + 1);
        let mut over = None;
        let on_wait = |why, delay| {
            call.observer.event(CallEvent::Waiting { why, delay, attempt, of });
            over.get_or_insert_with(|| Over(call));
        };
        let begun = Instant::now();
        let allowance = turn.delays.allowance(self.spent(turn));
        let passed = lanes.pass(&lanes.need(estimate, output_limit), allowance, on_wait).await;
        drop(over);
        match passed {
            Ok((lodging, paused)) => {
                self.queued += begun.elapsed().saturating_sub(paused);
                Ok(Some(lodging))
            }
            Err(TooLong(pause)) => {
                let message = format!(
                    "the service asked all calls for a pause of {:.0} s more, and this one may wait no longer than {:.0} s",
                    pause.as_secs_f64(),
                    allowance.cap.min(allowance.left).as_secs_f64()
                );
                Err(self.given_up(turn, ServiceFailure::RateLimited, message, Some(pause)))
            }
        }
    }

    /// One reserved, sent and settled try.
    async fn attempt(&mut self, request: &ChatRequest, turn: &Turn) -> Result<Tried, Error> {
        let Shaped { request: mut shaped, without } = self.client.shape(self.call.model, request);
        let shared = &self.client.shared;
        Keys::of(shared.settings.secrets()).clean_request(&mut shaped);
        let output_limit = shared.output_limit(self.call.model, &shaped);
        let estimate = self.prompt_tokens(&shaped, output_limit).await?;
        let mut lodging = self.lodge(turn, estimate, output_limit).await?;
        let worst = shared.worst_case(self.call.model, estimate, output_limit);
        let number = self.attempts + 1;
        self.call.ledger.reserve(number, worst).await.map_err(Error::Denied)?;
        self.attempts = number;
        if let Some(lodging) = &mut lodging {
            lodging.sent();
        }
        self.call.observer.event(CallEvent::TryStarted { attempt: number, worst });
        let started = Instant::now();
        let first_byte = || {
            let after = started.elapsed();
            self.call.observer.event(CallEvent::FirstByte { attempt: number, after });
        };
        let limits = |told: &_| self.lanes.iter().for_each(|lanes| lanes.tell(told));
        let attempt = Attempt {
            model: self.call.model,
            request: &shaped,
            output_limit,
            without: &without,
            wanted: request.output.as_ref(),
            input_estimate: worst.input_tokens,
            thinks: self.client.facts(self.call.model).reasoning,
            first_byte: &first_byte,
            limits: &limits,
        };
        let limit = shared.settings.call_timeout;
        let result = tokio::time::timeout(limit, self.provider.attempt(&attempt)).await;
        let result = result.unwrap_or_else(|_| Err(timed_out(limit)));
        let result = result.map_err(|failed| refused_again(schema_refused(failed, &shaped), &without));
        let elapsed = started.elapsed();
        let reserved = Reserved { attempt: number, estimate, output_limit, worst };
        let result = self.settled(reserved, result, elapsed).await;
        match (&lodging, &result) {
            (Some(lodging), Ok(answered)) => lodging.answered(&answered.usage),
            (Some(lodging), Err(failed)) if failed.settled == Settled::NotBilled => lodging.refused(),
            _ => {}
        }
        // The place of a failed try is kept until the lane is held.
        let lodging = lodging.filter(|_| result.is_err());
        if let Ok(answered) = &result {
            truncation::check(&shaped, &answered.usage, self.call.observer).await;
        }
        Ok(Tried { result, lodging })
    }

    async fn settled(
        &mut self,
        reserved: Reserved,
        result: Result<Answered, Failed>,
        elapsed: Duration,
    ) -> Result<Answered, Failed> {
        let attempt = reserved.attempt;
        match result {
            Ok(mut answered) => {
                if Keys::of(self.client.shared.settings.secrets()).clean_answer(&mut answered) {
                    tracing::warn!(model = %self.call.model, "an answer held a key of yours; it was taken out");
                }
                self.count(reserved, &mut answered.usage);
                self.call.ledger.settle(attempt, Settled::Used(answered.usage)).await;
                let (id, usage) = (answered.id.clone(), answered.usage);
                self.call.observer.event(CallEvent::Answered { attempt, id, usage, elapsed });
                Ok(answered)
            }
            Err(mut failed) => {
                if let Settled::Used(usage) = &mut failed.settled {
                    self.count(reserved, usage);
                }
                self.redact(&mut failed);
                self.call.ledger.settle(attempt, failed.settled).await;
                let (status, message) = (failed.status, failed.message.clone());
                let service = match failed.cause {
                    Cause::Service(kind) => Some(kind),
                    Cause::Unsupported(_) | Cause::Request(_) => None,
                };
                let event = CallEvent::TryFailed { attempt, status, message, elapsed, service };
                self.call.observer.event(event);
                Err(failed)
            }
        }
    }

    /// Puts a price on `usage`, unless the provider told one, adds it up, and holds it against what was reserved.
    /// Estimates teach nothing, and a usage that cannot be true becomes one.
    fn count(&mut self, reserved: Reserved, usage: &mut Usage) {
        let Reserved { attempt, estimate, output_limit, worst } = reserved;
        let model = self.call.model;
        let facts = self.client.facts(model);
        let told = *usage;
        let mended = correction::mended(usage, facts.context_window, &worst);
        *usage = mended.unwrap_or(told);
        usage.cost = usage.cost.or_else(|| facts.prices.map(|prices| prices.cost(usage)));
        if mended.is_some() {
            self.call.observer.event(CallEvent::ImplausibleUsage { attempt, told, settled: *usage });
        }
        self.used = self.used.plus(usage);
        if !usage.estimated {
            self.client.shared.learn(model, estimate, output_limit, usage);
        }
        let dearer = usage.cost.zip(worst.cost).is_some_and(|(used, worst)| used > worst);
        if usage.input_tokens > worst.input_tokens || usage.output_tokens > worst.output_tokens || dearer {
            self.call.observer.event(CallEvent::ExceededWorstCase { attempt, worst, used: *usage });
        }
    }

    fn redact(&self, failed: &mut Failed) {
        let secrets = || self.client.shared.settings.secrets();
        failed.message = redact(&failed.message, secrets());
        if let Cause::Request(error) = &mut failed.cause
            && let ChatError::Refused { message } = error.as_mut()
        {
            *message = redact(message, secrets());
        }
    }

    /// The prompt's tokens, from above. Far from the window they are estimated. Near it they are counted too: the
    /// count decides whether the prompt fits, and the larger of both is reserved.
    async fn prompt_tokens(&self, shaped: &ChatRequest, output_limit: u32) -> Result<u64, Error> {
        let estimate = tokens::estimate(shaped);
        let model = self.call.model;
        let Some(window) = self.client.facts(model).context_window else { return Ok(estimate) };
        let output_tokens = u64::from(output_limit);
        let expected = self.client.shared.worst_case(model, estimate, output_limit).input_tokens;
        if expected.saturating_add(output_tokens) <= window - window / NEAR {
            return Ok(estimate);
        }
        let counted = shaped.clone();
        let counted = tokio::task::spawn_blocking(move || tokens::exact(&counted)).await;
        let prompt_tokens = counted.unwrap_or(estimate);
        if prompt_tokens.saturating_add(output_tokens) > window {
            return Err(Error::Request(ChatError::ContextTooLong { prompt_tokens, output_tokens, window }));
        }
        Ok(estimate.max(prompt_tokens))
    }

    /// Remembers what the model does not take. Another chat may have learnt it while this one was on its way.
    pub(crate) fn downgrade(&self, parameter: Parameter) {
        if self.client.shared.downgrade(self.call.model, parameter) {
            let parameter = parameter.as_str().to_owned();
            self.call.observer.event(CallEvent::Downgraded { parameter });
        }
    }

    async fn wait(&self, turn: &Turn, kind: ServiceFailure, delay: Duration) {
        let (attempt, of) = (turn.waits + 1, turn.delays.most_tries());
        let why = WaitReason::Failure(kind);
        self.call.observer.event(CallEvent::Waiting { why, delay: Some(delay), attempt, of });
        let _over = Over(self.call);
        tokio::time::sleep(delay).await;
    }
}

/// Says that a wait is over, also when the chat is dropped during it.
struct Over<'a>(&'a Call<'a>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.observer.event(CallEvent::WaitingOver);
    }
}

/// A schema that is not taken is tried once more without strictness, and then goes into the prompt.
fn schema_refused(mut failed: Failed, sent: &ChatRequest) -> Failed {
    let strict = sent.output.as_ref().is_some_and(|output| output.strict);
    if failed.cause == Cause::Unsupported(Parameter::StrictSchema) && !strict {
        failed.cause = Cause::Unsupported(Parameter::Schema);
    }
    failed
}

/// A complaint about what was left out already is final: each ability is downgraded once.
fn refused_again(mut failed: Failed, without: &Without) -> Failed {
    if let Cause::Unsupported(parameter) = failed.cause
        && without.contains(&parameter)
    {
        failed.cause = Cause::Request(Box::new(ChatError::Refused { message: failed.message.clone() }));
    }
    failed
}

fn timed_out(limit: Duration) -> Failed {
    let message = format!("no whole answer within the call time-out of {limit:?}");
    Failed::service(ServiceFailure::Stalled, Settled::Unknown, message)
}
