//! An answer's body on its way from the server to the event parser: capped in bytes, watched for silence, and taken
//! apart into events before the parsers of libraries see it. They then get one small, plain event at a time, whose
//! form holds no surprise for them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};

use super::events::Events;
use super::exchange::{Connection, Exchange};
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::Failed;

struct Body {
    response: reqwest::Response,
    exchange: Arc<Exchange>,
    limits: Connection,
    events: Events,
    seen: u64,
    /// Events wait until there is room for them.
    bounded: bool,
    ended: bool,
}

/// A library that drops events would stop the stream for want of room: from then on it goes on without a bound.
const DROPPED: Duration = Duration::from_secs(5);

/// The body of `response` as events. Why it broke off, if it does, is left in `exchange`.
pub(super) fn events(
    response: reqwest::Response,
    exchange: Arc<Exchange>,
    limits: Connection,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    let body =
        Body { response, exchange, limits, events: Events::default(), seen: 0, bounded: true, ended: false };
    stream::unfold(body, |mut body| async move {
        if body.ended {
            return None;
        }
        match body.next().await {
            Ok(piece) => Some((Ok(piece), body)),
            Err(failed) => {
                body.ended = true;
                let error = std::io::Error::other(failed.message.clone());
                body.exchange.fail(failed);
                Some((Err(error), body))
            }
        }
    })
}

impl Body {
    /// The next event; an empty text at the end.
    async fn next(&mut self) -> Result<Bytes, Failed> {
        loop {
            if let Some(event) = self.events.next() {
                if self.bounded {
                    self.bounded = tokio::time::timeout(DROPPED, self.exchange.hand_on()).await.is_ok();
                }
                return Ok(event.into());
            }
            let Some(chunk) = self.read().await? else {
                self.ended = true;
                return Ok(self.events.last().unwrap_or_default().into());
            };
            self.events.add(&chunk);
        }
    }

    async fn read(&mut self) -> Result<Option<Bytes>, Failed> {
        let stall = self.limits.stall_timeout;
        let Ok(chunk) = tokio::time::timeout(stall, self.response.chunk()).await else {
            let message = format!("no byte for longer than the stall time-out of {stall:?}");
            return Err(Failed::service(ServiceFailure::Stalled, Settled::Unknown, message));
        };
        let chunk = chunk.map_err(|error| {
            let message = format!("the answer was cut: {}", error.without_url());
            Failed::service(ServiceFailure::Network, Settled::Unknown, message)
        })?;
        self.seen += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.seen > self.limits.max_body_bytes {
            let message = format!("the answer is longer than {} bytes", self.limits.max_body_bytes);
            return Err(Failed::service(ServiceFailure::BadAnswer, Settled::Unknown, message));
        }
        Ok(chunk)
    }
}
