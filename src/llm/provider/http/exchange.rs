//! One HTTP exchange, and what it leaves behind.
//!
//! Whoever carries the protocol above may drop headers and turn errors into strings, so what matters (status,
//! Retry-After, why a body broke off) is kept in an [`Exchange`] of its own for each try. It never retries.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use super::{body, headers, network};
use crate::error::{Error, ServiceFailure};
use crate::ledger::Settled;
use crate::pace::ToldLimits;
use crate::provider::Failed;
use crate::settings::Settings;

/// How long an idle connection is kept. Common servers (uvicorn, Node) close theirs after 5 s; a request that goes out
/// on a connection which is just being closed fails as a cut one, and may count as billed.
const IDLE: Duration = Duration::from_secs(4);

/// The HTTP client of all providers.
pub(crate) fn client(settings: &Settings, with_certificates: bool) -> Result<reqwest::Client, Error> {
    // Fails only when a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = reqwest::Client::builder();
    let builder = if settings.no_proxy { builder.no_proxy() } else { builder };
    let builder = if with_certificates { builder } else { builder.tls_certs_only([]) };
    builder
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(IDLE)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("podium/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| Error::Configuration {
            problem: format!("the HTTP client cannot be set up: {}", causes(&error)),
            hint: "install the system's root certificates (Debian: `apt-get install ca-certificates`)"
                .to_owned(),
        })
}

/// The HTTP client, and what a single exchange may take.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) http: reqwest::Client,
    pub(super) stall_timeout: Duration,
    pub(super) max_body_bytes: u64,
}

impl Connection {
    pub(crate) fn new(http: reqwest::Client, settings: &Settings) -> Self {
        Self { http, stall_timeout: settings.stall_timeout, max_body_bytes: settings.max_body_bytes }
    }
}

/// A status that is no success, and what came with it.
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    /// The service says that trying again is of no use.
    pub(super) hopeless: bool,
    pub(super) body: String,
}

/// Events that may be under way between a body and the assembly. A library's queue in between has no bound of its own,
/// so a fast server would fill the memory with events that nobody has taken yet.
const UNDER_WAY: usize = 64;

/// What an exchange left behind.
pub(crate) struct Exchange {
    left: Mutex<Left>,
    room: Semaphore,
}

impl Default for Exchange {
    fn default() -> Self {
        Self { left: Mutex::default(), room: Semaphore::new(UNDER_WAY) }
    }
}

#[derive(Default)]
struct Left {
    refusal: Option<Refusal>,
    failed: Option<Failed>,
    limits: ToldLimits,
}

impl Exchange {
    pub(super) fn fail(&self, failed: Failed) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).failed = Some(failed);
    }

    fn told(&self, limits: ToldLimits) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).limits = limits;
    }

    fn refuse(&self, refusal: Refusal) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).refusal = Some(refusal);
    }

    /// Waits until one more event may be under way.
    pub(super) async fn hand_on(&self) {
        if let Ok(place) = self.room.acquire().await {
            place.forget();
        }
    }

    /// An event has come to its end.
    pub(super) fn taken(&self) {
        self.room.add_permits(1);
    }

    /// What the service told of its limits.
    pub(super) fn limits(&self) -> ToldLimits {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).limits
    }

    pub(super) fn take_refusal(&self) -> Option<Refusal> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).refusal.take()
    }

    pub(super) fn take_failed(&self) -> Option<Failed> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).failed.take()
    }
}

/// Sends the request of one try.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) connection: Connection,
    pub(crate) exchange: Arc<Exchange>,
}

/// Bytes kept of an error's body.
const ERROR_BYTES: usize = 16 << 10;

impl Service {
    /// The response, its body as events. What went wrong, if anything did, is left in the exchange.
    pub(crate) async fn exchange(self, request: reqwest::Request) -> Result<reqwest::Response, ()> {
        let mut response = self.send(request).await.map_err(|failed| self.exchange.fail(failed))?;
        let (status, now) = (response.status(), SystemTime::now());
        self.exchange.told(headers::limits(response.headers(), now));
        if !status.is_success() {
            let retry_after = headers::retry_after(response.headers(), now);
            let hopeless = headers::is_hopeless(response.headers());
            let elsewhere = status.is_redirection().then(|| headers::moved_to(response.headers())).flatten();
            let body = match elsewhere {
                Some(place) => format!("the address has moved to {place}"),
                None => self.error_body(&mut response).await,
            };
            self.exchange.refuse(Refusal { status: status.as_u16(), retry_after, hopeless, body });
            return Err(());
        }
        let events = body::events(response, self.exchange, self.connection);
        let mut events = http::Response::new(reqwest::Body::wrap_stream(events));
        *events.status_mut() = status;
        Ok(events.into())
    }

    async fn send(&self, request: reqwest::Request) -> Result<reqwest::Response, Failed> {
        let stall = self.connection.stall_timeout;
        match tokio::time::timeout(stall, self.connection.http.execute(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                // Nothing was sent where no connection was made.
                let settled = if error.is_connect() { Settled::NotBilled } else { Settled::Unknown };
                let (kind, message) = network::told(error);
                Err(Failed::service(kind, settled, message))
            }
            Err(_) => {
                let message = format!("no answer began within the stall time-out of {stall:?}");
                Err(Failed::service(ServiceFailure::Stalled, Settled::Unknown, message))
            }
        }
    }

    /// The head of an error's body, or what comes of it within the stall time-out; what cannot be read is left out,
    /// for the status says enough.
    async fn error_body(&self, response: &mut reqwest::Response) -> String {
        let mut bytes = Vec::new();
        let read = async {
            while bytes.len() < ERROR_BYTES
                && let Ok(Some(chunk)) = response.chunk().await
            {
                bytes.extend_from_slice(&chunk);
            }
        };
        drop(tokio::time::timeout(self.connection.stall_timeout, read).await);
        bytes.truncate(ERROR_BYTES);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// An error with its causes, for reqwest's own text stops at "error sending request".
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
