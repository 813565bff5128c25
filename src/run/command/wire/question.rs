//! A request for a chat completion, read.

use std::collections::BTreeMap;

use podium_types::agent::Question;
use podium_types::chat::{ChatRequest, Message, Speaker, ToolCall};
use serde_json::{Map, Value};

use super::fields::{content, effort, given, item, list, object, output, role, settings, switch, text, tool};
use super::refusal::Refusal;
use super::{Form, Protocol, Wanted};

/// Texts that may end an answer.
const STOPS: usize = 16;

/// Reads the body of `POST /v1/chat/completions`.
///
/// # Errors
/// What cannot be read or had, in the protocol's words.
pub fn read(body: &[u8], models: &BTreeMap<String, String>) -> Result<Wanted, Refusal> {
    let body = object(body)?;
    let (model, role) = role(&body, models)?;
    if given(&body, "n").is_some_and(|n| n.as_u64() != Some(1)) {
        return Err(Refusal::invalid("`n` must be 1: one answer is given to a request"));
    }
    for old in ["functions", "function_call"] {
        if given(&body, old).is_some() {
            return Err(Refusal::invalid(format!("`{old}` cannot be read: use `tools` and `tool_choice`")));
        }
    }
    if switch(&body, "logprobs")? {
        return Err(Refusal::invalid("`logprobs` cannot be had"));
    }
    let messages = list(&body, "messages")?;
    if messages.is_empty() {
        return Err(Refusal::invalid("`messages` must be a list with at least one message"));
    }
    let mut request = ChatRequest {
        messages: messages.iter().map(|value| message(item(value, "messages")?)).collect::<Result<_, _>>()?,
        tools: list(&body, "tools")?.iter().map(of_tool).collect::<Result<_, _>>()?,
        output: output(given(&body, "response_format"))?,
        stop: stops(given(&body, "stop"))?,
        effort: effort(given(&body, "reasoning_effort"))?,
        ..ChatRequest::default()
    };
    settings(&body, &["max_completion_tokens", "max_tokens"], &mut request)?;
    let options = given(&body, "stream_options").and_then(Value::as_object);
    let form = Form {
        protocol: Protocol::Chat,
        model,
        stream: switch(&body, "stream")?,
        usage: options.map_or(Ok(false), |options| switch(options, "include_usage"))?,
    };
    Ok(Wanted { question: Question { role, request }, form })
}

fn of_tool(value: &Value) -> Result<podium_types::chat::Tool, Refusal> {
    let function = value.get("function").and_then(Value::as_object);
    tool(function.ok_or_else(|| Refusal::invalid("each of `tools` must be a function"))?)
}

fn message(message: &Map<String, Value>) -> Result<Message, Refusal> {
    let words = content(given(message, "content"))?;
    let speaker = match text(message, "role")? {
        "system" | "developer" => Speaker::System,
        "user" => Speaker::User,
        "assistant" => {
            let calls = list(message, "tool_calls")?.iter().map(|value| call(item(value, "tool_calls")?));
            return Ok(Message {
                tool_calls: calls.collect::<Result<_, _>>()?,
                ..Message::text(Speaker::Assistant, words)
            });
        }
        "tool" => {
            return Ok(Message {
                tool_call_id: Some(text(message, "tool_call_id")?.to_owned()),
                ..Message::text(Speaker::Tool, words)
            });
        }
        other => {
            let other: String = other.chars().take(40).collect();
            return Err(Refusal::invalid(format!("a message has the role `{other}`, which cannot be read")));
        }
    };
    Ok(Message::text(speaker, words))
}

fn call(call: &Map<String, Value>) -> Result<ToolCall, Refusal> {
    let function = given(call, "function").and_then(Value::as_object);
    let function = function.ok_or_else(|| Refusal::invalid("a tool call must have a `function`"))?;
    Ok(ToolCall {
        id: text(call, "id")?.to_owned(),
        name: text(function, "name")?.to_owned(),
        arguments: text(function, "arguments")?.to_owned(),
    })
}

fn stops(value: Option<&Value>) -> Result<Vec<String>, Refusal> {
    let wrong = || Refusal::invalid(format!("`stop` must be a text, or a list of at most {STOPS}"));
    match value {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(texts)) if texts.len() <= STOPS => {
            texts.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}
