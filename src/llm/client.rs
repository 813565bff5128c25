//! The client: what the run context calls. It finds the provider of a model, says what a call can cost, and chats.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use podium_types::chat::{ChatAnswer, ChatRequest};
use podium_types::usage::Usage;

use crate::catalog::{Api, Catalog, ModelFacts, Prices};
use crate::chat::document::Schemas;
use crate::chat::shape::Shaped;
use crate::correction::Corrections;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::ledger::{Ledger, WorstCase};
use crate::model::ModelName;
use crate::observer::Observer;
use crate::pace::{Lanes, Pacing};
use crate::playbook;
use crate::provider::http::{self, Connection, Conversation};
use crate::provider::{self, Parameter, Provider, Without, playbook::Playbook};
use crate::recording::{self, Recording};
use crate::settings::Settings;
use crate::{chat, tokens};

/// What a model may or may not take, by the names used in journals, events and lists.
pub const ABILITIES: [&str; 9] =
    ["temperature", "seed", "stop", "effort", "schema", "tools", "tool_choice", "one_tool_call", "logprobs"];

/// One chat.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The model.
    pub model: &'a ModelName,
    /// What to ask.
    pub request: &'a ChatRequest,
    /// Who pays.
    pub ledger: &'a dyn Ledger,
    /// Who is told.
    pub observer: &'a dyn Observer,
    /// What it is for (role, operator, node), for traces; never sent.
    pub purpose: &'a str,
}

/// A model that can be called: its provider is known and its key is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The model.
    pub model: ModelName,
    /// What is known about it.
    pub facts: ModelFacts,
    /// Where requests go; `None` for the stand-in and for recordings, from which nothing leaves the process.
    pub base_url: Option<String>,
    /// True for the stand-in model: results show that the harness works, not which scaffold is better.
    pub stand_in: bool,
    /// True for the recording of a run: nothing is asked, and nothing is billed.
    pub recorded: bool,
}

/// The client of all models. Cheap to clone; clones share connections and what was learnt about models.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    playbook: Option<Arc<playbook::Library>>,
    pacing: Pacing,
    recordings: Arc<BTreeMap<String, Recording>>,
}

pub(crate) struct Shared {
    catalog: Catalog,
    /// What is known of a recording: it takes everything, and costs nothing.
    recorded: ModelFacts,
    pub(crate) settings: Settings,
    http: OnceLock<Result<reqwest::Client, Error>>,
    /// For this machine's own services without TLS: no certificates are read for them, which takes some ten
    /// milliseconds and a megabyte.
    near: OnceLock<Result<reqwest::Client, Error>>,
    downgrades: Mutex<BTreeMap<ModelName, Without>>,
    corrections: Mutex<BTreeMap<ModelName, Corrections>>,
    /// Models that have called a tool by themselves.
    callers: Mutex<BTreeSet<ModelName>>,
    pub(crate) schemas: Schemas,
}

impl Client {
    /// A client with lanes of its own. Nothing is read, opened or sent yet.
    pub fn new(catalog: Catalog, settings: Settings, playbook: Option<Arc<playbook::Library>>) -> Self {
        let free = Prices {
            input: 0.0,
            cached_input: None,
            cache_write: None,
            output: 0.0,
            reasoning: None,
            long_prompt: None,
        };
        let shared = Shared {
            catalog,
            recorded: ModelFacts { prices: Some(free), ..ModelFacts::default() },
            settings,
            http: OnceLock::new(),
            near: OnceLock::new(),
            downgrades: Mutex::default(),
            corrections: Mutex::default(),
            callers: Mutex::default(),
            schemas: Schemas::default(),
        };
        Self { shared: Arc::new(shared), playbook, pacing: Pacing::default(), recordings: Arc::default() }
    }

    /// The same client in the lanes of `pacing`: clients that call the same service with the same key share them.
    #[must_use]
    pub fn paced(self, pacing: Pacing) -> Self {
        Self { pacing, ..self }
    }

    /// This client with recordings of runs, by the model part of their names: `replay/NAME` answers from `NAME`.
    #[must_use]
    pub fn with_recordings(self, recordings: BTreeMap<String, Recording>) -> Self {
        Self { recordings: Arc::new(recordings), ..self }
    }

