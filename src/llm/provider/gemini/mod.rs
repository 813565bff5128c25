//! Google's native protocol: `streamGenerateContent`, against Google or a proxy that speaks it.
//!
//! A conversation is turns of parts (text, calls, responses); a part may carry a signature of the thoughts behind it,
//! and then it goes back unchanged with its turn (`parts`).

mod assembly;
mod contents;
mod errors;
mod parts;
mod thinking;
mod usage;
mod wire;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::HeaderName;
use serde_json::Value;

use self::assembly::GeminiAssembly;
use self::errors::ERRORS;
use crate::catalog::ModelFacts;
use crate::endpoint::Endpoint;
use crate::provider::http::{Assembly, Connection, ErrorDialect, Exchange, Outgoing, Pieces, Wire, post};
use crate::provider::{Attempt, Failed};
use crate::secret::Secret;

/// The key goes into this header, never into the address, which proxies write into their logs.
const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Gemini at one endpoint, for a model of which `facts` are known.
pub(crate) struct Gemini<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) facts: ModelFacts,
}

impl Wire for Gemini<'_> {
    fn body(&self, attempt: &Attempt<'_>) -> Value {
        wire::request(attempt, &self.facts)
    }

    fn open<'a>(
        &'a self,
        connection: &'a Connection,
        exchange: &'a Arc<Exchange>,
        attempt: &'a Attempt<'a>,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Pieces, Failed>> {
        let base_url = self.endpoint.base_url.as_deref().unwrap_or_default();
        let key = self.endpoint.key.as_ref().map(Secret::expose);
        let outgoing = Outgoing {
            url: wire::address(base_url, &attempt.model.model),
            headers: key.map(|key| (KEY_HEADER, key.to_owned())).into_iter().collect(),
        };
        Box::pin(post(connection, exchange, outgoing, body))
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(GeminiAssembly::default())
    }

    fn errors(&self) -> &'static ErrorDialect {
        &ERRORS
    }
}
