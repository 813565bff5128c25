//! Puts an answer together from its pieces: the chunks of a stream, or one whole body.
//!
//! Servers vary, so every field is read from a plain JSON value and taken only if it has a shape we know: content as
//! text, as parts or null; reasoning under two names; tool calls with or without index and id, arguments as text or
//! as an object. An answer is whole when its finish reason has come, or when it came as one body.

use podium_types::chat::{FinishReason, TokenLogprob, ToolCall};
use serde_json::Value;

use super::reasoning::{self, Details};
use crate::endpoint::ReasoningBack;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::http::Assembly;
use crate::provider::openai::reading::{Told, logprobs, named, shown, string};
use crate::provider::{Answered, Attempt, Failed};
use crate::tokens;

/// The pieces so far.
#[derive(Default)]
pub(super) struct ChatAssembly {
    content: String,
    reasoning: String,
    refusal: String,
    details: Details,
    logprobs: Vec<TokenLogprob>,
    calls: Vec<Piece>,
    finish: Option<String>,
    told: Option<Told>,
    id: Option<String>,
    model: Option<String>,
    any_choice: bool,
    whole_body: bool,
    back: Option<ReasoningBack>,
    tells_cost: bool,
}

struct Piece {
    index: Option<u64>,
    call: ToolCall,
}

impl Assembly for ChatAssembly {
    fn add(&mut self, value: &Value) {
        self.id = self.id.take().or_else(|| string(value, "id"));
        self.model = self.model.take().or_else(|| string(value, "model"));
        if let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) {
            self.add_choice(choice);
        }
        if let Some(usage) = value.get("usage")
            && let Some(told) = Told::read(usage, self.finished())
        {
            self.told = Some(if self.tells_cost { told.with_cost(usage) } else { told });
        }
    }

    fn finished(&self) -> bool {
        self.finish.is_some() || self.whole_body
    }

    fn complete(&self) -> bool {
        self.told.is_some_and(|told| told.at_end)
    }

    fn answer(self: Box<Self>, attempt: &Attempt<'_>) -> Result<Answered, Failed> {
        // A usage told on the way does not bound what the server has made since.
        let broken = |kind, message| Err(Failed::service(kind, Settled::Unknown, message));
        if !self.any_choice {
            return broken(ServiceFailure::BadAnswer, "the answer has no choices");
        }
        if !self.finished() {
            return broken(ServiceFailure::Network, "the stream ended before the answer was whole");
        }
        if let Some("error" | "insufficient_system_resource") = self.finish.as_deref() {
            return broken(ServiceFailure::Server, "the service gave the answer up");
        }
        let refused = self.content.is_empty() && !self.refusal.is_empty();
        let tool_calls = named(self.calls.into_iter().map(|piece| piece.call));
        let finish = finish(self.finish.as_deref(), refused, !tool_calls.is_empty());
        let content = if refused { self.refusal } else { self.content };
        let shown = shown(&content, &tool_calls);
        let reasoning = tokens::estimate_text(&self.reasoning);
        let (text, details) = (&self.reasoning, &self.details);
        let state = |back| reasoning::state(back, attempt.model, text, details);
        let provider_state = self.back.and_then(state);
        let usage = match self.told {
            None => attempt.estimated(shown, reasoning),
            Some(told) => told.usage(shown + reasoning > 0, || attempt.estimated(shown, reasoning)),
        };
        Ok(Answered {
            content,
            reasoning: Some(self.reasoning).filter(|text| !text.is_empty()),
            tool_calls,
            logprobs: self.logprobs,
            finish,
            usage,
            id: self.id,
            model: self.model,
            provider_state,
        })
    }
}

impl ChatAssembly {
    /// Nothing yet, from a server that wants `back` its reasoning, and may tell what an answer cost.
    pub(super) fn new(back: Option<ReasoningBack>, tells_cost: bool) -> Self {
        Self { back, tells_cost, ..Self::default() }
    }

    fn add_choice(&mut self, choice: &Value) {
        self.any_choice = true;
        // A failure after the end is none of the answer's.
        if let Some(finish) =
            string(choice, "finish_reason").filter(|name| name != "error" || !self.finished())
        {
            self.finish = Some(finish);
        }
        self.whole_body |= choice.get("message").is_some_and(Value::is_object);
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(choice);
        self.content.push_str(&content(delta.get("content").or_else(|| delta.get("text"))));
        let reasoning = delta.get("reasoning_content").or_else(|| delta.get("reasoning"));
        self.reasoning.push_str(&content(reasoning));
        self.refusal.push_str(&content(delta.get("refusal")));
        self.details.add(delta.get("reasoning_details"));
        self.logprobs.extend(logprobs(choice.get("logprobs").and_then(|logprobs| logprobs.get("content"))));
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.add_call(call);
        }
    }

    fn add_call(&mut self, piece: &Value) {
        let function = piece.get("function").unwrap_or(piece);
        let index = piece.get("index").and_then(Value::as_u64).filter(|_| !self.whole_body);
        let id = string(piece, "id").unwrap_or_default();
        let name = string(function, "name").unwrap_or_default();
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let open = match index {
            Some(_) => self.calls.iter_mut().find(|call| call.index == index),
            // Without an index, a piece that names nothing goes on with the last call.
            None => self
                .calls
                .last_mut()
                .filter(|call| !self.whole_body && name.is_empty() && (id.is_empty() || call.call.id == id)),
        };
        match open {
            Some(open) => {
                if open.call.id.is_empty() {
                    open.call.id = id;
                }
                if open.call.name.is_empty() {
                    open.call.name = name;
                }
                open.call.arguments.push_str(&arguments);
            }
            None => self.calls.push(Piece { index, call: ToolCall { id, name, arguments } }),
        }
    }
}

