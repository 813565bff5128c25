//! Why a chat failed, sorted by who can do something about it.
//!
//! A [`Error::Request`] is the request's own fault and goes to the strategy. [`Error::Denied`] is the budget.
//! [`Error::Service`] stops the run, resumably. [`Error::Configuration`] is found before anything is spent.
//! There is no error for cancelling: a chat is cancelled by dropping its future.

use std::time::Duration;

use podium_types::chat::ChatError;
use serde::{Deserialize, Serialize};

use crate::ledger::Denied;

/// A failed chat.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request itself cannot be answered; waiting does not help.
    #[error(transparent)]
    Request(#[from] ChatError),
    /// The ledger refused a try.
    #[error("the budget does not allow the next model call: {0}")]
    Denied(#[source] Denied),
    /// The model service failed for good, or for longer than we wait.
    #[error("model service `{provider}` failed ({kind}) after {tries} {}: {message}", plural(*.tries))]
    Service {
        /// The provider.
        provider: String,
        /// What failed at last.
        kind: ServiceFailure,
        /// How many tries were sent.
        tries: u32,
        /// The service's words or the transport's, secrets removed, cut short.
        message: String,
        /// How long the service asked us to wait, where it did.
        retry_after: Option<Duration>,
    },
    /// Something is missing or wrong on our side of the wire.
    #[error("{problem}")]
    Configuration {
        /// What.
        problem: String,
        /// What to do.
        hint: String,
    },
}

const fn plural(tries: u32) -> &'static str {
    if tries == 1 { "try" } else { "tries" }
}

impl Error {
    /// Whether the same chat may succeed later, with nothing changed on our side.
    pub const fn retryable(&self) -> bool {
        matches!(self, Self::Service { kind, .. } if kind.retryable())
    }

    /// What the user can do, where we know it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Request(_) => None,
            Self::Denied(_) => Some("raise the limit and resume the run".to_owned()),
            Self::Configuration { hint, .. } => Some(hint.clone()),
            Self::Service { .. } => Some(match self.remedy() {
                Some(remedy) => format!("{remedy}, then resume the run"),
                None => "resume the run later".to_owned(),
            }),
        }
    }

    /// What to do about a failed service, whether or not a run waits for it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Service { provider, kind, retry_after, .. } => kind.remedy(provider, *retry_after),
            Self::Request(_) | Self::Denied(_) | Self::Configuration { .. } => self.hint(),
        }
    }
}

/// What kind of service failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceFailure {
    /// The account's quota or credit is used up.
    Quota,
    /// The key is missing, wrong, or not allowed to do this (401, 403).
    Auth,
    /// No such model or address (404).
    NotFound,
    /// Too many requests or tokens for now (429).
    RateLimited,
    /// The server's own failure (5xx), or it asked to try again (408, 409, 425).
    Server,
    /// The connection could not be made, or was cut.
    Network,
    /// The server's certificate is not trusted.
    Certificate,
    /// There is no TLS where the address says https.
    Tls,
    /// A proxy stands between us and the service, and refuses.
    Proxy,
    /// No byte for longer than the stall time-out, or no whole answer within the call time-out.
    Stalled,
    /// An answer that cannot be read: invalid JSON, no choices, an HTML page, too many bytes.
    BadAnswer,
}

impl ServiceFailure {
    /// Whether waiting may help.
    pub const fn retryable(self) -> bool {
        !matches!(self, Self::Quota | Self::Auth | Self::NotFound | Self::Certificate | Self::Tls)
    }

    /// The name used in reports and trace attributes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Auth => "auth",
            Self::NotFound => "not_found",
            Self::RateLimited => "rate_limited",
            Self::Server => "server",
            Self::Network => "network",
            Self::Certificate => "certificate",
            Self::Tls => "tls",
            Self::Proxy => "proxy",
            Self::Stalled => "stalled",
            Self::BadAnswer => "bad_answer",
        }
    }

    fn remedy(self, provider: &str, retry_after: Option<Duration>) -> Option<String> {
        Some(match self {
            Self::Quota => format!("the quota of your `{provider}` account is used up; raise it"),
            Self::Auth => format!("check the key of `{provider}` in the environment"),
            Self::NotFound => format!("check the model's name and the base URL of `{provider}`"),
            Self::Network => format!(
                "check the base URL of `{provider}`, the network and the proxy settings (HTTPS_PROXY, HTTP_PROXY, \
                 NO_PROXY)"
            ),
            Self::Certificate => {
                "for an authority of your own set SSL_CERT_FILE to a file with its certificate (PEM) beside those \
                 you trust"
                    .to_owned()
            }
            Self::Tls => {
                format!("check the base URL of `{provider}`: a server without TLS is reached by http, not https")
            }
            Self::Proxy => "check HTTPS_PROXY and HTTP_PROXY; hosts of NO_PROXY are reached without a proxy".to_owned(),
            Self::RateLimited | Self::Server | Self::Stalled | Self::BadAnswer => {
                return retry_after.map(|delay| {
                    format!("wait {} s, as the service asks", delay.as_secs())
                });
            }
        })
    }
}

impl std::fmt::Display for ServiceFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Quota => "quota exhausted",
            Self::Auth => "not authorised",
            Self::NotFound => "not found",
            Self::RateLimited => "rate limited",
            Self::Server => "server error",
            Self::Network => "network",
            Self::Certificate => "certificate",
            Self::Tls => "no TLS",
            Self::Proxy => "proxy",
            Self::Stalled => "stalled",
            Self::BadAnswer => "unreadable answer",
        })
    }
}
