//! Puts an answer together from its chunks, each a whole `GenerateContentResponse`: a stream of them, an array of
//! them in one body, or a single one.
//!
//! The first candidate is the answer. Older servers repeat a finish reason with every chunk, so the stream is read to
//! its end. A prompt that was blocked has no candidates: that is a refusal, and whole.

use podium_types::chat::{FinishReason, TokenLogprob, ToolCall};
use serde_json::Value;

use super::parts;
use super::usage::Told;
use crate::error::ServiceFailure;
use crate::ledger::Settled;
use crate::provider::http::Assembly;
use crate::provider::{Answered, Attempt, Failed};
use crate::tokens;

/// The chunks so far.
#[derive(Default)]
pub(super) struct GeminiAssembly {
    parts: Vec<Value>,
    logprobs: Vec<TokenLogprob>,
    finish: Option<String>,
    /// Why the prompt was not answered at all.
    blocked: Option<String>,
    /// The service's words about the end, where it says any.
    words: Option<String>,
    told: Told,
    id: Option<String>,
    model: Option<String>,
    any_candidate: bool,
}

impl Assembly for GeminiAssembly {
    fn add(&mut self, piece: &Value) {
        if let Value::Array(chunks) = piece {
            for chunk in chunks {
                self.add_chunk(chunk);
            }
        } else {
            self.add_chunk(piece);
        }
    }

    fn adds(&self, piece: &Value) -> bool {
        let has_parts = |chunk: &Value| {
            chunk
                .pointer("/candidates/0/content/parts")
                .and_then(Value::as_array)
                .is_some_and(|all| !all.is_empty())
        };
        match piece {
            Value::Array(chunks) => chunks.iter().any(has_parts),
            chunk => has_parts(chunk),
        }
    }

    fn finished(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    fn complete(&self) -> bool {
        false
    }

    fn answer(self: Box<Self>, attempt: &Attempt<'_>) -> Result<Answered, Failed> {
        let broken = |kind, message| Err(Failed::service(kind, Settled::Unknown, message));
        if !self.finished() {
            return if self.any_candidate {
                broken(ServiceFailure::Network, "the stream ended before the answer was whole")
            } else {
                broken(ServiceFailure::BadAnswer, "the answer has no candidates")
            };
        }
        let tool_calls: Vec<ToolCall> = parts::calls(&self.parts).into_iter().flatten().collect();
        let said: String = self.parts.iter().filter_map(parts::said).collect();
        let thought: String = self.parts.iter().filter_map(parts::thought).collect();
        let written =
            |call: &ToolCall| tokens::estimate_text(&call.name) + tokens::estimate_text(&call.arguments);
        let shown = tokens::estimate_text(&said) + tool_calls.iter().map(written).sum::<u64>();
        let reasoning = tokens::estimate_text(&thought);
        let usage = self.told.usage(shown + reasoning > 0, || attempt.estimated(shown, reasoning));
        let finish = match self.finish {
            Some(reason) => finish(reason, !tool_calls.is_empty()),
            None => FinishReason::Refusal,
        };
        let silent = said.is_empty() && tool_calls.is_empty();
        let words = self.words.filter(|_| silent && !matches!(finish, FinishReason::Stop));
        Ok(Answered {
            content: words.unwrap_or(said),
            reasoning: Some(thought).filter(|text| !text.is_empty()),
            tool_calls,
            logprobs: self.logprobs,
            finish,
            usage,
            id: self.id,
            model: self.model,
            provider_state: parts::state(self.parts),
        })
    }
}

impl GeminiAssembly {
    fn add_chunk(&mut self, chunk: &Value) {
        self.id = self.id.take().or_else(|| string(chunk, "responseId"));
        self.model = self.model.take().or_else(|| string(chunk, "modelVersion"));
        if let Some(candidate) = chunk.get("candidates").and_then(|candidates| candidates.get(0)) {
            self.add_candidate(candidate);
        }
        if let Some(feedback) = chunk.get("promptFeedback") {
            let reason = string(feedback, "blockReason").filter(|reason| !reason.ends_with("_UNSPECIFIED"));
            self.blocked = self.blocked.take().or(reason);
            self.words = self.words.take().or_else(|| string(feedback, "blockReasonMessage"));
        }
        if let Some(usage) = chunk.get("usageMetadata") {
            self.told.add(usage, self.finish.is_some() || self.blocked.is_some());
        }
    }

