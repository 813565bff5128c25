//! A request in the words of the Responses API. What the model does not take is left out already.

use podium_types::chat::{ChatRequest, Message, Speaker, Tool, ToolCall, ToolChoice};
use serde_json::{Map, Value, json};

use super::items;
use crate::model::ModelName;
use crate::provider::openai::chat::effort_name;
use crate::provider::{Attempt, Parameter};

/// The body to send.
pub(super) fn request(attempt: &Attempt<'_>) -> Value {
    let request = attempt.request;
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    set("model", json!(attempt.model.model));
    set("input", request.messages.iter().flat_map(|message| input(message, attempt.model)).collect());
    set("stream", json!(true));
    set("store", json!(false));
    set("max_output_tokens", json!(attempt.output_limit));
    if let Some(temperature) = request.temperature {
        set("temperature", json!(temperature));
    }
    if let Some(reasoning) = reasoning(attempt) {
        set("reasoning", reasoning);
    }
    let include = include(attempt);
    if !include.is_empty() {
        set("include", json!(include));
    }
    if let Some(top) = request.top_logprobs {
        set("top_logprobs", json!(top));
    }
    if let Some(output) = &request.output {
        let format = json!({
            "type": "json_schema",
            "name": output.name,
            "schema": output.schema,
            "strict": output.strict,
        });
        set("text", json!({"format": format}));
    }
    for (key, value) in tools(request) {
        set(key, value);
    }
    Value::Object(body)
}

fn reasoning(attempt: &Attempt<'_>) -> Option<Value> {
    let mut reasoning = Map::new();
    if let Some(effort) = attempt.request.effort {
        reasoning.insert("effort".to_owned(), json!(effort_name(effort)));
    }
    if attempt.thinks && !attempt.without.contains(&Parameter::ReasoningSummary) {
        reasoning.insert("summary".to_owned(), json!("auto"));
    }
    (!reasoning.is_empty()).then_some(Value::Object(reasoning))
}

/// What the service leaves out unless asked: the reasoning that it wants back, log probabilities.
fn include(attempt: &Attempt<'_>) -> Vec<&'static str> {
    let reasoning = attempt.thinks && !attempt.without.contains(&Parameter::ReasoningState);
    let logprobs = attempt.request.top_logprobs.is_some();
    [(reasoning, "reasoning.encrypted_content"), (logprobs, "message.output_text.logprobs")]
        .into_iter()
        .filter_map(|(wanted, name)| wanted.then_some(name))
        .collect()
}

fn tools(request: &ChatRequest) -> Vec<(&'static str, Value)> {
    if request.tools.is_empty() {
        return Vec::new();
    }
    let mut keys = vec![("tools", request.tools.iter().map(tool).collect())];
    match &request.tool_choice {
        ToolChoice::Auto => {}
        ToolChoice::None => keys.push(("tool_choice", json!("none"))),
        ToolChoice::Required => keys.push(("tool_choice", json!("required"))),
        ToolChoice::Named(name) => {
            keys.push(("tool_choice", json!({"type": "function", "name": name})));
        }
    }
    if request.one_tool_call {
        keys.push(("parallel_tool_calls", json!(false)));
    }
    keys
}

/// Without a word about strictness this interface, unlike chat completions, would take the arguments for strict, and
/// refuse schemas that leave a property out of `required`.
fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}

/// The items that `message` is for this interface.
fn input(message: &Message, model: &ModelName) -> Vec<Value> {
    let said = |role: &str| vec![json!({"role": role, "content": message.content})];
    match message.role {
        Speaker::System => said("system"),
        Speaker::User => said("user"),
        Speaker::Tool => vec![json!({
            "type": "function_call_output",
            "call_id": message.tool_call_id.clone().unwrap_or_default(),
            "output": message.content,
        })],
        Speaker::Assistant => match &message.provider_state {
            Some(state) => items::back(state, model, message),
            None => items::plain(message),
        },
    }
}

/// A call as an item.
pub(super) fn call(call: &ToolCall) -> Value {
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments})
}
