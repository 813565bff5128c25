//! How the Messages API complains: `{"type": "error", "error": {"type": ..., "message": ...}}`, with a status or
//! inside a stream.

use crate::error::ServiceFailure;
use crate::provider::Parameter;
use crate::provider::http::{Complaint, ErrorDialect};

/// The dialect.
pub(super) const ERRORS: ErrorDialect = ErrorDialect {
    parameters: &[
        // Thinking that came back is refused by some models when anything before it has changed.
        (
            Parameter::ReasoningState,
            "messages",
            &["signature", "cannot be modified", "different conversation"],
        ),
        (Parameter::Schema, "output_config.format", SCHEMA),
        (Parameter::Effort, "output_config.effort", &["output_config.effort", "effort"]),
        (Parameter::Effort, "thinking", &["thinking", "thinking.type", "adaptive"]),
        (Parameter::Temperature, "temperature", &["temperature"]),
        (Parameter::OneToolCall, "tool_choice.disable_parallel_tool_use", &["disable_parallel_tool_use"]),
        (Parameter::ToolChoice, "tool_choice", &["tool_choice", "forced tool use", "forces tool use"]),
        (Parameter::Tools, "tools", &["tools", "tool use"]),
        (Parameter::Stop, "stop_sequences", &["stop_sequences"]),
    ],
    inside: |piece| piece.get("error"),
    cause,
    retry_after: |_| None,
};

const SCHEMA: &[&str] = &[
    "output_config.format",
    "output_config",
    "json_schema",
    "schema",
    "additionalproperties",
    "structured output",
    "structured outputs",
];

/// Inside a stream the type alone tells what happened, and the status is 500; a status of its own tells more than the
/// general `api_error`, which proxies put beside any.
fn cause(status: u16, complaint: &Complaint) -> Option<ServiceFailure> {
    const EXHAUSTED: [&str; 2] = ["credit balance is too low", "specified api usage limits"];
    const TYPES: [(&str, ServiceFailure); 8] = [
        ("billing_error", ServiceFailure::Quota),
        ("authentication_error", ServiceFailure::Auth),
        ("permission_error", ServiceFailure::Auth),
        ("not_found_error", ServiceFailure::NotFound),
        ("rate_limit_error", ServiceFailure::RateLimited),
        ("overloaded_error", ServiceFailure::Server),
        ("timeout_error", ServiceFailure::Server),
        ("api_error", ServiceFailure::Server),
    ];
    if complaint.says(&EXHAUSTED) {
        return Some(ServiceFailure::Quota);
    }
    let general = |name: &str| name == "api_error" && status < 500;
    let mut types = TYPES.iter().filter(|(name, _)| !general(name));
    types.find(|(name, _)| complaint.code.split(' ').any(|code| code == *name)).map(|(_, kind)| *kind)
}
