//! A service of the harness for the program inside: whole requests below one path, whole answers.
//!
//! The port's server reads a request within its bounds and hands it over; what it means, the service alone knows. What is
//! refused before it comes so far is put into the service's own words.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

/// Says what comes of a request. Dropping the future forgets it.
pub type Answering =
    dyn Fn(ServiceRequest) -> Pin<Box<dyn Future<Output = ServiceAnswer> + Send>> + Send + Sync;

/// A service that the program of a job can ask at `http://127.0.0.1:5000`.
#[derive(Clone)]
pub struct Service {
    /// Paths that begin with this are its own, such as `/v1/`.
    pub prefix: &'static str,
    /// Who answers.
    pub answering: Arc<Answering>,
    /// How it says no, by the HTTP status and the reason.
    pub refusing: fn(u16, &str) -> ServiceAnswer,
    /// A larger body is refused unread.
    pub max_bytes: u64,
    /// Bodies of requests that are not answered yet, together: the next one waits.
    pub max_bytes_at_work: u32,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("prefix", &self.prefix)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// A whole request. Whoever made it is hostile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRequest {
    /// The method, as it was sent.
    pub method: String,
    /// The path, without a query.
    pub path: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub kind: &'static str,
    /// One more header.
    pub header: Option<(&'static str, &'static str)>,
    /// The body.
    pub body: String,
}
