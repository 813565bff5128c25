//! An agent that is a program of its own: its execution, and its requests for models.
//!
//! It is one execution in a fresh workspace, for as long as the run has. A little before the run's time is over it is
//! stopped, so that what it left can still be judged; also some time after a call was refused for good.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use podium_sandbox::{Job, SandboxError, Service, ServiceAnswer, ServiceRequest, workspace};
use podium_scaffold::EffectResult;
use podium_types::agent::{AgentTerms, Over, Reply};
use podium_types::execution::{Execution, ExecutionRequest};
use podium_types::key::EffectKey;
use serde_json::json;

use super::Inner;
use super::local::{Refused, done};
use crate::run::command::desk::{Desk, Told};
use crate::run::command::wire::refusal::Refusal;
use crate::run::command::wire::{self, answer, question, responses};
use crate::run::driver::Performed;
use crate::run::stop::Stop;

/// Where the port of the sandbox is, as an agent inside reaches it.
const BASE_URL: &str = "http://127.0.0.1:5000/v1";
/// Nobody reads it, but clients want one.
const KEY: &str = "podium";
const PREFIX: &str = "/v1/";
/// Bytes of requests that are not answered yet, together.
const AT_WORK: u32 = 96 << 20;
/// So many reasons of refusals are told apart; an agent chooses the words of some of them.
const MOST_REASONS: usize = 8;
/// What all further reasons are counted as.
const OTHER_REASONS: &str = "other reasons";
/// How often the time is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Of the run's time so much is kept for what follows the agent's end: a twentieth, within these, and never more than half.
const SHARE_KEPT: u32 = 20;
const LEAST_KEPT: Duration = Duration::from_secs(5);
const MOST_KEPT: Duration = Duration::from_mins(1);

impl Inner {
    pub(super) async fn execute_agent(
        self: &Arc<Self>,
        key: &EffectKey,
        request: &ExecutionRequest,
    ) -> Performed {
        if let Some(stop) = self.time_is_up() {
            self.desk.fail(stop.clone());
            return Performed::Parked(stop);
        }
        match self.execute_in_sandbox(key, request).await {
            Ok(execution) => done(EffectResult::Execution(Box::new(execution))),
            Err(refused) => {
                let performed = Performed::from(refused);
                if let Performed::Parked(stop) = &performed {
                    self.desk.fail(stop.clone());
                }
                performed
            }
        }
    }

    /// The run has no time left for an agent.
    fn time_is_up(&self) -> Option<Stop> {
        let limit = self.limits.run_ms?;
        (self.agent_time_left()? == Duration::ZERO).then(|| Stop::time(limit))
    }

    fn agent_time_left(&self) -> Option<Duration> {
        let limit = Duration::from_millis(self.limits.run_ms?);
        let kept = (limit / SHARE_KEPT).clamp(LEAST_KEPT, MOST_KEPT).min(limit / 2);
        Some(self.run_time_left().saturating_sub(kept))
    }

