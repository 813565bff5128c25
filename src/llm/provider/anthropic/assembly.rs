//! Puts an answer together from its pieces: the events of a stream, or one whole body.
//!
//! Every field is read from a plain JSON value and taken only if it has a shape we know; blocks and events of other
//! kinds are passed over. An answer is whole when its stop reason has come, or when it came as one body.

use std::collections::BTreeSet;

use podium_types::chat::{FinishReason, ToolCall};
use serde_json::{Value, json};

use super::state::{self, Place};
use super::usage::Told;
use super::wire;
use crate::catalog::Thinking;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::http::Assembly;
use crate::provider::{Answered, Attempt, Failed, made_up_id};
use crate::tokens;

/// The pieces so far.
#[derive(Default)]
pub(super) struct MessageAssembly {
    /// How the model was told to think.
    thinking: Thinking,
    blocks: Vec<Block>,
    stop: Option<String>,
    /// The service's words about a refusal.
    explanation: Option<String>,
    told: Told,
    id: Option<String>,
    model: Option<String>,
    begun: bool,
    stopped: bool,
    whole_body: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Thinking,
    Redacted,
    Call,
    Other,
}

/// A content block in the making.
struct Block {
    index: Option<u64>,
    kind: Kind,
    /// Text, thinking, or a call's arguments in pieces.
    text: String,
    /// The block as it began.
    head: Value,
    signature: String,
}

impl Assembly for MessageAssembly {
    fn add(&mut self, event: &Value) {
        let index = event.get("index").and_then(Value::as_u64);
        let member = |key: &str| event.get(key).filter(|value| value.is_object());
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.message(member("message").unwrap_or(&Value::Null), false),
            "content_block_start" => {
                self.begun = true;
                self.blocks.extend(member("content_block").map(|block| Block::new(index, block)));
            }
            "content_block_delta" => {
                if let Some(delta) = member("delta") {
                    self.delta(index, delta);
                }
            }
            "message_delta" => {
                if let Some(delta) = member("delta") {
                    self.end(delta);
                }
                self.told.take(event.get("usage"), true);
            }
            "message_stop" => self.stopped = self.stop.is_some(),
            "message" => self.message(event, true),
            _ if event.get("content").is_some_and(Value::is_array) => self.message(event, true),
            _ => {}
        }
    }

    fn finished(&self) -> bool {
        self.stop.is_some() || self.whole_body
    }

    fn complete(&self) -> bool {
        self.stopped || self.whole_body
    }

    fn answer(self: Box<Self>, attempt: &Attempt<'_>) -> Result<Answered, Failed> {
        let broken = |kind, message| Err(Failed::service(kind, Settled::Unknown, message));
        if !self.begun {
            return broken(ServiceFailure::BadAnswer, "the answer has no message");
        }
        if !self.finished() {
            return broken(ServiceFailure::Network, "the stream ended before the answer was whole");
        }
        let parts = Parts::of(&self.blocks);
        let finish = finish(self.stop.as_deref(), !parts.calls.is_empty());
        let mut content = parts.content;
        if finish == FinishReason::Refusal && content.trim().is_empty() {
            content = self.explanation.unwrap_or(content);
        }
        let written =
            |call: &ToolCall| tokens::estimate_text(&call.name) + tokens::estimate_text(&call.arguments);
        let shown = tokens::estimate_text(&content) + parts.calls.iter().map(written).sum::<u64>();
        let reasoning = tokens::estimate_text(&parts.reasoning);
        let thought = parts.places.iter().any(Place::is_thinking);
        let prefix = if thought { wire::prefix(attempt, self.thinking) } else { None };
        let usage = self.told.usage(shown + reasoning > 0, || attempt.estimated(shown, reasoning));
        Ok(Answered {
            content,
            reasoning: Some(parts.reasoning).filter(|text| !text.is_empty()),
            tool_calls: parts.calls,
            logprobs: Vec::new(),
            finish,
            usage,
            id: self.id,
            model: self.model,
            provider_state: state::kept(attempt.model, &parts.places, prefix.as_ref()),
        })
    }
}

impl MessageAssembly {
    pub(super) fn new(thinking: Thinking) -> Self {
        Self { thinking, ..Self::default() }
    }

