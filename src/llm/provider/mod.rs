//! What the client asks of a provider: one try, sent once, answered or failed. Retries, downgrades, budgets, schema
//! checks and waiting are not a provider's business.

mod anthropic;
mod gemini;
pub(crate) mod http;
mod openai;
pub(crate) mod playbook;
pub(crate) mod replay;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::BoxFuture;
use podium_types::chat::{ChatError, ChatRequest, FinishReason, OutputSchema, TokenLogprob, ToolCall};
use podium_types::usage::Usage;
use serde::Deserialize;
use serde::de::value::StrDeserializer;

use crate::catalog::{Api, ModelFacts};
use crate::endpoint::{Endpoint, Protocol};
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::model::ModelName;
use crate::pace::ToldLimits;

/// Something a model may turn out not to take. Told by the catalog, given by the protocol, or learnt from a 400 and
/// kept for the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Parameter {
    Temperature,
    Seed,
    Stop,
    Effort,
    Schema,
    /// Strict enforcement of a schema, where the model takes the schema otherwise.
    StrictSchema,
    Tools,
    /// Calls of tools as text: it was asked for one and wrote none.
    ToolText,
    ToolChoice,
    OneToolCall,
    Logprobs,
    StreamOptions,
    /// The other name of the output limit (`max_tokens`, `max_completion_tokens`) is needed.
    OutputLimitName,
    /// Reasoning in summary, for a reader.
    ReasoningSummary,
    /// Reasoning as the provider wants it back.
    ReasoningState,
}

impl Parameter {
    /// The parameter of this name in a journal; `None` for one that this version does not know.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::deserialize(StrDeserializer::<serde::de::value::Error>::new(name)).ok()
    }

    /// Its name in journals and messages.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::Seed => "seed",
            Self::Stop => "stop",
            Self::Effort => "effort",
            Self::Schema => "schema",
            Self::StrictSchema => "strict_schema",
            Self::Tools => "tools",
            Self::ToolText => "tools_as_text",
            Self::ToolChoice => "tool_choice",
            Self::OneToolCall => "one_tool_call",
            Self::Logprobs => "logprobs",
            Self::StreamOptions => "stream_options",
            Self::OutputLimitName => "output_limit_name",
            Self::ReasoningSummary => "reasoning_summary",
            Self::ReasoningState => "reasoning_state",
        }
    }
}

/// What a protocol has no word for, whatever the model.
pub(crate) const fn lacks(protocol: Protocol, api: Api) -> &'static [Parameter] {
    match (protocol, api) {
        (Protocol::OpenAi | Protocol::Azure, Api::ChatCompletions) => &[],
        (Protocol::OpenAi | Protocol::Azure, Api::Responses) => &[Parameter::Seed, Parameter::Stop],
        (Protocol::Anthropic, _) => &[Parameter::Seed, Parameter::Logprobs],
        (Protocol::Gemini, _) => &[Parameter::OneToolCall],
    }
}

/// What a model does without.
pub(crate) type Without = BTreeSet<Parameter>;

/// One try. The request is already cut to what the model takes.
pub(crate) struct Attempt<'a> {
    pub(crate) model: &'a ModelName,
    pub(crate) request: &'a ChatRequest,
    pub(crate) output_limit: u32,
    pub(crate) without: &'a Without,
    /// The document that was asked for, also where its schema had to go into the prompt.
    pub(crate) wanted: Option<&'a OutputSchema>,
    /// Upper estimate of the prompt's tokens, for a server that sends no usage.
    pub(crate) input_estimate: u64,
    /// The model may think where we cannot see it, so the text of an answer does not bound its tokens.
    pub(crate) thinks: bool,
    /// Called once, when the first piece of the answer arrives.
    pub(crate) first_byte: &'a (dyn Fn() + Send + Sync),
    /// Called when the service has told its limits, with an answer or a refusal.
    pub(crate) limits: &'a (dyn Fn(&ToldLimits) + Send + Sync),
}