    fn add_candidate(&mut self, candidate: &Value) {
        self.any_candidate = true;
        if let Some(reason) = string(candidate, "finishReason")
            && !reason.ends_with("_UNSPECIFIED")
        {
            self.finish = Some(reason);
        }
        self.words = self.words.take().or_else(|| string(candidate, "finishMessage"));
        let parts = candidate.get("content").and_then(|content| content.get("parts"));
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            parts::push(&mut self.parts, part);
        }
        if let Some(result) = candidate.get("logprobsResult") {
            self.logprobs.extend(logprobs(result));
        }
    }
}

fn finish(reason: String, calls: bool) -> FinishReason {
    match reason.as_str() {
        "STOP" if calls => FinishReason::ToolCalls,
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" => FinishReason::Refusal,
        _ => FinishReason::Other(reason),
    }
}

/// The chosen tokens, each with the likeliest in its place.
fn logprobs(result: &Value) -> Vec<TokenLogprob> {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let tops = list(result.get("topCandidates"));
    let chosen = list(result.get("chosenCandidates"));
    let with_top = chosen.iter().enumerate().filter_map(|(place, token)| {
        let top = list(tops.get(place).and_then(|top| top.get("candidates")));
        Some(TokenLogprob { top: top.iter().filter_map(logprob).collect(), ..logprob(token)? })
    });
    with_top.collect()
}

