//! What a protocol is to the rest of the client.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::Value;

use super::complaint::ErrorDialect;
use super::exchange::{Connection, Exchange};
use crate::provider::{Answered, Attempt, Failed};

/// The pieces of an answer, as they come: events of a stream, or one whole body. An error is why they broke off,
/// unless the exchange knows better.
pub(crate) type Pieces = BoxStream<'static, Result<Value, Failed>>;

/// One protocol.
pub(crate) trait Wire: Send + Sync {
    /// The body to send.
    fn body(&self, attempt: &Attempt<'_>) -> Value;

    /// Sends `body` once. What went wrong below, if anything did, is left in `exchange`.
    fn open<'a>(
        &'a self,
        connection: &'a Connection,
        exchange: &'a Arc<Exchange>,
        attempt: &'a Attempt<'a>,
        body: &'a Value,
    ) -> BoxFuture<'a, Result<Pieces, Failed>>;

    /// An answer without any pieces yet.
    fn assembly(&self) -> Box<dyn Assembly>;

    /// How this protocol complains.
    fn errors(&self) -> &'static ErrorDialect;
}

/// An answer in the making. Pieces may have any shape: what it does not know it leaves out, and it never panics.
pub(crate) trait Assembly: Send {
    /// Adds a piece: an event, or a whole body.
    fn add(&mut self, piece: &Value);

    /// Whether `piece` would make the answer longer. Asked of those that may come behind a finish reason, so only a
    /// protocol whose finish reason may come early says so.
    fn adds(&self, _piece: &Value) -> bool {
        false
    }

    /// The model is done; only a usage may follow. An error after this is none.
    fn finished(&self) -> bool;

    /// Nothing more can follow: the rest of the stream is not waited for.
    fn complete(&self) -> bool;

    /// The answer, if it is whole. A stream that ended before its finish reason is cut, whatever it told on the way.
    fn answer(self: Box<Self>, attempt: &Attempt<'_>) -> Result<Answered, Failed>;
}
