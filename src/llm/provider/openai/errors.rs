//! How servers of OpenAI's protocol complain, of chat completions and in the Responses API.

use serde_json::Value;

use crate::error::ServiceFailure;
use crate::provider::Parameter;
use crate::provider::http::{Complaint, ErrorDialect};

/// The dialect of chat completions.
pub(crate) const ERRORS: ErrorDialect = ErrorDialect {
    parameters: &[
        (Parameter::OutputLimitName, "max_tokens", &["max_tokens"]),
        (Parameter::OutputLimitName, "max_completion_tokens", &["max_completion_tokens"]),
        (Parameter::StreamOptions, "stream_options", &["stream_options"]),
        (Parameter::Schema, "response_format", &["response_format", "json_schema"]),
        (Parameter::Effort, "reasoning_effort", &["reasoning_effort"]),
        (Parameter::Effort, "reasoning", &["reasoning"]),
        (Parameter::Temperature, "temperature", &["temperature"]),
        (Parameter::OneToolCall, "parallel_tool_calls", &["parallel_tool_calls"]),
        (Parameter::ToolChoice, "tool_choice", &["tool_choice"]),
        (Parameter::Tools, "tools", &["tools", "tool choice", "function calling", "tool use"]),
        (Parameter::Logprobs, "logprobs", &["logprobs", "top_logprobs"]),
        (Parameter::Seed, "seed", &["seed"]),
        (Parameter::Stop, "stop", &["stop"]),
    ],
    inside: |piece| {
        present(piece.get("error")).or_else(|| present(piece.get("choices")?.get(0)?.get("error")))
    },
    cause: by_code,
    retry_after: |_| None,
};

/// The dialect of the Responses API.
pub(crate) const RESPONSES_ERRORS: ErrorDialect = ErrorDialect {
    parameters: &[
        (Parameter::Schema, "text", &["text.format", "json_schema", "structured outputs"]),
        (Parameter::Effort, "reasoning.effort", &["reasoning.effort", "reasoning_effort"]),
        (
            Parameter::ReasoningSummary,
            "reasoning.summary",
            &["reasoning.summary", "reasoning summaries", "reasoning summary"],
        ),
        (
            Parameter::ReasoningState,
            "include",
            &["reasoning.encrypted_content", "encrypted content", "encrypted_content"],
        ),
        (Parameter::Temperature, "temperature", &["temperature"]),
        (Parameter::OneToolCall, "parallel_tool_calls", &["parallel_tool_calls"]),
        (Parameter::ToolChoice, "tool_choice", &["tool_choice"]),
        (Parameter::Tools, "tools", &["tools", "tool choice", "function calling", "tool use"]),
        (Parameter::Logprobs, "top_logprobs", &["logprobs", "top_logprobs"]),
    ],
    inside: |piece| match piece.get("type").and_then(Value::as_str) {
        Some("error") => present(piece.get("error")).or(Some(piece)),
        Some("response.failed") => present(piece.get("response")?.get("error")),
        _ => present(piece.get("error")),
    },
    cause: by_code,
    retry_after: |_| None,
};

fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// An error inside a stream has no status: its code says what the status would have been.
fn by_code(_status: u16, complaint: &Complaint) -> Option<ServiceFailure> {
    let code = |names: &[&str]| complaint.code.split(' ').any(|code| names.contains(&code));
    if code(&["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"]) {
        Some(ServiceFailure::Quota)
    } else if code(&["rate_limit_exceeded", "rate_limit_error"]) {
        Some(ServiceFailure::RateLimited)
    } else {
        None
    }
}
