//! Puts an answer together from the events of the Responses API, or from one whole body.
//!
//! An answer is a list of output items (reasoning, messages, calls). The last event repeats them whole, and each item
//! is repeated whole when it is done; both are believed over the pieces before them, for a server may send any of the
//! three. An answer is whole when `response.completed` or `response.incomplete` has come.

use std::collections::BTreeMap;

use podium_types::chat::{FinishReason, TokenLogprob, ToolCall};
use serde_json::Value;

use super::items;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::http::Assembly;
use crate::provider::openai::reading::{Told, logprobs, named, shown, string};
use crate::provider::{Answered, Attempt, Failed};
use crate::tokens;

/// The pieces so far.
#[derive(Default)]
pub(super) struct ResponsesAssembly {
    /// By their place in the output.
    items: BTreeMap<u64, Item>,
    id: Option<String>,
    model: Option<String>,
    /// The last word, once it has come.
    status: Option<String>,
    why_incomplete: Option<String>,
    told: Option<Told>,
}

/// An output item, read or in the making.
#[derive(Default)]
struct Item {
    text: String,
    refusal: String,
    reasoning: String,
    call: Option<ToolCall>,
    logprobs: Vec<TokenLogprob>,
    /// As the server wrote it, once it is done.
    raw: Option<Value>,
}

impl Assembly for ResponsesAssembly {
    fn add(&mut self, piece: &Value) {
        let kind = piece.get("type").and_then(Value::as_str).unwrap_or_default();
        let index = piece.get("output_index").and_then(Value::as_u64);
        match kind {
            "response.output_item.added" | "response.output_item.done" => {
                if let Some(value) = piece.get("item") {
                    let done = kind == "response.output_item.done";
                    let index = index.unwrap_or_else(|| self.unnamed(done));
                    self.items.insert(index, Item::read(value, done));
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.end(piece.get("response").unwrap_or(piece), kind.strip_prefix("response."));
            }
            "" if piece.get("output").is_some_and(Value::is_array) => self.end(piece, None),
            _ => {
                self.meet(piece.get("response").unwrap_or(&Value::Null));
                self.delta(kind, index, piece);
            }
        }
    }

    fn finished(&self) -> bool {
        matches!(self.status.as_deref(), Some("completed" | "incomplete"))
    }

    fn complete(&self) -> bool {
        self.status.is_some()
    }

    fn answer(self: Box<Self>, attempt: &Attempt<'_>) -> Result<Answered, Failed> {
        let broken = |kind, message| Err(Failed::service(kind, Settled::Unknown, message));
        match self.status.as_deref() {
            Some("completed" | "incomplete") => {}
            Some(_) => return broken(ServiceFailure::Server, "the service gave the answer up"),
            None if self.items.is_empty() && self.id.is_none() => {
                return broken(ServiceFailure::BadAnswer, "the answer has no output");
            }
            None => return broken(ServiceFailure::Network, "the stream ended before the answer was whole"),
        }
        let raw: Vec<Value> = self.items.values().filter_map(|item| item.raw.clone()).collect();
        let mut text = String::new();
        let (mut refusal, mut reasoning) = (String::new(), Vec::new());
        let (mut calls, mut logprobs) = (Vec::new(), Vec::new());
        for item in self.items.into_values() {
            text.push_str(&item.text);
            refusal.push_str(&item.refusal);
            reasoning.extend(Some(item.reasoning).filter(|text| !text.is_empty()));
            calls.extend(item.call);
            logprobs.extend(item.logprobs);
        }
        let tool_calls = named(calls.into_iter());
        let refused = text.is_empty() && !refusal.is_empty();
        let finish = finish(self.why_incomplete.as_deref(), refused, !tool_calls.is_empty());
        let content = if refused { refusal } else { text };
        let reasoning = reasoning.join("\n\n");
        let (shown, thought) = (shown(&content, &tool_calls), tokens::estimate_text(&reasoning));
        let usage = match self.told {
            None => attempt.estimated(shown, thought),
            Some(told) => told.usage(shown + thought > 0, || attempt.estimated(shown, thought)),
        };
        Ok(Answered {
            content,
            reasoning: Some(reasoning).filter(|text| !text.is_empty()),
            tool_calls,
            logprobs,
            finish,
            usage,
            id: self.id,
            model: self.model,
            provider_state: items::state(&raw, attempt.model),
        })
    }
}

impl ResponsesAssembly {
    /// The item at `index`; events that name none speak of the last.
    fn item(&mut self, index: Option<u64>) -> &mut Item {
        let index = index.unwrap_or_else(|| self.unnamed(true));
        self.items.entry(index).or_default()
    }

