//! How servers of OpenAI's protocol complain.

use crate::provider::Parameter;
use crate::provider::http::ErrorDialect;

/// The dialect.
pub(crate) const ERRORS: ErrorDialect = ErrorDialect {
    parameters: &[
        (Parameter::OutputLimitName, "max_tokens", &["max_tokens"]),
        (Parameter::OutputLimitName, "max_completion_tokens", &["max_completion_tokens"]),
        (Parameter::StreamOptions, "stream_options", &["stream_options"]),
        (Parameter::Schema, "response_format", &["response_format", "json_schema"]),
        (Parameter::Effort, "reasoning_effort", &["reasoning_effort"]),
        (Parameter::Temperature, "temperature", &["temperature"]),
        (Parameter::OneToolCall, "parallel_tool_calls", &["parallel_tool_calls"]),
        (Parameter::ToolChoice, "tool_choice", &["tool_choice"]),
        (Parameter::Tools, "tools", &["tools", "tool choice", "function calling", "tool use"]),
        (Parameter::Logprobs, "logprobs", &["logprobs", "top_logprobs"]),
        (Parameter::Seed, "seed", &["seed"]),
        (Parameter::Stop, "stop", &["stop"]),
    ],
    inside: |piece| piece.get("error"),
    cause: |_, _| None,
    retry_after: |_| None,
};
