//! The parts of a model's turn, and how they come back.
//!
//! A thinking model signs some of its parts, and wants them back as they were, in their places. So an answer with a
//! signature hands on its parts as the provider's own state; another provider's state has no such mark and is
//! ignored.

use std::collections::BTreeSet;

use podium_types::chat::ToolCall;
use serde_json::{Map, Value, json};

const PROTOCOL: &str = "gemini";

/// The calls among `parts`, each in the place of its part, with an id each: the server's, or one made up where it
/// gave none or the same twice.
pub(super) fn calls(parts: &[Value]) -> Vec<Option<ToolCall>> {
    let mut seen = BTreeSet::new();
    let mut calls = Vec::with_capacity(parts.len());
    for part in parts {
        let call = part.get("functionCall").and_then(|call| {
            let name = call.get("name")?.as_str().filter(|name| !name.is_empty())?.to_owned();
            let given = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            let id = match given {
                Some(id) if !seen.contains(id) => id.to_owned(),
                _ => (seen.len()..=2 * seen.len())
                    .map(|number| format!("call_{number}"))
                    .find(|id| !seen.contains(id))?,
            };
            seen.insert(id.clone());
            let arguments = match call.get("args") {
                None | Some(Value::Null) => "{}".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            Some(ToolCall { id, name, arguments })
        });
        calls.push(call);
    }
    calls
}

/// The text of a part, unless it is a thought.
pub(super) fn said(part: &Value) -> Option<&str> {
    if is_thought(part) { None } else { part.get("text")?.as_str() }
}

/// The text of a part that is a thought.
pub(super) fn thought(part: &Value) -> Option<&str> {
    if is_thought(part) { part.get("text")?.as_str() } else { None }
}

fn is_thought(part: &Value) -> bool {
    part.get("thought").and_then(Value::as_bool) == Some(true)
}

fn is_signed(part: &Value) -> bool {
    part.get("thoughtSignature").is_some_and(|signature| !signature.is_null())
}

/// Adds a part of a stream: pieces of one text become one part again, signed parts stay alone.
pub(super) fn push(parts: &mut Vec<Value>, part: &Value) {
    if !mergeable(part) {
        if part.is_object() {
            parts.push(part.clone());
        }
        return;
    }
    let Some(text) = part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()) else { return };
    let open = parts.last_mut().filter(|last| mergeable(last) && is_thought(last) == is_thought(part));
    match open.and_then(|last| last.get_mut("text")) {
        Some(Value::String(open)) => open.push_str(text),
        _ => parts.push(part.clone()),
    }
}

/// A part of text and nothing else.
fn mergeable(part: &Value) -> bool {
    let plain = |part: &Map<String, Value>| part.keys().all(|key| key == "text" || key == "thought");
    part.get("text").is_some_and(Value::is_string) && part.as_object().is_some_and(plain)
}

/// What is to come back with the turn of these parts, if any is signed. Unsigned thoughts need not.
pub(super) fn state(mut parts: Vec<Value>) -> Option<Box<Value>> {
    if !parts.iter().any(is_signed) {
        return None;
    }
    parts.retain(|part| is_signed(part) || !is_thought(part));
    Some(Box::new(json!({"protocol": PROTOCOL, "parts": parts})))
}

/// The parts of a state, if it is one of ours.
pub(super) fn of_state(state: &Value) -> Option<&Vec<Value>> {
    let ours = state.get("protocol").and_then(Value::as_str) == Some(PROTOCOL);
    state.get("parts").filter(|_| ours)?.as_array()
}