    /// Takes in what was learnt before, as [`CallEvent::Downgraded`](crate::CallEvent::Downgraded) told it: `model`
    /// does not take `parameter`, and is not asked again. False when that was known, or the parameter is not.
    pub fn remember(&self, model: &ModelName, parameter: &str) -> bool {
        Parameter::named(parameter).is_some_and(|parameter| self.shared.downgrade(model, parameter))
    }

    /// Checks that `model` can be called, before anything is spent.
    pub fn prepare(&self, model: &ModelName) -> Result<Prepared, Error> {
        let stand_in = model.provider == playbook::PROVIDER;
        let recorded = model.provider == recording::PROVIDER;
        if recorded {
            self.recording(model)?;
        } else {
            self.provider(model)?;
        }
        let endpoint = self.shared.settings.endpoints.get(&model.provider).filter(|_| !stand_in && !recorded);
        Ok(Prepared {
            model: model.clone(),
            facts: self.facts(model).clone(),
            base_url: endpoint.and_then(|endpoint| endpoint.base_url.clone()),
            stand_in,
            recorded,
        })
    }

    /// What is known about `model`.
    pub fn facts(&self, model: &ModelName) -> &ModelFacts {
        self.shared.facts(model)
    }

    /// What `model` does without, by the names of [`ABILITIES`](crate::ABILITIES): as the catalog tells it, as its
    /// protocol demands, and as was learnt.
    pub fn missing(&self, model: &ModelName) -> Vec<&'static str> {
        let without = self.shape(model, &ChatRequest::default()).without;
        ABILITIES
            .into_iter()
            .filter(|name| without.iter().any(|parameter| parameter.as_str() == *name))
            .collect()
    }

    /// All models of the catalog.
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// The most that one try of `request` can use: prompt tokens estimated from above, the whole output limit, and
    /// more where this model has been seen to use more. Near the model's window a chat counts the tokens as well.
    pub fn worst_case(&self, model: &ModelName, request: &ChatRequest) -> WorstCase {
        let shaped = self.shape(model, request);
        let input_tokens = tokens::estimate(&shaped.request);
        self.shared.worst_case(model, input_tokens, self.shared.output_limit(model, &shaped.request))
    }

    /// Prompt tokens of `request` as `model` would get it, counted with a real tokenizer. Takes 0.2 s and 46 MB
    /// at its first call.
    pub fn count_exact(&self, model: &ModelName, request: &ChatRequest) -> u64 {
        tokens::exact(&self.shape(model, request).request)
    }

    /// Sends `call.request` and returns the whole, checked answer. Dropping the future cancels the chat.
    pub async fn chat(&self, call: &Call<'_>) -> Result<ChatAnswer, Error> {
        if call.model.provider == recording::PROVIDER {
            return provider::replay::chat(self.recording(call.model)?, call).await;
        }
        let provider = self.provider(call.model)?;
        chat::run(self, provider.as_ref(), call).await
    }

    pub(crate) fn shape(&self, model: &ModelName, request: &ChatRequest) -> Shaped {
        let mut without = self.shared.without(model);
        if let Some(endpoint) = self.shared.settings.endpoints.get(&model.provider) {
            without.extend(provider::lacks(endpoint.protocol, self.facts(model).api));
            without.extend(endpoint.json_mode.then_some(Parameter::Schema));
        }
        Shaped::new(request, self.facts(model), without, &self.shared.settings)
    }

    /// The lanes of a chat; `None` for the stand-in, which is no service.
    pub(crate) fn lanes(&self, model: &ModelName) -> Option<Lanes> {
        let endpoint = self.shared.settings.endpoints.get(&model.provider)?;
        Some(self.pacing.lanes(&model.provider, endpoint, &model.model, self.facts(model).limits()))
    }

    fn provider(&self, model: &ModelName) -> Result<Box<dyn Provider + '_>, Error> {
        if model.provider == playbook::PROVIDER {
            return self.stand_in(model);
        }
        let endpoint = self
            .shared
            .settings
            .endpoints
            .get(&model.provider)
            .ok_or_else(|| unknown_provider(&model.provider, &self.shared.settings))?;
        check_url(&model.provider, endpoint)?;
        check_key(&model.provider, endpoint)?;
        let facts = self.facts(model);
        let connection = Connection::new(self.shared.http(endpoint)?, &self.shared.settings);
        Ok(Box::new(Conversation { wire: provider::wire(endpoint, facts), facts, connection }))
    }

    fn recording(&self, model: &ModelName) -> Result<&Recording, Error> {
        self.recordings.get(&model.model).ok_or_else(|| Error::Configuration {
            problem: format!("there is no recording `{}`", model.model),
            hint: "a recording is named by the folder of a run: `replay/runs/aide-segment-1`".to_owned(),
        })
    }

    fn stand_in(&self, model: &ModelName) -> Result<Box<dyn Provider + '_>, Error> {
        if model.model != playbook::MODEL {
            return Err(Error::Configuration {
                problem: format!("there is no model `{model}`"),
                hint: "the stand-in model is called `playbook/default`".to_owned(),
            });
        }
        match &self.playbook {
            Some(library) => Ok(Box::new(Playbook(library))),
            None => Err(Error::Configuration {
                problem: "the stand-in model `playbook/default` has no solutions for this competition"
                    .to_owned(),
                hint:
                    "it answers only for the offline competitions; elsewhere use a real model, for example \
                       `openai/gpt-4o-mini`"
                        .to_owned(),
            }),
        }
    }
}

