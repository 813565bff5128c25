//! The conversation as Gemini has it: turns of user and model that alternate, calls and responses among their parts.

use std::collections::BTreeMap;

use podium_types::chat::{Message, Speaker, ToolCall};
use serde_json::{Map, Value, json};

use super::parts;

/// Google's word for a call that no signature can be had for, because another model made it.
const UNSIGNED: &str = "skip_thought_signature_validator";

fn text(text: &str) -> Value {
    json!({"text": text})
}

struct Turn {
    role: &'static str,
    parts: Vec<Value>,
}

/// A call as it was sent to the model: a response must name the tool, and the id if the call had one.
struct Sent {
    name: String,
    id: Option<Value>,
}

/// The conversation as turns that alternate.
pub(super) struct Contents {
    turns: Vec<Turn>,
    calls: BTreeMap<String, Sent>,
    /// Calls must be signed.
    sign: bool,
    /// Signed turns may go back as they were; false once a signature was refused.
    takes_state: bool,
}

impl Contents {
    /// No turns yet. Calls are signed where the model checks that, and turns of ours go back as they were unless a
    /// signature was refused.
    pub(super) const fn new(sign: bool, takes_state: bool) -> Self {
        Self { turns: Vec::new(), calls: BTreeMap::new(), sign, takes_state }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    pub(super) fn wire(self) -> Value {
        let turns = self.turns.into_iter();
        turns.map(|turn| json!({"role": turn.role, "parts": turn.parts})).collect()
    }

    pub(super) fn add(&mut self, message: &Message) {
        match message.role {
            Speaker::System => {}
            Speaker::User if message.content.is_empty() => {}
            Speaker::User => self.push("user", vec![text(&message.content)]),
            Speaker::Tool => {
                let response = self.response(message);
                self.push("user", vec![response]);
            }
            Speaker::Assistant => {
                let state = message.provider_state.as_deref().filter(|_| self.takes_state);
                let state = state.and_then(parts::of_state);
                let mut turn = Vec::new();
                let mut held = Vec::new();
                match state {
                    Some(state) => held = self.signed(state, message, &mut turn),
                    None if message.content.is_empty() => {}
                    None => turn.push(text(&message.content)),
                }
                self.unsigned(message, &held, &mut turn);
                self.push("model", turn);
            }
        }
    }

    /// Adds parts, to the last turn if it is of the same role.
    fn push(&mut self, role: &'static str, parts: Vec<Value>) {
        match self.turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.parts.extend(parts),
            None if parts.is_empty() => {}
            None => self.turns.push(Turn { role, parts }),
        }
    }

    /// The parts of a turn as the model made them, without what the caller took out since. Returns the ids of the
    /// calls among them.
    fn signed(&mut self, state: &[Value], message: &Message, turn: &mut Vec<Value>) -> Vec<String> {
        let mut held = Vec::new();
        let unchanged = state.iter().filter_map(parts::said).collect::<String>() == message.content;
        if !unchanged && !message.content.is_empty() {
            turn.push(text(&message.content));
        }
        for (part, call) in state.iter().zip(parts::calls(state)) {
            let keep = match &call {
                Some(call) => {
                    message.tool_calls.iter().any(|kept| kept.id == call.id && kept.name == call.name)
                }
                None => unchanged || parts::said(part).is_none(),
            };
            if !keep {
                continue;
            }
            turn.push(part.clone());
            if let Some(call) = call {
                let id = part.get("functionCall").and_then(|call| call.get("id")).cloned();
                held.push(call.id.clone());
                self.calls.insert(call.id, Sent { name: call.name, id });
            }
        }
        held
    }

    /// The calls of a turn that are not `held` by its state. Ids that we or another provider made up are not sent. The
    /// first call of a turn is the one whose signature is checked.
    fn unsigned(&mut self, message: &Message, held: &[String], turn: &mut Vec<Value>) {
        let mut sign = self.sign && held.is_empty();
        for call in message.tool_calls.iter().filter(|call| !held.contains(&call.id)) {
            let mut part = json!({"functionCall": {"name": call.name, "args": arguments(call)}});
            if std::mem::take(&mut sign)
                && let Some(part) = part.as_object_mut()
            {
                part.insert("thoughtSignature".to_owned(), json!(UNSIGNED));
            }
            turn.push(part);
            self.calls.insert(call.id.clone(), Sent { name: call.name.clone(), id: None });
        }
    }