    /// Gives a job what its agent gets, runs it, and stops it in time.
    pub(super) async fn employ(
        self: &Arc<Self>,
        mut job: Job,
        terms: &AgentTerms,
    ) -> Result<Execution, Refused> {
        for (path, text) in &terms.files {
            workspace::write_file(&job.workspace, path, text.as_bytes()).map_err(|source| {
                SandboxError::Io { action: "writing the task in", path: job.workspace.clone(), source }
            })?;
        }
        for (name, value) in
            [("OPENAI_BASE_URL", BASE_URL), ("OPENAI_API_BASE", BASE_URL), ("OPENAI_API_KEY", KEY)]
        {
            job.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        let refusals = Arc::new(Refusals::default());
        job.service = Some(service(Arc::clone(&self.desk), terms.clone(), Arc::clone(&refusals)));
        self.desk.begin();
        let stop = job.stop.clone();
        tokio::select! {
            execution = self.equipment.sandbox.execute(&job) => {
                Ok(Execution { requests_refused: refusals.all(), ..execution? })
            }
            () = self.keep_time(Duration::from_millis(terms.grace_ms), || stop.cancel()) => {
                Err(Refused::Stop(Stop::new(crate::run::stop::StoppedBy::Internal, "an agent's time was not kept")))
            }
        }
    }

    /// Stops the agent when it has no more time. Never returns.
    async fn keep_time(&self, grace: Duration, stop: impl Fn()) {
        loop {
            let left = self.agent_time_left().unwrap_or(Duration::MAX);
            let why = if left.is_zero() {
                Some(Over::Time)
            } else if self.desk.refused_for().is_some_and(|since| since >= grace) {
                Some(Over::Refused)
            } else {
                None
            };
            if let Some(why) = why {
                self.desk.cut(why);
                stop();
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }

    pub(super) async fn hear(&self, key: &EffectKey) -> Performed {
        let number = key.as_str().rsplit('-').next().and_then(|number| number.parse().ok());
        match self.desk.hear(number.unwrap_or_default()).await {
            Ok(heard) => done(EffectResult::Heard(heard)),
            Err(stop) => Performed::Parked(stop),
        }
    }

    pub(super) fn reply(&self, question: u32, reply: &Reply) -> Performed {
        self.desk.reply(question, reply);
        done(EffectResult::Recorded)
    }
}

/// Requests that came to no question, by why: nothing else of them reaches the journal.
#[derive(Debug, Default)]
struct Refusals(Mutex<BTreeMap<String, u64>>);

impl Refusals {
    fn count(&self, refusal: &Refusal) {
        let mut reasons = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_apart = reasons.len() < MOST_REASONS || reasons.contains_key(&refusal.message);
        let reason = if is_apart { refusal.message.as_str() } else { OTHER_REASONS };
        let count = reasons.entry(reason.to_owned()).or_insert(0);
        *count = count.saturating_add(1);
    }

    fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What answers an agent's requests.
fn service(desk: Arc<Desk>, terms: AgentTerms, refusals: Arc<Refusals>) -> Service {
    let max_bytes = terms.max_request_bytes;
    let terms = Arc::new(terms);
    let answering = move |request: ServiceRequest| {
        let (desk, terms, refusals) = (Arc::clone(&desk), Arc::clone(&terms), Arc::clone(&refusals));
        let answered = async move {
            let read = read(&terms, request).inspect_err(|refusal| refusals.count(refusal));
            let answered = match read {
                Ok(Read::Known(answer)) => Ok(answer),
                Ok(Read::Asked(asked)) => answered(&desk, *asked).await,
                Err(refusal) => Err(refusal),
            };
            answered.unwrap_or_else(|no| no.answer())
        };
        Box::pin(answered) as std::pin::Pin<Box<dyn Future<Output = ServiceAnswer> + Send>>
    };
    Service {
        prefix: PREFIX,
        answering: Arc::new(answering),
        refusing: Refusal::by_status,
        max_bytes,
        max_bytes_at_work: AT_WORK,
    }
}

/// What a request wants.
enum Read {
    /// Something that needs no call.
    Known(ServiceAnswer),
    /// The answer of a model.
    Asked(Box<wire::Wanted>),
}

fn read(terms: &AgentTerms, request: ServiceRequest) -> Result<Read, Refusal> {
    let ServiceRequest { method, path, body } = request;
    let known = |value: &serde_json::Value| Ok(Read::Known(json(value)));
    let asked = match (method.as_str(), path.as_str()) {
        ("GET", "/v1/models") => return known(&answer::models(terms.models.keys().map(String::as_str))),
        ("POST", "/v1/chat/completions") => question::read(&body, &terms.models)?,
        ("POST", "/v1/responses") => responses::read(&body, &terms.models)?,
        ("GET", path) if path.starts_with("/v1/models/") => {
            let name = path.trim_start_matches("/v1/models/");
            let names: Vec<&str> = terms.models.keys().map(String::as_str).collect();
            if !names.contains(&name) {
                return Err(Refusal::unknown_model(name, &names));
            }
            return known(&answer::model(name));
        }
        _ => {
            let paths = "there is POST /v1/chat/completions, POST /v1/responses and GET /v1/models";
            return Err(Refusal { status: 404, ..Refusal::invalid(paths) });
        }
    };
    Ok(Read::Asked(Box::new(asked)))
}

async fn answered(desk: &Desk, wanted: wire::Wanted) -> Result<ServiceAnswer, Refusal> {
    // The desk is gone only with the run.
    let gone = || Refusal { status: 503, ..Refusal::invalid("the agent's run is over") };
    match desk.ask(wanted.question)?.await.map_err(|_| gone())? {
        Told::Refused(refusal) => Err(refusal),
        Told::Answer(step, result) => match &*result {
            Ok(told) => Ok(answer::write(&wanted.form, step, told)),
            Err(error) => Err(Refusal::of(error)),
        },
    }
}

fn json(value: &serde_json::Value) -> ServiceAnswer {
    let body = json!(value).to_string();
    ServiceAnswer { status: 200, kind: "application/json", header: None, body }
}
