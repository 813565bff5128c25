//! A request in the words of the chat completions protocol. What the model does not take is left out already.

use podium_types::chat::{Effort, Message, OutputSchema, Speaker, Tool, ToolCall, ToolChoice};
use serde_json::{Map, Value, json};

use super::reasoning;
use crate::endpoint::{Endpoint, ReasoningBack};
use crate::model::ModelName;
use crate::provider::{Attempt, Parameter};

/// Seeds are cut to 31 bits, which every server reads.
const SEED_MASK: u64 = 0x7FFF_FFFF;

/// The body to send to `endpoint`.
pub(super) fn request(attempt: &Attempt<'_>, endpoint: &Endpoint) -> Value {
    let request = attempt.request;
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    set("model", json!(attempt.model.model));
    let back = endpoint.reasoning_back;
    set("messages", request.messages.iter().map(|turn| message(turn, attempt.model, back)).collect());
    set("stream", json!(true));
    if !attempt.without.contains(&Parameter::StreamOptions) {
        set("stream_options", json!({"include_usage": true}));
    }
    let newer_name = endpoint.max_completion_tokens != attempt.without.contains(&Parameter::OutputLimitName);
    set(if newer_name { "max_completion_tokens" } else { "max_tokens" }, json!(attempt.output_limit));
    if let Some(temperature) = request.temperature {
        set("temperature", json!(temperature));
    }
    if let Some(seed) = request.seed {
        set("seed", json!(seed & SEED_MASK));
    }
    if !request.stop.is_empty() {
        set("stop", json!(request.stop));
    }
    if let Some(effort) = request.effort {
        if endpoint.reasoning_object {
            set("reasoning", json!({"effort": effort_name(effort)}));
        } else {
            set("reasoning_effort", json!(effort_name(effort)));
        }
    }
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(tool).collect());
        if let Some(choice) = tool_choice(&request.tool_choice) {
            set("tool_choice", choice);
        }
        if request.one_tool_call {
            set("parallel_tool_calls", json!(false));
        }
    }
    if let Some(top) = request.top_logprobs {
        set("logprobs", json!(true));
        set("top_logprobs", json!(top));
    }
    if let Some(output) = &request.output {
        let schema = json!({"name": output.name, "schema": output.schema, "strict": output.strict});
        set("response_format", json!({"type": "json_schema", "json_schema": schema}));
    } else if endpoint.json_mode && attempt.wanted.is_some_and(is_object) {
        set("response_format", json!({"type": "json_object"}));
    }
    Value::Object(body)
}

/// JSON mode makes objects and nothing else.
fn is_object(output: &OutputSchema) -> bool {
    output.schema.get("type").and_then(Value::as_str) == Some("object")
}

/// An effort's name on the wire.
pub(in crate::provider::openai) const fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Named(name) => Some(json!({"type": "function", "function": {"name": name}})),
    }
}

fn tool(tool: &Tool) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
    json!({"type": "function", "function": function})
}

fn message(message: &Message, model: &ModelName, back: Option<ReasoningBack>) -> Value {
    let role = match message.role {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
    };
    let mut wire = Map::new();
    let mut set = |key: &str, value: Value| drop(wire.insert(key.to_owned(), value));
    set("role", json!(role));
    set("content", json!(message.content));
    if !message.tool_calls.is_empty() {
        set("tool_calls", message.tool_calls.iter().map(tool_call).collect());
        if message.content.is_empty() {
            set("content", Value::Null);
        }
    }
    if let Some(id) = &message.tool_call_id {
        set("tool_call_id", json!(id));
    }
    if let Some((field, reasoning)) = back.and_then(|back| reasoning::back(message, model, back)) {
        set(field, reasoning);
    }
    Value::Object(wire)
}

fn tool_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}