    fn response(&self, message: &Message) -> Value {
        let call = message.tool_call_id.as_ref().and_then(|id| self.calls.get(id));
        let Some(call) = call else { return text(&message.content) };
        let mut response = Map::new();
        let mut set = |key: &str, value: Value| drop(response.insert(key.to_owned(), value));
        set("name", json!(call.name));
        set("response", json!({"output": message.content}));
        if let Some(id) = &call.id {
            set("id", id.clone());
        }
        json!({"functionResponse": response})
    }
}

/// The arguments of a call, which must be an object here, whatever the model wrote.
fn arguments(call: &ToolCall) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => Value::Object(arguments),
        _ if call.arguments.trim().is_empty() => json!({}),
        _ => json!({"arguments": call.arguments}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(messages: Vec<Message>, sign: bool) -> Value {
        let mut contents = Contents::new(sign, true);
        for message in messages {
            contents.add(&message);
        }
        contents.wire()
    }

    fn assistant(content: &str, calls: &[(&str, &str, &str)]) -> Message {
        let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: (*arguments).into(),
        };
        Message { tool_calls: calls.iter().map(call).collect(), ..Message::text(Speaker::Assistant, content) }
    }

    fn result(id: &str, content: &str) -> Message {
        Message { tool_call_id: Some(id.into()), ..Message::text(Speaker::Tool, content) }
    }

    #[test]
    fn turns_alternate_and_responses_name_their_calls() {
        let messages = vec![
            Message::text(Speaker::User, "a"),
            Message::text(Speaker::User, "b"),
            assistant("both", &[("1", "ls", r#"{"path":"."}"#), ("2", "cat", "not JSON"), ("3", "pwd", "")]),
            result("1", "x.csv"),
            result("2", "text"),
            result("nobody's", "lost"),
            Message::text(Speaker::User, "go on"),
            assistant("", &[]),
        ];
        let response = |name: &str, output: &str| json!({"functionResponse": {"name": name, "response": {"output": output}}});
        let call = |name: &str, args: Value| json!({"functionCall": {"name": name, "args": args}});
        let expected = json!([
            {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
            {"role": "model", "parts": [
                {"text": "both"},
                call("ls", json!({"path": "."})),
                call("cat", json!({"arguments": "not JSON"})),
                call("pwd", json!({})),
            ]},
            {"role": "user", "parts": [
                response("ls", "x.csv"),
                response("cat", "text"),
                {"text": "lost"},
                {"text": "go on"},
            ]},
        ]);
        assert_eq!(contents(messages, false), expected);
    }

    #[test]
    fn another_models_calls_are_marked_for_a_model_that_checks_signatures() {
        let mut turn = assistant("", &[("1", "ls", "{}"), ("2", "ls", "{}")]);
        turn.provider_state = Some(Box::new(json!([{"type": "thinking", "signature": "EqQB"}])));
        let expected = json!([{"role": "model", "parts": [
            {"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": UNSIGNED},
            {"functionCall": {"name": "ls", "args": {}}},
        ]}]);
        assert_eq!(contents(vec![turn], true), expected);
    }

    #[test]
    fn a_signed_turn_comes_back_as_it_was() {
        let state = json!([
            {"text": "I'll "},
            {"text": "look", "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "f1", "name": "ls", "args": {"a": 1}}, "thoughtSignature": "c2lnMg=="},
            {"functionCall": {"name": "ls", "args": {}}},
        ]);
        let turn = |content: &str, calls: &[(&str, &str, &str)]| Message {
            provider_state: Some(Box::new(json!({"protocol": "gemini", "parts": state}))),
            ..assistant(content, calls)
        };
        let both = [("f1", "ls", r#"{"a":1}"#), ("call_1", "ls", "{}")];
        let response = |id: Value| {
            let mut response = json!({"name": "ls", "response": {"output": "x"}});
            if !id.is_null() {
                response["id"] = id;
            }
            json!({"functionResponse": response})
        };
        let whole = vec![turn("I'll look", &both), result("f1", "x"), result("call_1", "x")];
        let expected = json!([
            {"role": "model", "parts": state},
            {"role": "user", "parts": [response(json!("f1")), response(Value::Null)]},
        ]);
        assert_eq!(contents(whole, true), expected);
        // The caller dropped the second call and cut the text: the signature of what is left stays.
        let cut = vec![turn("I'll", &both[..1]), result("f1", "x")];
        let expected = json!([
            {"role": "model", "parts": [{"text": "I'll"}, state[2]]},
            {"role": "user", "parts": [response(json!("f1"))]},
        ]);
        assert_eq!(contents(cut, true), expected);
    }
}
