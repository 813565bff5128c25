//! Chat completions.

mod assembly;
mod reasoning;
mod wire;

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use self::assembly::ChatAssembly;
pub(super) use self::wire::effort_name;
use super::{ERRORS, carrier};
use crate::catalog::Api;
use crate::endpoint::Endpoint;
use crate::provider::http::{Assembly, Connection, ErrorDialect, Exchange, Pieces, Wire};
use crate::provider::{Attempt, Failed};

/// Chat completions at one endpoint.
pub(crate) struct ChatCompletions<'a> {
    pub(crate) endpoint: &'a Endpoint,
}

impl Wire for ChatCompletions<'_> {
    fn body(&self, attempt: &Attempt<'_>) -> Value {
        wire::request(attempt, self.endpoint)
    }

    fn open<'a>(
        &'a self,
        connection: &'a Connection,
        exchange: &'a Arc<Exchange>,
        attempt: &'a Attempt<'a>,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Pieces, Failed>> {
        Box::pin(async move {
            let client =
                carrier::client(self.endpoint, attempt.model, Api::ChatCompletions, connection, exchange);
            let opened = client.chat().create_stream_byot::<_, Value>(body).await;
            let stream = opened.map_err(|error| carrier::failed(&error))?;
            Ok(stream.map(|piece| piece.map_err(|error| carrier::failed(&error))).boxed())
        })
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(ChatAssembly::new(self.endpoint.reasoning_back, self.endpoint.tells_cost))
    }

    fn errors(&self) -> &'static ErrorDialect {
        &ERRORS
    }
}
