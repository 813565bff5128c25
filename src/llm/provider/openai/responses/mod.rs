//! The Responses API. Nothing is stored at the service: what a later turn needs travels with it.

mod assembly;
mod items;
mod wire;

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use self::assembly::ResponsesAssembly;
use super::carrier;
use super::errors::RESPONSES_ERRORS;
use crate::catalog::Api;
use crate::endpoint::Endpoint;
use crate::provider::http::{Assembly, Connection, ErrorDialect, Exchange, Pieces, Wire};
use crate::provider::{Attempt, Failed};

/// The Responses API at one endpoint.
pub(crate) struct Responses<'a> {
    pub(crate) endpoint: &'a Endpoint,
}

impl Wire for Responses<'_> {
    fn body(&self, attempt: &Attempt<'_>) -> Value {
        wire::request(attempt)
    }

    fn open<'a>(
        &'a self,
        connection: &'a Connection,
        exchange: &'a Arc<Exchange>,
        attempt: &'a Attempt<'a>,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Pieces, Failed>> {
        Box::pin(async move {
            let client = carrier::client(self.endpoint, attempt.model, Api::Responses, connection, exchange);
            let opened = client.responses().create_stream_byot::<_, Value>(body).await;
            let stream = opened.map_err(|error| carrier::failed(&error))?;
            Ok(stream.map(|piece| piece.map_err(|error| carrier::failed(&error))).boxed())
        })
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(ResponsesAssembly::default())
    }

    fn errors(&self) -> &'static ErrorDialect {
        &RESPONSES_ERRORS
    }
}