    /// A message with all that it holds: a whole one, or the head of a stream, which holds nothing yet.
    fn message(&mut self, message: &Value, whole: bool) {
        self.begun = true;
        self.whole_body |= whole;
        self.id = self.id.take().or_else(|| string(message, "id"));
        self.model = self.model.take().or_else(|| string(message, "model"));
        let blocks = message.get("content").and_then(Value::as_array);
        let blocks = blocks.into_iter().flatten().filter(|block| block.is_object());
        self.blocks.extend(blocks.map(|block| Block::new(None, block)));
        self.end(message);
        self.told.take(message.get("usage"), whole);
    }

    fn end(&mut self, delta: &Value) {
        self.stop = string(delta, "stop_reason").or_else(|| self.stop.take());
        let explanation = delta.get("stop_details").and_then(|details| string(details, "explanation"));
        self.explanation = explanation.or_else(|| self.explanation.take());
    }

    fn delta(&mut self, index: Option<u64>, delta: &Value) {
        self.begun = true;
        let kind = delta.get("type").and_then(Value::as_str).unwrap_or_default();
        let (name, key) = match kind {
            "text_delta" => ("text", "text"),
            "thinking_delta" => ("thinking", "thinking"),
            "signature_delta" => ("thinking", "signature"),
            "input_json_delta" => ("tool_use", "partial_json"),
            // Citations, and what is yet to come.
            _ => return,
        };
        let piece = delta.get(key).and_then(Value::as_str).unwrap_or_default();
        let block = match index {
            Some(_) => self.blocks.iter_mut().rfind(|block| block.index == index),
            None => self.blocks.last_mut(),
        };
        let block = match block {
            Some(block) => block,
            None => {
                self.blocks.push(Block::new(index, &json!({"type": name})));
                let Some(block) = self.blocks.last_mut() else { return };
                block
            }
        };
        match kind {
            "signature_delta" => block.signature.push_str(piece),
            _ => block.text.push_str(piece),
        }
    }
}

impl Block {
    fn new(index: Option<u64>, head: &Value) -> Self {
        let (kind, key) = match head.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text" => (Kind::Text, "text"),
            "thinking" => (Kind::Thinking, "thinking"),
            "redacted_thinking" => (Kind::Redacted, ""),
            "tool_use" => (Kind::Call, ""),
            _ => (Kind::Other, ""),
        };
        let text = string(head, key).unwrap_or_default();
        let signature = string(head, "signature").unwrap_or_default();
        Self { index, kind, text, head: head.clone(), signature }
    }

    /// Arguments that came in pieces, else those of the block's beginning.
    fn arguments(&self) -> String {
        if !self.text.trim().is_empty() {
            return self.text.clone();
        }
        match self.head.get("input") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) if text.trim().is_empty() => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(input) => input.to_string(),
        }
    }
}

/// What the blocks hold.
#[derive(Default)]
struct Parts {
    content: String,
    reasoning: String,
    calls: Vec<ToolCall>,
    places: Vec<Place>,
}

impl Parts {
    fn of(blocks: &[Block]) -> Self {
        let mut parts = Self::default();
        let mut ids = BTreeSet::new();
        for block in blocks {
            match block.kind {
                Kind::Text if !block.text.is_empty() => {
                    parts.content.push_str(&block.text);
                    parts.places.push(Place::Text(block.text.len()));
                }
                Kind::Thinking => parts.thinking(block),
                Kind::Redacted => parts.places.push(Place::Thinking(block.head.clone())),
                Kind::Call => parts.call(block, &mut ids),
                Kind::Text | Kind::Other => {}
            }
        }
        parts
    }

    fn thinking(&mut self, block: &Block) {
        if !self.reasoning.is_empty() && !block.text.is_empty() {
            self.reasoning.push_str("\n\n");
        }
        self.reasoning.push_str(&block.text);
        // Thinking that was cut has no signature, and is not taken back.
        if !block.signature.is_empty() {
            let thinking = json!({"type": "thinking", "thinking": block.text, "signature": block.signature});
            self.places.push(Place::Thinking(thinking));
        }
    }

    fn call(&mut self, block: &Block, ids: &mut BTreeSet<String>) {
        let Some(name) = string(&block.head, "name") else { return };
        let told = string(&block.head, "id").filter(|id| ids.insert(id.clone()));
        let id = told.unwrap_or_else(|| made_up_id(self.calls.len(), ids));
        ids.insert(id.clone());
        self.calls.push(ToolCall { id, name, arguments: block.arguments() });
        self.places.push(Place::Call);
    }
}

