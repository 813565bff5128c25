//! Sending for the protocols that no library carries for us: one POST, and its events.

use std::sync::Arc;

use eventsource_stream::Eventsource;
use futures_util::{StreamExt, future};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::complaint::cut;
use super::exchange::{Connection, Exchange, Service, causes};
use super::wire::Pieces;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::Failed;

/// What is sent, beside the body.
pub(crate) struct Outgoing {
    pub(crate) url: String,
    /// Headers beside the content type. A key's value must not be logged: it is marked as sensitive.
    pub(crate) headers: Vec<(HeaderName, String)>,
}

/// Posts `body` once and hands its events on, each as JSON; events without data are left out.
pub(crate) async fn post(
    connection: &Connection,
    exchange: &Arc<Exchange>,
    outgoing: Outgoing,
    body: &Value,
) -> Result<Pieces, Failed> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    for (name, value) in outgoing.headers {
        let mut value =
            HeaderValue::from_str(&value).map_err(|_| unsendable("a header holds a line break"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let request = connection.http.post(outgoing.url).headers(headers).json(body).build();
    let request = request.map_err(|error| unsendable(&causes(&error.without_url())))?;
    let service = Service { connection: connection.clone(), exchange: Arc::clone(exchange) };
    // What failed is in the exchange.
    let response = service.exchange(request).await.map_err(|()| broken("the exchange failed"))?;
    let events = response.bytes_stream().eventsource();
    let pieces =
        events.filter_map(|event| {
            future::ready(match event {
                Ok(event) if event.data.trim().is_empty() || event.data.trim() == "[DONE]" => None,
                Ok(event) => Some(serde_json::from_str(&event.data).map_err(|error| {
                    broken(&format!("the answer is not JSON ({error}): {}", cut(&event.data)))
                })),
                Err(error) => Some(Err(broken(&error.to_string()))),
            })
        });
    Ok(pieces.boxed())
}

fn broken(message: &str) -> Failed {
    Failed::service(ServiceFailure::BadAnswer, Settled::Unknown, cut(message))
}

fn unsendable(problem: &str) -> Failed {
    let message = format!("the request cannot be built: {problem}");
    Failed::service(ServiceFailure::Network, Settled::NotBilled, message)
}
