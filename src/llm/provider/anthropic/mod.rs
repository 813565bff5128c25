//! Anthropic's Messages API.
//!
//! `turns` puts a conversation into the form that the API demands, `wire` adds what the request asks for, `schema`
//! cuts output schemas to what the API enforces, `assembly` hears the answer and `usage` its counts, `state` carries signed thinking from
//! an answer to the next request (behind an unchanged `prefix`), `errors` says what complaints mean. Retries and prices are not known here.

mod assembly;
mod errors;
mod prefix;
mod schema;
mod state;
mod turns;
mod usage;
mod wire;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::header::HeaderName;
use serde_json::Value;

use self::assembly::MessageAssembly;
use crate::catalog::Thinking;
use crate::endpoint::Endpoint;
use crate::provider::http::{Assembly, Connection, ErrorDialect, Exchange, Outgoing, Pieces, Wire, post};
use crate::provider::{Attempt, Failed};

/// The version of the API that this speaks; it has had no other since 2023.
const VERSION: &str = "2023-06-01";

/// The Messages API at one endpoint.
pub(crate) struct Messages<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) thinking: Thinking,
}

impl Messages<'_> {
    /// Addresses are told with and without the version in their path.
    fn url(&self) -> String {
        let base = self.endpoint.base_url.as_deref().unwrap_or_default();
        let version = if base.ends_with("/v1") { "" } else { "/v1" };
        format!("{base}{version}/messages")
    }
}

impl Wire for Messages<'_> {
    fn body(&self, attempt: &Attempt<'_>) -> Value {
        wire::request(attempt, self.thinking)
    }

    fn open<'a>(
        &'a self,
        connection: &'a Connection,
        exchange: &'a Arc<Exchange>,
        _attempt: &'a Attempt<'a>,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Pieces, Failed>> {
        let mut headers = vec![(HeaderName::from_static("anthropic-version"), VERSION.to_owned())];
        if let Some(key) = &self.endpoint.key {
            headers.push((HeaderName::from_static("x-api-key"), key.expose().to_owned()));
        }
        Box::pin(post(connection, exchange, Outgoing { url: self.url(), headers }, body))
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(MessageAssembly::new(self.thinking))
    }

    fn errors(&self) -> &'static ErrorDialect {
        &errors::ERRORS
    }
}
