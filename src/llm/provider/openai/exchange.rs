//! One HTTP exchange: the tower service that async-openai sends through, and what it leaves behind.
//!
//! async-openai drops headers and turns errors into strings, so the service keeps what matters (status,
//! Retry-After, why a body broke off) in an [`Exchange`] of its own for each try. It never retries.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures_util::future::BoxFuture;
use http::header::AUTHORIZATION;

use super::{body, headers};
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::Failed;

/// What a single exchange may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) stall_timeout: Duration,
    pub(super) max_body_bytes: u64,
}

/// A status that is no success, and what came with it.
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: String,
}

/// What an exchange left behind.
#[derive(Default)]
pub(super) struct Exchange {
    left: Mutex<Left>,
}

#[derive(Default)]
struct Left {
    refusal: Option<Refusal>,
    failed: Option<Failed>,
}

impl Exchange {
    pub(super) fn fail(&self, failed: Failed) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).failed = Some(failed);
    }

    fn refuse(&self, refusal: Refusal) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).refusal = Some(refusal);
    }

    pub(super) fn take_refusal(&self) -> Option<Refusal> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).refusal.take()
    }

    pub(super) fn take_failed(&self) -> Option<Failed> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).failed.take()
    }
}

/// The service for one try.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) http: reqwest::Client,
    pub(super) exchange: Arc<Exchange>,
    pub(super) limits: Limits,
}

/// Bytes kept of an error's body.
const ERROR_BYTES: usize = 16 << 10;

impl tower::Service<HttpRequestFactory> for Service {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<reqwest::Response, OpenAIError>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { service.exchange(factory).await })
    }
}

impl Service {
    async fn exchange(self, factory: HttpRequestFactory) -> Result<reqwest::Response, OpenAIError> {
        let mut request = factory.build().await?;
        hide_key(&mut request);
        let mut response = match self.send(request).await {
            Ok(response) => response,
            Err(failed) => {
                self.exchange.fail(failed);
                return Err(left_behind());
            }
        };
        let status = response.status();
        if !status.is_success() {
            let retry_after = headers::retry_after(response.headers(), SystemTime::now());
            let body = self.error_body(&mut response).await;
            self.exchange.refuse(Refusal { status: status.as_u16(), retry_after, body });
            return Err(left_behind());
        }
        let events = body::events(response, self.exchange, self.limits);
        let mut events = http::Response::new(reqwest::Body::wrap_stream(events));
        *events.status_mut() = status;
        Ok(events.into())
    }

    async fn send(&self, request: reqwest::Request) -> Result<reqwest::Response, Failed> {
        let stall = self.limits.stall_timeout;
        match tokio::time::timeout(stall, self.http.execute(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                // Nothing was sent where no connection was made.
                let settled = if error.is_connect() { Settled::NotBilled } else { Settled::Unknown };
                Err(Failed::service(ServiceFailure::Network, settled, causes(&error.without_url())))
            }
            Err(_) => {
                let message = format!("no answer began within the stall time-out of {stall:?}");
                Err(Failed::service(ServiceFailure::Stalled, Settled::Unknown, message))
            }
        }
    }

    /// The head of an error's body; what cannot be read is left out, for the status says enough.
    async fn error_body(&self, response: &mut reqwest::Response) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < ERROR_BYTES {
            match tokio::time::timeout(self.limits.stall_timeout, response.chunk()).await {
                Ok(Ok(Some(chunk))) => bytes.extend_from_slice(&chunk),
                _ => break,
            }
        }
        bytes.truncate(ERROR_BYTES);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Marks the key as not to be logged; takes the header off where there is no key.
fn hide_key(request: &mut reqwest::Request) {
    let headers = request.headers_mut();
    match headers.get_mut(AUTHORIZATION) {
        Some(value) if value.as_bytes().trim_ascii_end() == b"Bearer" => drop(headers.remove(AUTHORIZATION)),
        Some(value) => value.set_sensitive(true),
        None => {}
    }
}

/// The error given to async-openai when the true one lies in the exchange.
fn left_behind() -> OpenAIError {
    OpenAIError::Boxed("see the exchange".into())
}

/// An error with its causes, for reqwest's own text stops at "error sending request".
pub(super) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
