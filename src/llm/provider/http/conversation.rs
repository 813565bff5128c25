//! One try over HTTP: send, take the pieces as they come, and make an answer or a failure of them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::complaint::{self, Sent};
use super::exchange::{Connection, Exchange};
use super::wire::Wire;
use crate::catalog::ModelFacts;
use crate::provider::{Answered, Attempt, Failed, Provider};

/// How long a finished answer waits for its usage, which comes in a piece of its own or never. Without it a model that
/// thinks is charged its whole output limit, so patience is cheap; but pieces that add nothing do not prolong it, or
/// a server that never ends its stream would have a paid answer time out.
const USAGE_GRACE: Duration = Duration::from_secs(10);

/// A provider that speaks `wire`.
pub(crate) struct Conversation<'a> {
    pub(crate) wire: Box<dyn Wire + 'a>,
    pub(crate) facts: &'a ModelFacts,
    pub(crate) connection: Connection,
}

impl Conversation<'_> {
    async fn send(&self, attempt: &Attempt<'_>) -> Result<Answered, Failed> {
        let body = self.wire.body(attempt);
        let sent = Sent {
            body: &body,
            dialect: self.wire.errors(),
            facts: self.facts,
            input_estimate: attempt.input_estimate,
            output_limit: attempt.output_limit,
        };
        let exchange = Arc::new(Exchange::default());
        let opened = self.wire.open(&self.connection, &exchange, attempt, &body).await;
        (attempt.limits)(&exchange.limits());
        let mut pieces = opened.map_err(|failed| explain(&exchange, failed, &sent))?;
        let mut assembly = self.wire.assembly();
        let mut first = true;
        // Set once the answer is finished.
        let mut patience: Option<Instant> = None;
        while !assembly.complete() {
            let next = match patience {
                Some(end) => tokio::time::timeout_at(end, pieces.next()).await.unwrap_or_default(),
                None => pieces.next().await,
            };
            let piece = match next {
                Some(Ok(piece)) => piece,
                Some(Err(failed)) if !assembly.finished() => return Err(explain(&exchange, failed, &sent)),
                Some(Err(_)) | None => break,
            };
            exchange.taken();
            if std::mem::take(&mut first) {
                (attempt.first_byte)();
            }
            if let Some(failed) = complaint::inside(&piece, &sent).filter(|_| !assembly.finished()) {
                return Err(failed);
            }
            let grew = assembly.adds(&piece);
            assembly.add(&piece);
            if assembly.finished() && (grew || patience.is_none()) {
                patience = Some(Instant::now() + USAGE_GRACE);
            }
        }
        assembly.answer(attempt)
    }
}

impl Provider for Conversation<'_> {
    fn attempt<'a>(&'a self, attempt: &'a Attempt<'a>) -> BoxFuture<'a, Result<Answered, Failed>> {
        Box::pin(self.send(attempt))
    }
}

/// The failure behind a broken stream: what the exchange left, or what the protocol's parser says.
fn explain(exchange: &Exchange, failed: Failed, sent: &Sent<'_>) -> Failed {
    if let Some(refusal) = exchange.take_refusal() {
        return complaint::read(&refusal, sent);
    }
    exchange.take_failed().unwrap_or(failed)
}