fn logprob(token: &Value) -> Option<TokenLogprob> {
    let logprob = token.get("logProbability")?.as_f64()?;
    Some(TokenLogprob { token: token.get("token")?.as_str()?.to_owned(), logprob, top: Vec::new() })
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use podium_types::usage::Usage;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::provider::trial;

    fn assembled(chunks: &[Value]) -> Result<Answered, Failed> {
        let mut assembly = GeminiAssembly::default();
        for chunk in chunks {
            assembly.add(chunk);
        }
        trial(|attempt| Box::new(assembly).answer(attempt))
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better with `json!` at the call")]
    fn chunk(parts: Value, finish: Option<&str>) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        json!({"candidates": [candidate], "modelVersion": "gemini-x", "responseId": "r1"})
    }

    fn with_usage(mut chunk: Value, usage: Value) -> Value {
        chunk["usageMetadata"] = usage;
        chunk
    }

    #[test]
    fn only_parts_make_an_answer_longer() {
        let assembly = GeminiAssembly::default();
        let more = chunk(json!([{"text": "a"}]), Some("STOP"));
        assert!(assembly.adds(&more) && assembly.adds(&json!([{}, more])));
        for piece in [json!({}), json!([]), json!({"candidates": []}), chunk(json!([]), Some("STOP"))] {
            assert!(!assembly.adds(&piece), "{piece}");
        }
    }

    fn answered(content: &str) -> Answered {
        Answered {
            content: content.into(),
            reasoning: None,
            tool_calls: Vec::new(),
            logprobs: Vec::new(),
            finish: FinishReason::Stop,
            usage: Usage { input_tokens: 10, output_tokens: 101, estimated: true, ..Usage::default() },
            id: Some("r1".into()),
            model: Some("gemini-x".into()),
            provider_state: None,
        }
    }

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    /// A stream of thoughts, text, calls and signatures.
    fn stream() -> Vec<Value> {
        let usage = |thoughts: u64, shown: Option<u64>, total: u64| {
            json!({"promptTokenCount": 20, "toolUsePromptTokenCount": 2, "cachedContentTokenCount": 5,
                "thoughtsTokenCount": thoughts, "candidatesTokenCount": shown, "totalTokenCount": total})
        };
        vec![
            with_usage(chunk(json!([{"text": "Let me ", "thought": true}]), None), usage(30, None, 52)),
            chunk(json!([{"text": "see.", "thought": true}, {"text": "I'll "}]), None),
            chunk(json!([{"text": "look"}, {"text": "", "thoughtSignature": "c2ln"}]), None),
            chunk(
                json!([{"functionCall": {"id": "f1", "name": "ls", "args": {"path": "."}}, "thoughtSignature": "czI="}]),
                None,
            ),
            with_usage(
                chunk(json!([{"functionCall": {"name": "pwd"}}]), Some("STOP")),
                usage(30, Some(9), 61),
            ),
        ]
    }

    fn streamed() -> Answered {
        let parts = json!([
            {"text": "I'll look"},
            {"text": "", "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "f1", "name": "ls", "args": {"path": "."}}, "thoughtSignature": "czI="},
            {"functionCall": {"name": "pwd"}},
        ]);
        Answered {
            reasoning: Some("Let me see.".into()),
            tool_calls: vec![call("f1", "ls", r#"{"path":"."}"#), call("call_1", "pwd", "{}")],
            finish: FinishReason::ToolCalls,
            usage: Usage {
                input_tokens: 22,
                cached_input_tokens: 5,
                output_tokens: 39,
                reasoning_tokens: 30,
                ..Usage::default()
            },
            provider_state: Some(Box::new(json!({"protocol": "gemini", "parts": parts}))),
            ..answered("I'll look")
        }
    }

    #[test]
    fn a_stream_and_an_array_of_chunks_are_one_answer() {
        assert_eq!(assembled(&stream()), Ok(streamed()));
        assert_eq!(assembled(&[Value::Array(stream())]), Ok(streamed()));
    }

    #[test]
    fn ends_are_told_apart() {
        use FinishReason::{Length, Other, Refusal, Stop};
        let table = [
            ("STOP", Stop),
            ("MAX_TOKENS", Length),
            ("SAFETY", Refusal),
            ("RECITATION", Refusal),
            ("PROHIBITED_CONTENT", Refusal),
            ("BLOCKLIST", Refusal),
            ("SPII", Refusal),
            ("MALFORMED_FUNCTION_CALL", Other("MALFORMED_FUNCTION_CALL".into())),
            ("UNEXPECTED_TOOL_CALL", Other("UNEXPECTED_TOOL_CALL".into())),
            ("OTHER", Other("OTHER".into())),
            ("NEWLY_INVENTED", Other("NEWLY_INVENTED".into())),
        ];
        for (reason, finish) in table {
            let answer = assembled(&[chunk(json!([{"text": "hi"}]), Some(reason))]);
            assert_eq!(answer, Ok(Answered { finish, ..answered("hi") }), "{reason}");
        }
        let mut silent = chunk(json!([]), Some("MALFORMED_FUNCTION_CALL"));
        silent["candidates"][0]["finishMessage"] = json!("Malformed function call: print(");
        let finish = Other("MALFORMED_FUNCTION_CALL".into());
        let expected = Answered { finish, ..answered("Malformed function call: print(") };
        assert_eq!(assembled(&[silent]), Ok(expected));
    }

    #[test]
    fn a_blocked_prompt_is_a_refusal() {
        let body = json!({
            "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
            "usageMetadata": {"promptTokenCount": 8, "totalTokenCount": 8},
        });
        let expected = Answered {
            finish: FinishReason::Refusal,
            usage: Usage { input_tokens: 8, ..Usage::default() },
            id: None,
            model: None,
            ..answered("")
        };
        assert_eq!(assembled(&[body]), Ok(expected));
    }

    #[test]
    fn what_is_not_whole_is_no_answer() {
        let failed = |kind, message: &str| Err(Failed::service(kind, Settled::Unknown, message));
        let cut = failed(ServiceFailure::Network, "the stream ended before the answer was whole");
        assert_eq!(assembled(&stream()[..4]), cut);
        assert_eq!(assembled(&[chunk(json!([{"text": "a"}]), Some("FINISH_REASON_UNSPECIFIED"))]), cut);
        let empty = failed(ServiceFailure::BadAnswer, "the answer has no candidates");
        for body in
            [json!([]), json!({}), json!([1, 2]), json!({"candidates": []}), json!({"candidates": null})]
        {
            assert_eq!(assembled(std::slice::from_ref(&body)), empty, "{body}");
        }
    }

    #[test]
    fn usage_that_was_not_told_in_full_is_estimated() {
        let hi = |usage: Value| with_usage(chunk(json!([{"text": "hi"}]), None), usage);
        let end = |usage: Value| with_usage(chunk(json!([]), Some("STOP")), usage);
        let full = || json!({"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10});
        let hidden = json!({"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 200});
        let table = [
            ("in full", vec![hi(json!({})), end(full())], (7, 3, false)),
            ("with a total above its parts", vec![hi(json!({})), end(hidden)], (7, 193, false)),
            ("before the end only", vec![hi(full()), end(json!({}))], (7, 101, true)),
            ("no counts", vec![hi(json!(null)), end(json!("?"))], (10, 101, true)),
            ("no prompt", vec![hi(json!({})), end(json!({"candidatesTokenCount": 3}))], (10, 3, true)),
            ("no output", vec![hi(json!({})), end(json!({"promptTokenCount": 7}))], (7, 101, true)),
            (
                "zero output",
                vec![hi(json!({})), end(json!({"promptTokenCount": 7, "totalTokenCount": 7}))],
                (7, 101, true),
            ),
        ];
        for (name, chunks, expected) in table {
            let usage = assembled(&chunks).unwrap().usage;
            assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), expected, "{name}");
        }
    }

    #[test]
    fn log_probabilities_come_with_their_alternatives() {
        let token =
            |token: &str, logprob: f64| json!({"token": token, "tokenId": 1, "logProbability": logprob});
        let mut end = chunk(json!([{"text": "hi"}]), Some("STOP"));
        end["candidates"][0]["logprobsResult"] = json!({
            "chosenCandidates": [token("h", -0.5), token("i", -0.25), {"token": "lost"}],
            "topCandidates": [{"candidates": [token("h", -0.5), token("H", -2.0)]}],
        });
        let told = |token: &str, logprob: f64, top: Vec<TokenLogprob>| TokenLogprob {
            token: token.into(),
            logprob,
            top,
        };
        let top = vec![told("h", -0.5, Vec::new()), told("H", -2.0, Vec::new())];
        let expected = vec![told("h", -0.5, top), told("i", -0.25, Vec::new())];
        assert_eq!(assembled(&[end]).unwrap().logprobs, expected);
    }

    #[test]
    fn ids_are_made_up_where_missing_or_given_twice() {
        let named = |id: Value| json!({"functionCall": {"id": id, "name": "ls", "args": "{}"}});
        let parts =
            json!([named(json!("call_1")), named(json!("call_1")), named(json!(7)), {"functionCall": {}}]);
        let answer = assembled(&[chunk(parts, Some("STOP"))]).unwrap();
        let expected = ["call_1", "call_2", "call_3"].map(|id| call(id, "ls", "{}"));
        assert_eq!(answer.tool_calls, expected);
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            prop_oneof![Just("STOP".to_owned()), ".*"].prop_map(Value::from),
        ];
        let keys = prop::sample::select(vec![
            "candidates",
            "content",
            "parts",
            "text",
            "thought",
            "thoughtSignature",
            "functionCall",
            "name",
            "args",
            "id",
            "finishReason",
            "usageMetadata",
            "promptTokenCount",
            "totalTokenCount",
            "candidatesTokenCount",
            "promptFeedback",
            "blockReason",
            "logprobsResult",
            "chosenCandidates",
            "topCandidates",
        ]);
        leaf.prop_recursive(6, 64, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(keys.clone().prop_map(str::to_owned), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn nothing_a_server_sends_panics(pieces in prop::collection::vec(anything(), 0..5)) {
            drop(assembled(&pieces));
        }

        #[test]
        fn where_a_text_is_split_does_not_matter(text in "\\PC{0,60}", cut in 0..60usize) {
            let at = text.char_indices().nth(cut).map_or(text.len(), |(at, _)| at);
            let (head, tail) = text.split_at(at);
            let answer = assembled(&[chunk(json!([{"text": head}]), None), chunk(json!([{"text": tail}]), Some("STOP"))]);
            prop_assert_eq!(answer.unwrap().content, text);
        }
    }
}