    /// The place of an item without one: that of the last, or the next.
    fn unnamed(&self, known: bool) -> u64 {
        let last = self.items.last_key_value().map(|(index, _)| *index);
        last.map_or(0, |last| if known { last } else { last.saturating_add(1) })
    }

    fn delta(&mut self, kind: &str, index: Option<u64>, piece: &Value) {
        let text = |key: &str| piece.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "response.output_text.delta" => {
                let item = self.item(index);
                item.text.push_str(text("delta"));
                item.logprobs.extend(logprobs(piece.get("logprobs")));
            }
            "response.refusal.delta" => self.item(index).refusal.push_str(text("delta")),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.item(index).reasoning.push_str(text("delta"));
            }
            "response.reasoning_summary_part.added" => {
                let reasoning = &mut self.item(index).reasoning;
                if !reasoning.is_empty() {
                    reasoning.push_str("\n\n");
                }
            }
            "response.function_call_arguments.delta" => {
                if let Some(call) = &mut self.item(index).call {
                    call.arguments.push_str(text("delta"));
                }
            }
            "response.function_call_arguments.done" => {
                if let Some(call) = &mut self.item(index).call
                    && let Some(arguments) = string(piece, "arguments")
                {
                    call.arguments = arguments;
                }
            }
            _ => {}
        }
    }

    fn meet(&mut self, response: &Value) {
        self.id = self.id.take().or_else(|| string(response, "id"));
        self.model = self.model.take().or_else(|| string(response, "model"));
    }

    /// The whole response, after which nothing comes. `event` is the status that the event's name tells.
    fn end(&mut self, response: &Value, event: Option<&str>) {
        self.meet(response);
        let status = string(response, "status").or_else(|| event.map(str::to_owned));
        let status = status.unwrap_or_else(|| "completed".to_owned());
        let output = response.get("output").and_then(Value::as_array);
        if let Some(output) = output.filter(|output| !output.is_empty()) {
            self.items = (0..).zip(output.iter().map(|item| Item::read(item, true))).collect();
        }
        self.why_incomplete = (status == "incomplete").then(|| {
            let details = response.get("incomplete_details");
            details.and_then(|details| string(details, "reason")).unwrap_or_else(|| status.clone())
        });
        self.told = response.get("usage").and_then(|usage| Told::read(usage, true));
        // A body that is still in progress stands for a cut one.
        self.status = Some(status).filter(|status| !matches!(status.as_str(), "in_progress" | "queued"));
    }
}

impl Item {
    fn read(value: &Value, done: bool) -> Self {
        let mut item = Self { raw: done.then(|| value.clone()), ..Self::default() };
        let parts = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
        match value.get("type").and_then(Value::as_str) {
            Some("message") => {
                for part in parts("content") {
                    item.text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
                    item.refusal.push_str(part.get("refusal").and_then(Value::as_str).unwrap_or_default());
                    item.logprobs.extend(logprobs(part.get("logprobs")));
                }
            }
            Some("reasoning") => {
                let texts =
                    parts("summary").chain(parts("content")).filter_map(|part| part.get("text")?.as_str());
                item.reasoning = texts.collect::<Vec<_>>().join("\n\n");
            }
            Some("function_call") => {
                item.call = Some(ToolCall {
                    id: string(value, "call_id").or_else(|| string(value, "id")).unwrap_or_default(),
                    name: string(value, "name").unwrap_or_default(),
                    arguments: match value.get("arguments") {
                        None | Some(Value::Null) => String::new(),
                        Some(Value::String(text)) => text.clone(),
                        Some(other) => other.to_string(),
                    },
                });
            }
            _ => {}
        }
        item
    }
}

