//! The OpenAI chat completions protocol, against any server that speaks it.
//!
//! async-openai carries the request and parses the event stream; the types on the wire are our own, because servers
//! vary more than its types allow. See `exchange` for what happens below it, `assembly` for what is made of the
//! pieces, `complaint` for what errors mean.

mod assembly;
mod body;
mod complaint;
mod exchange;
mod headers;
mod mend;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use self::assembly::Assembly;
use self::complaint::Sent;
use self::exchange::{Exchange, Limits, Service, causes};
use super::{Answered, Attempt, Failed, Provider};
use crate::catalog::ModelFacts;
use crate::error::{Error, ServiceFailure};
use crate::ledger::Settled;
use crate::secret::Secret;
use crate::settings::{Endpoint, Settings};

/// How long a finished answer waits for its usage, which comes in a chunk of its own or never.
const USAGE_GRACE: Duration = Duration::from_secs(3);

/// The HTTP client that all providers share.
pub(crate) fn http_client(settings: &Settings) -> Result<reqwest::Client, Error> {
    // Fails only when a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder()
        .connect_timeout(settings.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("podium/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| Error::Configuration {
            problem: format!("the HTTP client cannot be set up: {}", causes(&error)),
            hint: "install the system's root certificates (Debian: `apt-get install ca-certificates`)"
                .to_owned(),
        })
}

/// One endpoint.
pub(crate) struct OpenAi<'a> {
    http: reqwest::Client,
    endpoint: &'a Endpoint,
    facts: &'a ModelFacts,
    limits: Limits,
}

impl<'a> OpenAi<'a> {
    pub(crate) fn new(
        http: reqwest::Client,
        endpoint: &'a Endpoint,
        facts: &'a ModelFacts,
        settings: &Settings,
    ) -> Self {
        let limits =
            Limits { stall_timeout: settings.stall_timeout, max_body_bytes: settings.max_body_bytes };
        Self { http, endpoint, facts, limits }
    }

    /// async-openai's client for one try. Every variable it would read from the environment is set here.
    fn protocol(&self, exchange: &Arc<Exchange>) -> async_openai::Client<OpenAIConfig> {
        let config = OpenAIConfig::new()
            .with_api_base(self.endpoint.base_url.clone())
            .with_api_key(self.endpoint.key.as_ref().map(Secret::expose).unwrap_or_default())
            .with_org_id(self.endpoint.organization.clone())
            .with_project_id(self.endpoint.project.clone());
        let service =
            Service { http: self.http.clone(), exchange: Arc::clone(exchange), limits: self.limits };
        async_openai::Client::build(self.http.clone(), config).with_http_service(service)
    }

    async fn send(&self, attempt: &Attempt<'_>) -> Result<Answered, Failed> {
        let wire = wire::request(attempt, self.endpoint.official);
        let sent = Sent {
            wire: &wire,
            facts: self.facts,
            input_estimate: attempt.input_estimate,
            output_limit: attempt.output_limit,
        };
        let exchange = Arc::new(Exchange::default());
        let protocol = self.protocol(&exchange);
        let opened = protocol.chat().create_stream_byot::<_, Value>(&wire).await;
        let mut stream = opened.map_err(|error| explain(&exchange, &error, &sent))?;
        let mut assembly = Assembly::default();
        let mut first = true;
        while !assembly.complete() {
            let next = if assembly.finished() {
                tokio::time::timeout(USAGE_GRACE, stream.next()).await.unwrap_or_default()
            } else {
                stream.next().await
            };
            let value = match next {
                Some(Ok(value)) => value,
                Some(Err(error)) if !assembly.finished() => return Err(explain(&exchange, &error, &sent)),
                Some(Err(_)) | None => break,
            };
            if std::mem::take(&mut first) {
                (attempt.first_byte)();
            }
            if let Some(failed) = complaint::inside(&value, &sent).filter(|_| !assembly.finished()) {
                return Err(failed);
            }
            assembly.add(&value);
        }
        assembly.answer(|shown, reasoning| attempt.estimated(shown, reasoning))
    }
}

impl Provider for OpenAi<'_> {
    fn attempt<'a>(&'a self, attempt: &'a Attempt<'a>) -> BoxFuture<'a, Result<Answered, Failed>> {
        Box::pin(self.send(attempt))
    }
}

/// The failure behind an error of async-openai: what the exchange left, or what the parser says.
fn explain(exchange: &Exchange, error: &OpenAIError, sent: &Sent<'_>) -> Failed {
    if let Some(refusal) = exchange.take_refusal() {
        return complaint::read(&refusal, sent);
    }
    if let Some(failed) = exchange.take_failed() {
        return failed;
    }
    let message = match error {
        OpenAIError::JSONDeserialize(error, content) => {
            format!("the answer is not JSON ({error}): {}", complaint::cut(content))
        }
        OpenAIError::Reqwest(error) if error.is_builder() => {
            let message = format!("the request cannot be built: {}", causes(error));
            return Failed::service(ServiceFailure::Network, Settled::NotBilled, message);
        }
        other => complaint::cut(&causes(other)),
    };
    Failed::service(ServiceFailure::BadAnswer, Settled::Unknown, message)
}
