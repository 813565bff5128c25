//! Chat completions: chunks with `choices[].delta`, the usage in a chunk of its own, `[DONE]` at the end; as OpenAI,
//! Azure and OpenRouter write them.

use serde_json::{Map, Value, json};

use super::{Call, End, Event, Place, Protocol, Say};

pub(super) struct OpenAiChat {
    pub(super) model: &'static str,
}

impl OpenAiChat {
    fn is(&self, provider: &str) -> bool {
        self.model.starts_with(provider)
    }

    fn chunk(say: &Say, place: Place, delta: &Value, finish: Option<&str>) -> Event {
        let data = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_764_000_000, "model": say.model,
            "system_fingerprint": null,
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
            "usage": null,
        });
        Event { name: None, data, place }
    }
}

impl Protocol for OpenAiChat {
    fn model(&self) -> &'static str {
        self.model
    }

    fn path(&self) -> &'static str {
        if self.is("azure") {
            "/openai/deployments/any/chat/completions?api-version=2024-10-21"
        } else {
            "/v1/chat/completions"
        }
    }

    fn key_header(&self) -> &'static str {
        if self.is("azure") { "api-key: " } else { "authorization: bearer " }
    }

    fn events(&self, say: &Say) -> Option<Vec<Event>> {
        let empty = json!({"role": "assistant", "content": "", "refusal": null});
        let mut events = vec![Self::chunk(say, Place::Before, &empty, None)];
        if self.is("azure") {
            // What the filter found in the prompt comes first, in a chunk without a choice.
            let filter =
                json!([{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": false}}}]);
            let data = json!({"id": "", "object": "", "created": 0, "model": "", "choices": [],
                "prompt_filter_results": filter});
            events.insert(0, Event { name: None, data, place: Place::Before });
        }
        for text in &say.text {
            let field = if say.end == End::Refusal { "refusal" } else { "content" };
            events.push(Self::chunk(say, Place::Text, &json!({field: text}), None));
        }
        let mut opened = vec![false; say.calls.len()];
        for (number, piece) in say.pieces() {
            let mut call = json!({"index": number, "function": {"arguments": piece}});
            if !std::mem::replace(&mut opened[number], true) {
                let Call { id, name, .. } = say.calls[number];
                call = json!({"index": number, "id": id, "type": "function",
                    "function": {"name": name, "arguments": piece}});
            }
            events.push(Self::chunk(say, Place::Call, &json!({"tool_calls": [call]}), None));
        }
        events.push(Self::chunk(say, Place::Finish, &json!({}), Some(finish(say))));
        if let Some(usage) = usage(say) {
            let mut event = Self::chunk(say, Place::After, &json!({}), None);
            event.data["choices"] = json!([]);
            event.data["usage"] = usage;
            events.push(event);
        }
        Some(events)
    }

    fn end_mark(&self) -> &'static str {
        "data: [DONE]\n\n"
    }

    fn whole(&self, say: &Say) -> Option<Value> {
        let call = |call: &Call| {
            json!({"id": call.id, "type": "function",
                "function": {"name": call.name, "arguments": call.pieces.concat()}})
        };
        let text = say.text.concat();
        let refused = say.end == End::Refusal;
        let mut message = json!({"role": "assistant", "content": text, "refusal": null, "annotations": []});
        if refused {
            message["refusal"] = message["content"].take();
        }
        if !say.calls.is_empty() {
            message["tool_calls"] = say.calls.iter().map(call).collect();
            if say.text.is_empty() {
                message["content"] = Value::Null;
            }
        }
        let mut body = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_764_000_000, "model": say.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(say)}],
        });
        if let Some(usage) = usage(say) {
            body["usage"] = usage;
        }
        Some(body)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        // OpenRouter repeats the status as a number where OpenAI has a word or nothing.
        let code = if self.is("router") { json!(status) } else { Value::Null };
        json!({"error": {"message": message, "type": "some_error", "param": null, "code": code}})
    }

    fn overloaded(&self) -> Event {
        let mut data = json!({"error": {"message": "Overloaded", "type": "server_error", "code": null}});
        if self.is("router") {
            data = json!({"id": "gen-1", "object": "chat.completion.chunk", "model": "served-model", "provider": "x",
                "error": {"code": 502, "message": "Overloaded"},
                "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]});
        }
        Event { name: None, data, place: Place::Before }
    }

    fn unknown_event(&self) -> Event {
        let data = json!({"object": "chat.completion.banana", "banana": [{"ripe": true}]});
        Event { name: Some("banana"), data, place: Place::Before }
    }

    fn usage_comes_last(&self) -> bool {
        true
    }

    fn nothing(&self) -> Vec<Value> {
        let delta =
            json!({"role": null, "content": null, "refusal": null, "tool_calls": null, "reasoning": null});
        let choice = |delta: Value| json!({"index": null, "delta": delta, "finish_reason": null});
        vec![
            Value::Null,
            json!({}),
            json!({"id": null, "model": null, "choices": null, "usage": null, "error": null}),
            json!({"choices": []}),
            json!({"choices": [null]}),
            json!({"choices": [choice(Value::Null)]}),
            json!({"choices": [choice(delta)]}),
            json!({"choices": [choice(json!({"tool_calls": [null]}))]}),
            json!({"usage": {"prompt_tokens": null, "completion_tokens": null, "prompt_tokens_details": null}}),
        ]
    }
}

fn finish(say: &Say) -> &'static str {
    match say.end {
        End::Stop if !say.calls.is_empty() => "tool_calls",
        // A refusal of the model's own ends like any other answer; only its field is another.
        End::Stop | End::Refusal => "stop",
        End::Length => "length",
        End::Unknown => "banana",
    }
}

fn usage(say: &Say) -> Option<Value> {
    let (input, output) = say.usage.clone()?;
    let mut usage = Map::new();
    if let Some(total) = input.as_u64().zip(output.as_u64()) {
        usage.insert("total_tokens".to_owned(), json!(total.0.saturating_add(total.1)));
    }
    usage.insert("prompt_tokens".to_owned(), input);
    usage.insert("completion_tokens".to_owned(), output);
    usage.insert("prompt_tokens_details".to_owned(), json!({"cached_tokens": 0, "audio_tokens": 0}));
    usage.insert(
        "completion_tokens_details".to_owned(),
        json!({"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0}),
    );
    Some(Value::Object(usage))
}