fn finish(name: Option<&str>, calls: bool) -> FinishReason {
    match name {
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("refusal") => FinishReason::Refusal,
        Some("tool_use") => FinishReason::ToolCalls,
        Some("end_turn" | "stop_sequence") | None if calls => FinishReason::ToolCalls,
        Some("end_turn" | "stop_sequence") | None => FinishReason::Stop,
        Some(other) => FinishReason::Other(other.to_owned()),
    }
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use podium_types::usage::Usage;
    use proptest::prelude::*;

    use super::*;
    use crate::provider::trial;

    fn assembled(events: &[Value]) -> Result<Answered, Failed> {
        let mut assembly = MessageAssembly::new(Thinking::Budget);
        for event in events {
            assembly.add(event);
        }
        trial(|attempt| Box::new(assembly).answer(attempt))
    }

    fn start(usage: &Value) -> Value {
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "served", "content": [],
            "stop_reason": null, "usage": usage}})
    }

    fn block(index: u64, block: &Value) -> Value {
        json!({"type": "content_block_start", "index": index, "content_block": block})
    }

    fn delta(index: u64, kind: &str, key: &str, piece: &str) -> Value {
        json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}})
    }

    fn end(reason: &str, usage: &Value) -> Value {
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage})
    }

    fn stop() -> Value {
        json!({"type": "message_stop"})
    }

    fn text(piece: &str) -> Value {
        delta(0, "text_delta", "text", piece)
    }

    #[test]
    fn a_stream_of_every_kind_of_block() {
        let call =
            |id: &str, input: &Value| json!({"type": "tool_use", "id": id, "name": "ls", "input": input});
        let answer = assembled(&[
            start(
                &json!({"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}),
            ),
            json!({"type": "ping"}),
            block(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, "thinking_delta", "thinking", "let me "),
            delta(0, "thinking_delta", "thinking", "see"),
            delta(0, "signature_delta", "signature", "EqQ"),
            delta(0, "signature_delta", "signature", "B"),
            json!({"type": "content_block_stop", "index": 0}),
            block(1, &json!({"type": "redacted_thinking", "data": "xyz"})),
            block(2, &json!({"type": "text", "text": ""})),
            block(3, &call("a", &json!({}))),
            delta(3, "input_json_delta", "partial_json", "{\"pa"),
            delta(2, "text_delta", "text", "I look"),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {}}}),
            delta(2, "text_delta", "text", "."),
            delta(3, "input_json_delta", "partial_json", "th\": 1}"),
            block(4, &call("a", &json!({}))),
            delta(4, "input_json_delta", "partial_json", ""),
            block(5, &json!({"type": "of_the_future", "text": "?"})),
            end("tool_use", &json!({"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}})),
            stop(),
        ]);
        let made = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "ls".into(),
            arguments: arguments.into(),
        };
        let blocks = json!([
            {"type": "thinking", "thinking": "let me see", "signature": "EqQB"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "bytes": 7},
            {"type": "call"},
            {"type": "call"},
        ]);
        let expected = Answered {
            content: "I look.".into(),
            reasoning: Some("let me see".into()),
            tool_calls: vec![made("a", "{\"path\": 1}"), made("call_1", "{}")],
            logprobs: Vec::new(),
            finish: FinishReason::ToolCalls,
            usage: Usage {
                input_tokens: 123,
                cached_input_tokens: 100,
                cache_write_tokens: 20,
                output_tokens: 50,
                reasoning_tokens: 30,
                ..Usage::default()
            },
            id: Some("msg_1".into()),
            model: Some("served".into()),
            provider_state: Some(Box::new(
                json!({"protocol": "anthropic", "model": "any/any", "blocks": blocks}),
            )),
        };
        assert_eq!(answer, Ok(expected));
    }

    #[test]
    fn a_whole_body() {
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "served",
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "tool_use", "id": "a", "name": "ls", "input": {"path": 1}},
            ],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 3},
        });
        let answer = assembled(std::slice::from_ref(&body)).unwrap();
        let call = ToolCall { id: "a".into(), name: "ls".into(), arguments: "{\"path\":1}".into() };
        assert_eq!((answer.content.as_str(), &answer.tool_calls), ("hi", &vec![call]));
        assert_eq!((answer.finish, answer.provider_state), (FinishReason::ToolCalls, None));
        assert_eq!(answer.usage, Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() });
        let mut assembly = MessageAssembly::default();
        assembly.add(&body);
        assert!(assembly.finished() && assembly.complete());
    }

    #[test]
    fn stop_reasons() {
        for (reason, expected) in [
            ("end_turn", FinishReason::Stop),
            ("stop_sequence", FinishReason::Stop),
            ("max_tokens", FinishReason::Length),
            ("model_context_window_exceeded", FinishReason::Length),
            ("tool_use", FinishReason::ToolCalls),
            ("refusal", FinishReason::Refusal),
            ("pause_turn", FinishReason::Other("pause_turn".into())),
            ("of_the_future", FinishReason::Other("of_the_future".into())),
        ] {
            let answer = assembled(&[start(&json!({})), text("hi"), end(reason, &json!({})), stop()]);
            assert_eq!(answer.unwrap().finish, expected);
        }
        let details = json!({"type": "refusal", "explanation": "I may not."});
        let end =
            json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}});
        assert_eq!(assembled(&[start(&json!({})), end]).unwrap().content, "I may not.");
    }

    #[test]
    fn an_answer_is_whole_only_after_its_stop_reason() {
        let head = [start(&json!({"input_tokens": 7, "output_tokens": 1})), text("hi")];
        for (name, events, kind) in [
            ("nothing", Vec::new(), ServiceFailure::BadAnswer),
            ("pings", vec![json!({"type": "ping"}), json!([]), json!("x")], ServiceFailure::BadAnswer),
            ("cut", head.to_vec(), ServiceFailure::Network),
            ("stopped without a reason", [&head[..], &[stop()]].concat(), ServiceFailure::Network),
        ] {
            let failed = assembled(&events).unwrap_err();
            let cause = crate::provider::Cause::Service(kind);
            assert_eq!((failed.cause, failed.settled), (cause, Settled::Unknown), "{name}");
        }
    }

    #[test]
    fn usage_that_was_not_told_in_full_is_estimated() {
        let counts = |head: &Value, tail: &Value| {
            let usage = assembled(&[start(head), text("hi"), end("end_turn", tail), stop()]).unwrap().usage;
            (usage.input_tokens, usage.output_tokens, usage.estimated)
        };
        let table = [
            (
                "both",
                json!({"input_tokens": 7, "output_tokens": 1}),
                json!({"output_tokens": 3}),
                (7, 3, false),
            ),
            (
                "all at the end",
                json!({"input_tokens": 0, "output_tokens": 0}),
                json!({"input_tokens": 7, "output_tokens": 3}),
                (7, 3, false),
            ),
            (
                "cumulative at the end",
                json!({"input_tokens": 5, "cache_read_input_tokens": 2}),
                json!({"input_tokens": 6, "cache_read_input_tokens": 2, "output_tokens": 3}),
                (8, 3, false),
            ),
            ("no output", json!({"input_tokens": 7, "output_tokens": 1}), json!({}), (7, 101, true)),
            ("no input", json!({}), json!({"output_tokens": 3}), (10, 3, true)),
            ("zeros", json!({"input_tokens": 0}), json!({"output_tokens": 0}), (10, 101, true)),
            ("null", Value::Null, Value::Null, (10, 101, true)),
        ];
        for (name, head, tail, expected) in table {
            assert_eq!(counts(&head, &tail), expected, "{name}");
        }
    }

    #[test]
    fn blocks_that_were_never_begun_are_taken_from_their_pieces() {
        let thinking = delta(1, "thinking_delta", "thinking", "hm");
        let loose = json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "!"}});
        let answer = assembled(&[text("hi"), loose, thinking, end("max_tokens", &json!({}))]).unwrap();
        assert_eq!((answer.content.as_str(), answer.reasoning.as_deref()), ("hi!", Some("hm")));
        assert_eq!(answer.provider_state, None, "thinking without a signature is not taken back");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let keys = prop_oneof![
            Just("type"),
            Just("message"),
            Just("content"),
            Just("content_block"),
            Just("delta"),
            Just("usage"),
            Just("input_tokens"),
            Just("output_tokens"),
            Just("stop_reason"),
            Just("index"),
            Just("text"),
            Just("name"),
            Just("input"),
        ];
        let words = prop_oneof![
            Just("message_start"),
            Just("content_block_start"),
            Just("content_block_delta"),
            Just("message_delta"),
            Just("message"),
            Just("text_delta"),
            Just("input_json_delta"),
            Just("tool_use"),
            Just("thinking"),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<u64>().prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
            words.prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 40, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_shape_of_json_panics(events in proptest::collection::vec(any_json(), 0..5)) {
            drop(assembled(&events));
        }
    }
}
