//! The state that travels with a turn: the model's encrypted reasoning, and where in the turn it stood.
//!
//! It is kept apart from text and calls, which the caller may have cut. A reasoning item goes back only to the model
//! that made it, and only in front of something that followed it: the service refuses it otherwise.

use podium_types::chat::Message;
use serde_json::{Map, Value, json};

use super::wire;
use crate::model::ModelName;

const MARK: &str = "openai_responses";

/// The state of a turn of these output items; `None` where nothing must go back.
pub(super) fn state(items: &[Value], model: &ModelName) -> Option<Box<Value>> {
    let kept: Vec<Value> = items.iter().filter_map(kept).collect();
    let reasons = kept.iter().any(|item| kind(item) == "reasoning");
    reasons.then(|| Box::new(json!({MARK: {"model": model.to_string(), "items": kept}})))
}

/// What is kept of an item: reasoning whole, the others as marks of their place.
fn kept(item: &Value) -> Option<Value> {
    let of = |keys: &[&str]| {
        let pairs = keys.iter().filter_map(|key| Some(((*key).to_owned(), item.get(key)?.clone())));
        Some(Value::Object(pairs.collect::<Map<_, _>>()))
    };
    match kind(item) {
        "reasoning" if item.get("encrypted_content").is_some_and(Value::is_string) => {
            of(&["type", "id", "summary", "encrypted_content"])
        }
        "message" => of(&["type", "phase"]),
        "function_call" => of(&["type", "call_id"]),
        _ => None,
    }
}

/// An assistant's turn without state.
pub(super) fn plain(message: &Message) -> Vec<Value> {
    said(message, None).into_iter().chain(message.tool_calls.iter().map(wire::call)).collect()
}

/// The turn `message` with its reasoning where it stood, if `state` is `model`'s own.
pub(super) fn back(state: &Value, model: &ModelName, message: &Message) -> Vec<Value> {
    let own = state.get(MARK).filter(|state| {
        state.get("model").and_then(Value::as_str).is_some_and(|name| name == model.to_string())
    });
    let Some(kept) = own.and_then(|state| state.get("items")).and_then(Value::as_array) else {
        return plain(message);
    };
    let mut turn = Turn { items: Vec::new(), waiting: Vec::new(), said: false, called: Vec::new() };
    for item in kept {
        turn.add(item, message);
    }
    if !turn.said {
        turn.items.extend(said(message, None));
    }
    let rest = message.tool_calls.iter().filter(|call| !turn.called.contains(&call.id.as_str()));
    turn.items.extend(rest.map(wire::call));
    turn.items
}

struct Turn<'a> {
    items: Vec<Value>,
    /// Reasoning, until what followed it is there.
    waiting: Vec<Value>,
    said: bool,
    called: Vec<&'a str>,
}

impl<'a> Turn<'a> {
    fn add(&mut self, item: &Value, message: &'a Message) {
        let next = match kind(item) {
            "reasoning" => {
                self.waiting.push(item.clone());
                return;
            }
            "message" if !self.said => said(message, item.get("phase")),
            "function_call" => {
                let id = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
                let call = message.tool_calls.iter().find(|call| call.id == id);
                self.called.extend(call.map(|call| call.id.as_str()));
                call.map(wire::call)
            }
            _ => None,
        };
        self.said |= kind(item) == "message" && next.is_some();
        match next {
            Some(next) => {
                self.items.append(&mut self.waiting);
                self.items.push(next);
            }
            None => self.waiting.clear(),
        }
    }
}

fn said(message: &Message, phase: Option<&Value>) -> Option<Value> {
    let mut item = json!({"role": "assistant", "content": message.content});
    if let Some(phase) = phase.filter(|phase| phase.is_string())
        && let Some(item) = item.as_object_mut()
    {
        item.insert("phase".to_owned(), phase.clone());
    }
    (!message.content.is_empty()).then_some(item)
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Speaker, ToolCall};

    use super::*;

    fn turn(content: &str, calls: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).into(), name: "ls".into(), arguments: "{}".into() };
        Message { tool_calls: calls.iter().map(call).collect(), ..Message::text(Speaker::Assistant, content) }
    }

    fn model(name: &str) -> ModelName {
        ModelName { provider: "openai".into(), model: name.into() }
    }

    /// The items of a turn in short: `r1`, `said`, `a`.
    fn order(items: &[Value]) -> Vec<String> {
        let of = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
        let short =
            |item: &Value| of(item, "id").or_else(|| of(item, "call_id")).or_else(|| of(item, "content"));
        items.iter().filter_map(short).collect()
    }

    #[test]
    fn reasoning_goes_back_to_its_place_and_to_its_model_only() {
        let reasoning = |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "x", "status": null});
        let call = |id: &str| json!({"type": "function_call", "id": "fc", "call_id": id, "name": "ls", "arguments": "{}"});
        let output = [
            reasoning("r1"),
            json!({"type": "message", "id": "m", "phase": "commentary"}),
            reasoning("r2"),
            call("a"),
            call("b"),
        ];
        let state = state(&output, &model("m")).unwrap();
        let stripped = json!({"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x"});
        assert_eq!(state[MARK]["items"][0], stripped);
        for (name, message, expected) in [
            ("m", turn("said", &["a", "b"]), vec!["r1", "said", "r2", "a", "b"]),
            ("m", turn("said", &["a"]), vec!["r1", "said", "r2", "a"]),
            ("m", turn("said", &["b"]), vec!["r1", "said", "b"]),
            ("m", turn("", &["a", "new"]), vec!["r2", "a", "new"]),
            ("m", turn("said", &[]), vec!["r1", "said"]),
            ("other", turn("said", &["a"]), vec!["said", "a"]),
        ] {
            assert_eq!(order(&back(&state, &model(name), &message)), expected, "{name} {message:?}");
        }
        assert_eq!(
            back(&json!([{"type": "thinking"}]), &model("m"), &turn("said", &[])),
            plain(&turn("said", &[]))
        );
    }

    #[test]
    fn a_turn_without_encrypted_reasoning_has_no_state() {
        let bare = json!({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": null});
        assert_eq!(state(&[bare, json!({"type": "message"})], &model("m")), None);
    }
}
