//! Puts an answer together from its pieces: the events of a stream, or one whole body.
//!
//! Every field is read from a plain JSON value and taken only if it has a shape we know; blocks and events of other
//! kinds are passed over. An answer is whole when its stop reason has come, or when it came as one body.

use std::collections::BTreeSet;

use podium_types::chat::{FinishReason, ToolCall};
use podium_types::usage::Usage;
use serde_json::{Value, json};

use super::state::{self, Place};
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::http::Assembly;
use crate::provider::{Answered, Attempt, Failed};
use crate::tokens;

/// The pieces so far.
#[derive(Default)]
pub(super) struct MessageAssembly {
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
            provider_state: state::kept(attempt.model, &parts.places),
        })
    }
}

impl MessageAssembly {
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
        let id = told.unwrap_or_else(|| format!("call_{}", self.calls.len()));
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

/// Token counts, as told at the head of a stream and, cumulatively, at its end; the larger counts.
#[derive(Clone, Copy, Default)]
struct Told {
    /// Neither read from the cache nor written to it.
    fresh: u64,
    read: u64,
    written: u64,
    output: u64,
    thinking: u64,
    /// The output count came with the end of the answer, and so is of all of it.
    at_end: bool,
}

impl Told {
    fn take(&mut self, usage: Option<&Value>, at_end: bool) {
        let Some(usage) = usage else { return };
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        let larger = |old: &mut u64, key: &str| *old = (*old).max(count(key).unwrap_or_default());
        larger(&mut self.fresh, "input_tokens");
        larger(&mut self.read, "cache_read_input_tokens");
        larger(&mut self.written, "cache_creation_input_tokens");
        larger(&mut self.output, "output_tokens");
        let details = usage.get("output_tokens_details").and_then(|details| details.get("thinking_tokens"));
        self.thinking = self.thinking.max(details.and_then(Value::as_u64).unwrap_or_default());
        self.at_end |= at_end && count("output_tokens").is_some();
    }

    /// The usage of the answer. What was not told, or told too early, is taken from the estimate.
    fn usage(self, any_text: bool, estimated: impl Fn() -> Usage) -> Usage {
        let input = self.fresh.saturating_add(self.read).saturating_add(self.written);
        let output_told = self.at_end && (self.output > 0 || !any_text);
        let told = Usage {
            input_tokens: input,
            cached_input_tokens: self.read,
            cache_write_tokens: self.written,
            output_tokens: self.output,
            reasoning_tokens: self.thinking.min(self.output),
            ..Usage::default()
        };
        if input > 0 && output_told {
            return told;
        }
        let estimate = estimated();
        Usage {
            input_tokens: if input > 0 { input } else { estimate.input_tokens },
            output_tokens: if output_told { self.output } else { self.output.max(estimate.output_tokens) },
            estimated: true,
            ..told
        }
    }
}