impl Shared {
    fn http(&self, endpoint: &Endpoint) -> Result<reqwest::Client, Error> {
        if endpoint.base_url.as_deref().is_some_and(is_near) {
            return self.near.get_or_init(|| http::client(&self.settings, false)).clone();
        }
        self.http.get_or_init(|| http::client(&self.settings, true)).clone()
    }

    fn facts(&self, model: &ModelName) -> &ModelFacts {
        if model.provider == recording::PROVIDER { &self.recorded } else { self.catalog.facts(model) }
    }

    pub(crate) fn without(&self, model: &ModelName) -> Without {
        let downgrades = self.downgrades.lock().unwrap_or_else(PoisonError::into_inner);
        downgrades.get(model).cloned().unwrap_or_default()
    }

    /// Remembers that `model` does not take `parameter`; false when that was known already.
    pub(crate) fn downgrade(&self, model: &ModelName, parameter: Parameter) -> bool {
        let mut downgrades = self.downgrades.lock().unwrap_or_else(PoisonError::into_inner);
        downgrades.entry(model.clone()).or_default().insert(parameter)
    }

    /// Remembers that `model` called a tool by itself.
    pub(crate) fn note_call(&self, model: &ModelName) {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner).insert(model.clone());
    }

    /// Whether `model` has called a tool by itself.
    pub(crate) fn has_called(&self, model: &ModelName) -> bool {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner).contains(model)
    }

    pub(crate) fn output_limit(&self, model: &ModelName, request: &ChatRequest) -> u32 {
        let facts = self.facts(model);
        output_limit(request.max_output_tokens.or(self.settings.default_max_output_tokens), facts)
    }

    fn corrections(&self) -> MutexGuard<'_, BTreeMap<ModelName, Corrections>> {
        self.corrections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers by how much a model's counts exceed ours.
    pub(crate) fn learn(&self, model: &ModelName, estimate: u64, output_limit: u32, used: &Usage) {
        let mut corrections = self.corrections();
        let corrections = corrections.entry(model.clone()).or_default();
        corrections.input.learn(estimate, used.input_tokens);
        corrections.output.learn(u64::from(output_limit), used.output_tokens);
    }

    /// The worst case of a prompt estimated at `estimate`, corrected by what was learnt.
    pub(crate) fn worst_case(&self, model: &ModelName, estimate: u64, output_limit: u32) -> WorstCase {
        let learnt = self.corrections().get(model).copied().unwrap_or_default();
        let mut worst = WorstCase {
            input_tokens: learnt.input.of(estimate),
            output_tokens: learnt.output.of(u64::from(output_limit)),
            cost: None,
        };
        let prices = self.facts(model).prices;
        worst.cost = prices.map(|prices| prices.most(worst.input_tokens, worst.output_tokens));
        worst
    }
}

fn unknown_provider(provider: &str, settings: &Settings) -> Error {
    let known: Vec<&str> = settings
        .endpoints
        .keys()
        .map(String::as_str)
        .chain([playbook::PROVIDER, recording::PROVIDER])
        .collect();
    let nearest = podium_types::nearest::nearest(provider, known.iter().copied());
    let hint = match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!(
            "known providers: {}; describe another one in a file of models (`--models FILE`), or reach a server that \
             speaks the OpenAI protocol as `openai/NAME` with OPENAI_BASE_URL set",
            known.join(", ")
        ),
    };
    Error::Configuration { problem: format!("there is no model provider `{provider}`"), hint }
}

