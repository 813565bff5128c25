//! How Gemini complains: a status name and typed details, which tell more than the message does. A rate limit and a
//! spent quota come with the same words; only the quota they name tells them apart.

use std::time::Duration;

use serde_json::Value;

use crate::error::ServiceFailure;
use crate::provider::Parameter;
use crate::provider::http::{Complaint, ErrorDialect};

/// The dialect.
pub(super) const ERRORS: ErrorDialect = ErrorDialect {
    parameters: &[
        // Before tools: a model may take either but not both, and then the schema has the better substitute.
        (
            Parameter::Schema,
            "generationConfig.responseJsonSchema",
            &["responsejsonschema", "response_json_schema", "response mime type", "json mode", "json schema"],
        ),
        (
            Parameter::Effort,
            "generationConfig.thinkingConfig",
            &["thinking", "thinkingconfig", "thinking_config", "thinking_level", "thinking_budget"],
        ),
        (
            Parameter::Logprobs,
            "generationConfig.responseLogprobs",
            &["logprobs", "responselogprobs", "response_logprobs"],
        ),
        (
            Parameter::ReasoningState,
            "contents",
            &["thought signature", "thought_signature", "thoughtsignature"],
        ),
        (Parameter::Temperature, "generationConfig.temperature", &["temperature"]),
        (Parameter::Seed, "generationConfig.seed", &["seed"]),
        (
            Parameter::Stop,
            "generationConfig.stopSequences",
            &["stopsequences", "stop_sequences", "stop sequences"],
        ),
        (
            Parameter::ToolChoice,
            "toolConfig",
            &["toolconfig", "tool_config", "function_calling_config", "function calling config"],
        ),
        (
            Parameter::Tools,
            "tools",
            &["tools", "tool use", "function calling", "functiondeclarations", "function_declarations"],
        ),
    ],
    inside: |piece| match piece {
        Value::Array(chunks) => chunks.iter().find_map(|chunk| chunk.get("error")),
        other => other.get("error"),
    },
    cause,
    retry_after: |body| {
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").unwrap_or(body);
        error.get("details")?.as_array()?.iter().find_map(|detail| seconds(detail.get("retryDelay")?))
    },
};

fn cause(status: u16, complaint: &Complaint) -> Option<ServiceFailure> {
    match status {
        400 if bad_key(complaint) => Some(ServiceFailure::Auth),
        // The account's region or its billing does not allow the call.
        400 if complaint.code.contains("failed_precondition") => Some(ServiceFailure::Auth),
        429 if spent(complaint) => Some(ServiceFailure::Quota),
        429 => Some(ServiceFailure::RateLimited),
        499 => Some(ServiceFailure::Server),
        _ => None,
    }
}

fn bad_key(complaint: &Complaint) -> bool {
    let reason = |detail: &Value| detail.get("reason").and_then(Value::as_str) == Some("API_KEY_INVALID");
    details(complaint).any(reason) || complaint.says(&["api key not valid", "api key expired"])
}

/// Whether waiting for minutes does not help: a quota of the day, one of zero, or no credit.
fn spent(complaint: &Complaint) -> bool {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_lowercase);
    let daily = |violation: &Value| {
        text(violation, "quotaId").is_some_and(|id| id.contains("perday"))
            || text(violation, "quotaMetric").is_some_and(|metric| metric.contains("per_day"))
            || text(violation, "quotaValue").as_deref() == Some("0")
    };
    let violations = |detail: &Value| {
        detail.get("violations").and_then(Value::as_array).is_some_and(|list| list.iter().any(daily))
    };
    details(complaint).any(violations)
        || complaint.says(&["limit: 0,", "credits are depleted", "spending cap"])
}

fn details(complaint: &Complaint) -> impl Iterator<Item = &Value> {
    complaint.error.get("details").and_then(Value::as_array).into_iter().flatten()
}

/// A duration as protobuf writes it: `37s`, `0.5s`.
fn seconds(value: &Value) -> Option<Duration> {
    let seconds: f64 = value.as_str()?.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