impl Attempt<'_> {
    /// Usage for a server that tells none, from above: the prompt's estimate, and what the answer shows; for a model
    /// that may have thought unseen the whole output limit, so that no budget is undercut.
    pub(crate) fn estimated(&self, shown_tokens: u64, reasoning_tokens: u64) -> Usage {
        let least = if self.thinks { u64::from(self.output_limit) } else { 0 };
        Usage {
            input_tokens: self.input_estimate,
            output_tokens: shown_tokens.saturating_add(reasoning_tokens).max(least),
            reasoning_tokens,
            estimated: true,
            ..Usage::default()
        }
    }
}

/// A whole answer. Its usage has a cost only where the provider told one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answered {
    pub(crate) content: String,
    pub(crate) reasoning: Option<String>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) logprobs: Vec<TokenLogprob>,
    pub(crate) finish: FinishReason,
    pub(crate) usage: Usage,
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    /// See [`podium_types::chat::ChatAnswer::provider_state`].
    pub(crate) provider_state: Option<Box<serde_json::Value>>,
}

impl Answered {
    /// Neither text nor calls, though the model says it was done.
    pub(crate) fn is_empty(&self) -> bool {
        self.content.trim().is_empty() && self.tool_calls.is_empty() && self.finish == FinishReason::Stop
    }
}

/// An id for call number `position`, other than those that are `taken`.
pub(crate) fn made_up_id(position: usize, taken: &BTreeSet<String>) -> String {
    // One of so many names is free.
    let mut names = (position..=position + taken.len()).map(|number| format!("call_{number}"));
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Why a try failed, and who acts on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cause {
    Service(ServiceFailure),
    Unsupported(Parameter),
    Request(Box<ChatError>),
}

/// A failed try.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failed {
    pub(crate) cause: Cause,
    pub(crate) status: Option<u16>,
    pub(crate) settled: Settled,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
    /// The service says that trying again is of no use.
    pub(crate) hopeless: bool,
}

impl Failed {
    pub(crate) fn service(kind: ServiceFailure, settled: Settled, message: impl Into<String>) -> Self {
        Self {
            cause: Cause::Service(kind),
            status: None,
            settled,
            message: message.into(),
            retry_after: None,
            hopeless: false,
        }
    }
}

/// What `endpoint` speaks, for a model of which `facts` are known.
pub(crate) fn wire<'a>(endpoint: &'a Endpoint, facts: &ModelFacts) -> Box<dyn http::Wire + 'a> {
    match (endpoint.protocol, facts.api) {
        (Protocol::OpenAi | Protocol::Azure, Api::ChatCompletions) => {
            Box::new(openai::ChatCompletions { endpoint })
        }
        (Protocol::Gemini, _) => Box::new(gemini::Gemini { endpoint, facts: facts.clone() }),
        (Protocol::Anthropic, _) => Box::new(anthropic::Messages { endpoint, thinking: facts.thinking }),
        (Protocol::OpenAi | Protocol::Azure, Api::Responses) => Box::new(openai::Responses { endpoint }),
    }
}

/// A service, or its stand-in.
pub(crate) trait Provider: Send + Sync {
    /// Sends one try.
    fn attempt<'a>(&'a self, attempt: &'a Attempt<'a>) -> BoxFuture<'a, Result<Answered, Failed>>;
}

/// Runs `act` with an attempt about nothing, for tests of assemblies: 10 prompt tokens, an output limit of 101, and a
/// model that thinks.
#[cfg(test)]
pub(crate) fn trial<T>(act: impl FnOnce(&Attempt<'_>) -> T) -> T {
    act(&Attempt {
        model: &ModelName { provider: "any".into(), model: "any".into() },
        request: &ChatRequest::default(),
        output_limit: 101,
        without: &Without::new(),
        wanted: None,
        input_estimate: 10,
        thinks: true,
        first_byte: &|| (),
        limits: &|_| (),
    })
}
