//! A request of the Responses protocol, read. The harness keeps no conversations: each request brings its own.

use std::collections::BTreeMap;

use podium_types::agent::Question;
use podium_types::chat::{ChatRequest, Message, Speaker, ToolCall};
use serde_json::{Map, Value};

use super::fields::{content, effort, given, item, list, object, output, role, settings, switch, text, tool};
use super::refusal::Refusal;
use super::{Form, Protocol, Wanted};

/// Reads the body of `POST /v1/responses`.
///
/// # Errors
/// What cannot be read or had, in the protocol's words.
pub fn read(body: &[u8], models: &BTreeMap<String, String>) -> Result<Wanted, Refusal> {
    let body = object(body)?;
    let (model, role) = role(&body, models)?;
    for kept in ["previous_response_id", "conversation", "prompt"] {
        if given(&body, kept).is_some() {
            return Err(Refusal::invalid(format!("`{kept}` cannot be had: send the whole conversation")));
        }
    }
    if switch(&body, "background")? {
        return Err(Refusal::invalid("`background` cannot be had"));
    }
    let mut messages = Vec::new();
    if given(&body, "instructions").is_some() {
        messages.push(Message::text(Speaker::System, text(&body, "instructions")?));
    }
    match given(&body, "input") {
        Some(Value::String(words)) => messages.push(Message::text(Speaker::User, words.clone())),
        _ => list(&body, "input")?.iter().try_for_each(|value| take(item(value, "input")?, &mut messages))?,
    }
    if messages.is_empty() {
        return Err(Refusal::invalid("`input` must be a text, or a list with at least one item"));
    }
    let of_text = given(&body, "text").and_then(Value::as_object);
    let of_reasoning = given(&body, "reasoning").and_then(Value::as_object);
    let mut request = ChatRequest {
        messages,
        tools: list(&body, "tools")?.iter().map(of_tool).collect::<Result<_, _>>()?,
        output: output(of_text.and_then(|text| given(text, "format")))?,
        effort: effort(of_reasoning.and_then(|reasoning| given(reasoning, "effort")))?,
        ..ChatRequest::default()
    };
    settings(&body, &["max_output_tokens"], &mut request)?;
    let form = Form { protocol: Protocol::Responses, model, stream: switch(&body, "stream")?, usage: true };
    Ok(Wanted { question: Question { role, request }, form })
}

fn of_tool(value: &Value) -> Result<podium_types::chat::Tool, Refusal> {
    let object = item(value, "tools")?;
    match text(object, "type")? {
        "function" => tool(object),
        _ => Err(Refusal::invalid("each of `tools` must be a function: the harness has no others")),
    }
}

/// Adds an item of the conversation. Calls of one turn are items of their own, and become one message.
fn take(item: &Map<String, Value>, messages: &mut Vec<Message>) -> Result<(), Refusal> {
    match given(item, "type").and_then(Value::as_str).unwrap_or("message") {
        "message" => {
            let words = content(given(item, "content"))?;
            let speaker = match text(item, "role")? {
                "system" | "developer" => Speaker::System,
                "assistant" => Speaker::Assistant,
                "user" => Speaker::User,
                _ => return Err(Refusal::invalid("a message has a role that cannot be read")),
            };
            messages.push(Message::text(speaker, words));
        }
        "function_call" => {
            let call = ToolCall {
                id: text(item, "call_id")?.to_owned(),
                name: text(item, "name")?.to_owned(),
                arguments: text(item, "arguments")?.to_owned(),
            };
            match messages.last_mut().filter(|last| last.role == Speaker::Assistant) {
                Some(last) => last.tool_calls.push(call),
                None => messages.push(Message {
                    tool_calls: vec![call],
                    ..Message::text(Speaker::Assistant, String::new())
                }),
            }
        }
        "function_call_output" => messages.push(Message {
            tool_call_id: Some(text(item, "call_id")?.to_owned()),
            ..Message::text(Speaker::Tool, content(given(item, "output"))?)
        }),
        // The model's own, which the harness gives back by itself where a provider wants it.
        "reasoning" => {}
        other => {
            let other: String = other.chars().take(40).collect();
            return Err(Refusal::invalid(format!(
                "`input` has an item of type `{other}`, which cannot be read"
            )));
        }
    }
    Ok(())
}