/// How long an answer may be where so much was asked for.
fn output_limit(asked: Option<u32>, facts: &ModelFacts) -> u32 {
    // What is left of a small window is the prompt's: with less no prompt would fit, however short.
    let half = facts.context_window.map_or(u32::MAX, |window| u32::try_from(window / 2).unwrap_or(u32::MAX));
    // The Responses API takes no smaller limit.
    let least = if facts.api == Api::Responses { 16 } else { 1 };
    let most = facts.output_limit.unwrap_or(u32::MAX).min(half);
    asked.unwrap_or(facts.max_output_tokens).min(most).max(least)
}

/// An address of this machine to which nothing is said by TLS.
fn is_near(base_url: &str) -> bool {
    let Some(rest) = base_url.strip_prefix("http://") else { return false };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => place.split(':').next(),
    };
    matches!(host, Some("127.0.0.1" | "localhost" | "::1"))
}

fn check_url(provider: &str, endpoint: &Endpoint) -> Result<(), Error> {
    let variable = &endpoint.base_url_variable;
    let Some(base_url) = &endpoint.base_url else {
        return Err(Error::Configuration {
            problem: format!("`{provider}` has no address"),
            hint: format!("set {variable} in the environment or in a `.env` file"),
        });
    };
    if crate::catalog_check::is_address(base_url) {
        return Ok(());
    }
    Err(Error::Configuration {
        problem: format!(
            "the base URL of `{provider}` is no http or https address without a password or a query"
        ),
        hint: format!(
            "set {variable} to an address such as `http://127.0.0.1:8080/v1`; keys have variables of their own"
        ),
    })
}

fn check_key(provider: &str, endpoint: &Endpoint) -> Result<(), Error> {
    let variable = &endpoint.key_variable;
    match &endpoint.key {
        None if endpoint.key_required => Err(Error::Configuration {
            problem: format!("no key for `{provider}`"),
            hint: format!(
                "set {variable} in the environment or in a `.env` file; for a local server without keys set \
                 {}; without either, try the stand-in model `playbook/default`",
                endpoint.base_url_variable
            ),
        }),
        Some(key) if ::http::HeaderValue::from_str(key.expose()).is_err() => Err(Error::Configuration {
            problem: format!("{variable} holds characters that cannot be sent in a header"),
            hint: format!("set {variable} again, without line breaks and quotes"),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelFacts, is_near, output_limit};
    use crate::catalog::Api;

    #[test]
    fn an_answer_leaves_room_for_the_prompt() {
        for (asked, window, limit, expected) in [
            (Some(16_384), None, None, 16_384),
            (Some(16_384), Some(128_000), None, 16_384),
            (Some(16_384), Some(128_000), Some(4_096), 4_096),
            (Some(16_384), Some(8_192), None, 4_096),
            (Some(16_384), Some(8_192), Some(8_192), 4_096),
            (Some(100), Some(8_192), None, 100),
            (Some(100), Some(0), None, 1),
            (None, Some(200), None, 100),
            (None, Some(u64::MAX), None, 1_000),
        ] {
            let base = ModelFacts { max_output_tokens: 1_000, ..ModelFacts::default() };
            let facts = ModelFacts { context_window: window, output_limit: limit, ..base };
            assert_eq!(output_limit(asked, &facts), expected, "{asked:?} {window:?} {limit:?}");
        }
        let facts = ModelFacts { api: Api::Responses, ..ModelFacts::default() };
        assert_eq!(output_limit(Some(1), &facts), 16);
    }

    #[test]
    fn what_is_near() {
        for near in
            ["http://127.0.0.1:8080/v1", "http://localhost", "http://[::1]:1/v1", "http://localhost/v1"]
        {
            assert!(is_near(near), "{near}");
        }
        let far = [
            "https://127.0.0.1/v1",
            "http://10.0.0.1:80",
            "http://localhost.org",
            "http://[::2]:1",
            "localhost",
            "",
        ];
        for far in far {
            assert!(!is_near(far), "{far}");
        }
    }
}