fn finish(why_incomplete: Option<&str>, refused: bool, calls: bool) -> FinishReason {
    match why_incomplete {
        _ if refused => FinishReason::Refusal,
        Some("max_output_tokens" | "max_tokens") => FinishReason::Length,
        Some("content_filter") => FinishReason::Refusal,
        Some(other) => FinishReason::Other(other.to_owned()),
        None if calls => FinishReason::ToolCalls,
        None => FinishReason::Stop,
    }
}

#[cfg(test)]
mod tests {
    use podium_types::usage::Usage;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::provider::trial;

    fn assembled(pieces: &[Value]) -> Result<Answered, Failed> {
        let mut assembly = ResponsesAssembly::default();
        for piece in pieces {
            assembly.add(piece);
        }
        trial(|attempt| Box::new(assembly).answer(attempt))
    }

    fn reasoning() -> Value {
        json!({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"})
    }

    fn message() -> Value {
        let token = json!({"token": "hi", "logprob": -0.5, "bytes": [104, 105], "top_logprobs": [{"token": "ho", "logprob": -1.0}]});
        let part = json!({"type": "output_text", "text": "hi", "annotations": [], "logprobs": [token]});
        json!({"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": [part]})
    }

    fn call() -> Value {
        json!({"type": "function_call", "id": "fc", "call_id": "call_a", "name": "ls", "arguments": "{\"path\":1}"})
    }

    /// What the items above are, without the usage.
    fn expected() -> Answered {
        let token = |token: &str, logprob, top| TokenLogprob { token: token.into(), logprob, top };
        let mark = json!([reasoning(), {"type": "message"}, {"type": "function_call", "call_id": "call_a"}]);
        Answered {
            content: "hi".into(),
            reasoning: Some("hm".into()),
            tool_calls: vec![ToolCall {
                id: "call_a".into(),
                name: "ls".into(),
                arguments: "{\"path\":1}".into(),
            }],
            logprobs: vec![token("hi", -0.5, vec![token("ho", -1.0, Vec::new())])],
            finish: FinishReason::ToolCalls,
            usage: Usage {
                input_tokens: 20,
                cached_input_tokens: 4,
                output_tokens: 9,
                reasoning_tokens: 5,
                ..Usage::default()
            },
            id: Some("resp_1".into()),
            model: Some("served".into()),
            provider_state: Some(Box::new(json!({"openai_responses": {"model": "any/any", "items": mark}}))),
        }
    }

    fn whole(status: &str, output: &[Value]) -> Value {
        json!({
            "id": "resp_1",
            "object": "response",
            "model": "served",
            "status": status,
            "error": null,
            "incomplete_details": null,
            "output": output,
            "usage": {
                "input_tokens": 20,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 5},
                "total_tokens": 29,
            },
        })
    }

    fn event(kind: &str, index: u64, mut fields: Value) -> Value {
        fields["type"] = json!(format!("response.{kind}"));
        fields["output_index"] = json!(index);
        fields
    }

    fn last(kind: &str, response: &Value) -> Value {
        json!({"type": format!("response.{kind}"), "response": response})
    }

    fn chain(first: &Value, middle: &[Value], last: &Value) -> Vec<Value> {
        let ends = |value: &Value| std::iter::once(value.clone());
        ends(first).chain(middle.iter().cloned()).chain(ends(last)).collect()
    }

    #[test]
    fn a_body_done_items_and_bare_pieces_give_the_same_answer() {
        let output = [reasoning(), message(), call()];
        let created = last(
            "created",
            &json!({"id": "resp_1", "model": "served", "status": "in_progress", "output": []}),
        );
        let done: Vec<Value> = (0..)
            .zip(output.clone())
            .map(|(index, item)| event("output_item.done", index, json!({"item": item})))
            .collect();
        assert_eq!(assembled(&[whole("completed", &output)]).unwrap(), expected());
        assert_eq!(
            assembled(&[created.clone(), last("completed", &whole("completed", &output))]).unwrap(),
            expected()
        );
        let ends_bare = last("completed", &whole("completed", &[]));
        assert_eq!(assembled(&chain(&created, &done, &ends_bare)).unwrap(), expected());
        let opened =
            json!({"type": "function_call", "id": "fc", "call_id": "call_a", "name": "ls", "arguments": ""});
        let token = message()["content"][0]["logprobs"].clone();
        let pieces = [
            created,
            event("output_item.added", 0, json!({"item": {"type": "reasoning", "summary": []}})),
            event("reasoning_summary_part.added", 0, json!({})),
            event("reasoning_summary_text.delta", 0, json!({"delta": "h"})),
            event("output_item.added", 2, json!({"item": opened})),
            event("reasoning_summary_text.delta", 0, json!({"delta": "m"})),
            event("function_call_arguments.delta", 2, json!({"delta": "{\"path\""})),
            event("content_part.added", 1, json!({"part": {"type": "output_text", "text": ""}})),
            event("output_text.delta", 1, json!({"delta": "h", "logprobs": []})),
            event("function_call_arguments.delta", 2, json!({"delta": ":1}"})),
            event("output_text.delta", 1, json!({"delta": "i", "logprobs": token})),
            event("someone.elses", 1, json!({"delta": "x"})),
            ends_bare,
        ];
        assert_eq!(assembled(&pieces).unwrap(), Answered { provider_state: None, ..expected() });
    }

    #[test]
    fn endings_are_told_apart() {
        let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": "I can't"}]});
        let incomplete = |reason: &str| {
            let mut response = whole("incomplete", &[message()]);
            response["incomplete_details"] = json!({"reason": reason});
            last("incomplete", &response)
        };
        let other = FinishReason::Other("soon".into());
        for (name, piece, content, finish) in [
            ("done", last("completed", &whole("completed", &[message()])), "hi", FinishReason::Stop),
            ("limit", incomplete("max_output_tokens"), "hi", FinishReason::Length),
            ("filter", incomplete("content_filter"), "hi", FinishReason::Refusal),
            ("else", incomplete("soon"), "hi", other),
            ("refusal", whole("completed", &[refusal]), "I can't", FinishReason::Refusal),
        ] {
            let answer = assembled(&[piece]).unwrap();
            assert_eq!((answer.content.as_str(), answer.finish), (content, finish), "{name}");
        }
    }

    #[test]
    fn what_is_not_whole_is_unknown() {
        let delta = || event("output_text.delta", 0, json!({"delta": "hi"}));
        for (name, pieces, kind) in [
            ("nothing", vec![], ServiceFailure::BadAnswer),
            ("another protocol", vec![json!({"choices": []})], ServiceFailure::BadAnswer),
            ("cut", vec![delta()], ServiceFailure::Network),
            ("in progress", vec![whole("in_progress", &[message()])], ServiceFailure::Network),
            ("failed", vec![delta(), last("failed", &whole("failed", &[]))], ServiceFailure::Server),
            ("cancelled", vec![whole("cancelled", &[message()])], ServiceFailure::Server),
        ] {
            let failed = assembled(&pieces).unwrap_err();
            assert_eq!(
                (failed.cause, failed.settled),
                (crate::provider::Cause::Service(kind), Settled::Unknown),
                "{name}"
            );
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let keys = prop::sample::select(vec![
            "type",
            "item",
            "response",
            "output",
            "output_index",
            "delta",
            "content",
            "summary",
            "text",
            "arguments",
            "usage",
            "input_tokens",
            "status",
            "logprobs",
            "token",
            "logprob",
            "incomplete_details",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
            prop::sample::select(vec![
                "message",
                "reasoning",
                "function_call",
                "response.output_item.added",
                "response.output_item.done",
                "response.output_text.delta",
                "response.completed",
                "completed",
                "response.function_call_arguments.delta",
            ])
            .prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 40, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_shape_of_json_panics(pieces in proptest::collection::vec(any_json(), 0..6)) {
            drop(assembled(&pieces));
        }
    }
}
