//! The span of a chat, with the attribute names of OpenTelemetry's conventions for generative AI (its client
//! inference span). What a person or a model wrote is never recorded, nor is anything that may hold a key.

use podium_types::chat::{ChatAnswer, Effort, FinishReason};
use tracing::Span;
use tracing::field::Empty;

use crate::client::{Call, Client};
use crate::error::Error;
use crate::playbook;
use crate::provider::Answered;

/// The open span of `call`.
pub(super) fn open(client: &Client, call: &Call<'_>) -> Span {
    let request = call.request;
    let span = tracing::info_span!(
        "chat",
        otel.name = %format_args!("chat {}", call.model.model),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider_name(&call.model.provider),
        gen_ai.request.model = %call.model.model,
        gen_ai.request.max_tokens = client.shared.output_limit(call.model, request),
        gen_ai.request.temperature = request.temperature,
        gen_ai.request.seed = request.seed,
        gen_ai.request.reasoning.level = request.effort.map(level),
        gen_ai.request.stream = call.model.provider != playbook::PROVIDER,
        gen_ai.output.type = if request.output.is_some() { "json" } else { "text" },
        server.address = Empty,
        server.port = Empty,
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_write.input_tokens = Empty,
        gen_ai.usage.reasoning.output_tokens = Empty,
        error.type = Empty,
        podium.purpose = call.purpose,
        podium.tries = Empty,
    );
    let endpoint = client.shared.settings.endpoints.get(&call.model.provider);
    let url = endpoint.and_then(|endpoint| reqwest::Url::parse(endpoint.base_url.as_deref()?).ok());
    if let Some(url) = url {
        span.record("server.address", url.host_str());
        span.record("server.port", url.port_or_known_default());
    }
    span
}

/// Records what the answer of a turn is called.
pub(super) fn answered(span: &Span, answered: &Answered) {
    if let Some(id) = &answered.id {
        span.record("gen_ai.response.id", id.as_str());
    }
}

/// Records how the chat ended.
pub(super) fn close(
    span: &Span,
    tries: u32,
    used: &podium_types::usage::Usage,
    result: &Result<ChatAnswer, Error>,
) {
    span.record("podium.tries", tries);
    span.record("gen_ai.usage.input_tokens", used.input_tokens);
    span.record("gen_ai.usage.output_tokens", used.output_tokens);
    span.record("gen_ai.usage.cache_read.input_tokens", used.cached_input_tokens);
    span.record("gen_ai.usage.cache_write.input_tokens", used.cache_write_tokens);
    span.record("gen_ai.usage.reasoning.output_tokens", used.reasoning_tokens);
    match result {
        Ok(answer) => {
            span.record("gen_ai.response.model", answer.model.as_str());
            // A list of one, in the form in which subscribers hand on what is no single value.
            span.record("gen_ai.response.finish_reasons", tracing::field::debug([reason(&answer.finish)]));
        }
        Err(error) => {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error_type(error));
        }
    }
}

/// What the conventions call a provider, where they call it otherwise than we do.
fn provider_name(provider: &str) -> &str {
    match provider {
        "google" | "gemini" => "gcp.gemini",
        "azure" => "azure.ai.openai",
        other => other,
    }
}

const fn level(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

const fn reason(finish: &FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::Refusal => "content_filter",
        FinishReason::Other(_) => "other",
    }
}

const fn error_type(error: &Error) -> &'static str {
    match error {
        Error::Request(_) => "request",
        Error::Denied(_) => "denied",
        Error::Configuration { .. } => "configuration",
        Error::Service { kind, .. } => kind.as_str(),
    }
}
