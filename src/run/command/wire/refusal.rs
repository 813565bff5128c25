//! Errors as OpenAI's servers put them, so that its clients raise what they would raise there.

use podium_sandbox::ServiceAnswer;
use podium_types::chat::ChatError;
use serde_json::json;

use crate::run::stop::{Stop, StoppedBy};

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// OpenAI's word for the kind of error.
    pub kind: &'static str,
    /// OpenAI's word for the error itself.
    pub code: &'static str,
    /// The reason, for people.
    pub message: String,
}

impl Refusal {
    /// A request that cannot be read, or asks for what there is not.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, kind: "invalid_request_error", code: "invalid_request", message: message.into() }
    }

    /// A model that nobody has.
    pub fn unknown_model(name: &str, known: &[&str]) -> Self {
        let name: String = name.chars().take(100).collect();
        let known = known.join(", ");
        let message = format!("there is no model `{name}` here; names are {known}; see agent.aliases");
        Self { status: 404, kind: "invalid_request_error", code: "model_not_found", message }
    }

    /// By the harness's own server, before the request was read.
    pub fn by_status(status: u16, message: &str) -> ServiceAnswer {
        let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
        Self { status, kind, code: "invalid_request", message: message.to_owned() }.answer()
    }

    /// A limit of the run is reached. Clients that know the code do not try again.
    pub fn limit(why: &str) -> Self {
        let message = format!("the run's budget is used up: {why}");
        Self { status: 429, kind: "insufficient_quota", code: "insufficient_quota", message }
    }

    /// The call cannot be made, now or for good, and the run stops for it.
    pub fn stop(stop: &Stop) -> Self {
        match stop.by {
            StoppedBy::Dollars | StoppedBy::Tokens | StoppedBy::Steps | StoppedBy::Time => {
                Self::limit(&stop.detail)
            }
            _ => Self::service(&stop.detail),
        }
    }

    fn service(message: &str) -> Self {
        let message = message.to_owned();
        Self { status: 503, kind: "server_error", code: "service_unavailable", message }
    }

    /// A failure of the request itself.
    pub fn of(error: &ChatError) -> Self {
        match error {
            ChatError::ContextTooLong { .. } => {
                Self { code: "context_length_exceeded", ..Self::invalid(error.to_string()) }
            }
            ChatError::Refused { .. } | ChatError::InvalidSchema { .. } => Self::invalid(error.to_string()),
            ChatError::Service { message } => Self::service(message),
        }
    }

    /// As it is sent.
    pub fn answer(&self) -> ServiceAnswer {
        let Self { status, kind, code, message } = self;
        let body = json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
        // OpenAI's own clients read this; what the run waited for already is not worth another try.
        let header = (*status != 400).then_some(("x-should-retry", "false"));
        ServiceAnswer { status: *status, kind: "application/json", header, body: body.to_string() }
    }
}