fn finish(name: Option<&str>, refused: bool, calls: bool) -> FinishReason {
    match name {
        _ if refused => FinishReason::Refusal,
        Some("length" | "max_tokens") => FinishReason::Length,
        Some("content_filter" | "refusal") => FinishReason::Refusal,
        Some("tool_calls" | "function_call") => FinishReason::ToolCalls,
        Some("stop" | "end_turn" | "eos") | None if calls => FinishReason::ToolCalls,
        Some("stop" | "end_turn" | "eos") | None => FinishReason::Stop,
        Some(other) => FinishReason::Other(other.to_owned()),
    }
}

/// Text given as such or as a list of parts.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::provider::trial;

    fn assembled(chunks: &[Value]) -> Result<Answered, Failed> {
        let mut assembly = ChatAssembly::default();
        for chunk in chunks {
            assembly.add(chunk);
        }
        trial(|attempt| Box::new(assembly).answer(attempt))
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better with `json!` at the call")]
    fn delta(delta: Value, finish: Option<&str>) -> Value {
        json!({"choices": [{"delta": delta, "finish_reason": finish}]})
    }

    #[test]
    fn interleaved_calls_come_together() {
        let piece = |index: u64, id: &str, name: &str, arguments: &str| {
            let call = json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
            delta(json!({"tool_calls": [call]}), None)
        };
        let answer = assembled(&[
            piece(0, "a", "ls", "{\"pa"),
            piece(1, "a", "cat", "{"),
            piece(0, "", "", "th\":1}"),
            piece(1, "", "", "}"),
            delta(json!({"content": null}), Some("tool_calls")),
        ]);
        let calls = answer.unwrap().tool_calls;
        let call = |id: &str, name: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        assert_eq!(calls, [call("a", "ls", "{\"path\":1}"), call("call_1", "cat", "{}")]);
    }

    #[test]
    fn calls_without_index_and_id_go_on_with_the_last() {
        let piece = |function: Value| delta(json!({"tool_calls": [{"function": function}]}), None);
        let answer = assembled(&[
            piece(json!({"name": "ls", "arguments": ""})),
            piece(json!({"arguments": "{}"})),
            piece(json!({"name": "ls", "arguments": {"path": "."}})),
            delta(json!({}), Some("stop")),
        ]);
        let answer = answer.unwrap();
        let arguments: Vec<&str> = answer.tool_calls.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!((arguments, answer.finish), (vec!["{}", r#"{"path":"."}"#], FinishReason::ToolCalls));
    }

    #[test]
    fn a_whole_body_needs_no_finish_reason() {
        let parts = json!([{"type": "text", "text": "a"}, "b"]);
        let answer = assembled(&[json!({"choices": [{"message": {"content": parts}}]})]).unwrap();
        assert_eq!((answer.content.as_str(), answer.finish), ("ab", FinishReason::Stop));
        assert!(answer.usage.estimated && answer.usage.input_tokens == 10);
    }

    #[test]
    fn a_refusal_is_the_answer() {
        let answer = assembled(&[delta(json!({"refusal": "I can't"}), Some("stop"))]).unwrap();
        assert_eq!((answer.content.as_str(), answer.finish), ("I can't", FinishReason::Refusal));
    }

    #[test]
    fn usage_that_was_not_told_in_full_is_estimated() {
        let usage = |usage: Value| json!({"choices": [], "usage": usage});
        let hi = || delta(json!({"content": "hi"}), None);
        let end = || delta(json!({}), Some("stop"));
        let counts = |chunks: &[Value]| {
            let usage = assembled(chunks).unwrap().usage;
            (usage.input_tokens, usage.output_tokens, usage.estimated)
        };
        let full = usage(json!({"prompt_tokens": 7, "completion_tokens": 3}));
        assert_eq!(counts(&[hi(), end(), full.clone()]), (7, 3, false));
        let table = [
            ("told before the end", vec![full, hi(), end()], (7, 101, true)),
            ("no completion", vec![hi(), end(), usage(json!({"prompt_tokens": 7}))], (7, 101, true)),
            ("no prompt", vec![hi(), end(), usage(json!({"completion_tokens": 3}))], (10, 3, true)),
            (
                "zeros",
                vec![hi(), end(), usage(json!({"prompt_tokens": 0, "completion_tokens": 0}))],
                (10, 101, true),
            ),
            ("null", vec![hi(), end(), usage(Value::Null)], (10, 101, true)),
        ];
        for (name, chunks, expected) in table {
            assert_eq!(counts(&chunks), expected, "{name}");
        }
        let reasoning = json!({"reasoning_tokens": 50});
        for (name, told) in [
            (
                "beside",
                json!({"prompt_tokens": 7, "completion_tokens": 3, "completion_tokens_details": reasoning}),
            ),
            ("in the total", json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 60})),
        ] {
            assert_eq!(counts(&[hi(), end(), usage(told)]), (7, 53, false), "reasoning {name}");
        }
    }

    #[test]
    fn a_cut_stream_is_unknown_whatever_it_told_on_the_way() {
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}});
        let failed = assembled(&[delta(json!({"content": "hi"}), None), usage]).unwrap_err();
        assert_eq!(failed.settled, Settled::Unknown);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let keys = prop_oneof![
            Just("choices"),
            Just("delta"),
            Just("message"),
            Just("content"),
            Just("tool_calls"),
            Just("function"),
            Just("usage"),
            Just("prompt_tokens"),
            Just("finish_reason"),
            Just("index"),
            Just("arguments"),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
            Just(json!(true)),
        ];
        leaf.prop_recursive(6, 40, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_shape_of_json_panics(chunks in proptest::collection::vec(any_json(), 0..4)) {
            drop(assembled(&chunks));
        }
    }
}
