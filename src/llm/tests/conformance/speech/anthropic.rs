//! Anthropic's Messages: named events, content in blocks that open and close, the answer's tokens in `message_delta`.

use serde_json::{Value, json};

use super::{Call, End, Event, Place, Protocol, Say};

pub(super) struct Anthropic {
    pub(super) model: &'static str,
}

impl Protocol for Anthropic {
    fn model(&self) -> &'static str {
        self.model
    }

    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn key_header(&self) -> &'static str {
        "x-api-key: "
    }

    fn events(&self, say: &Say) -> Option<Vec<Event>> {
        let mut script = Script(Vec::new());
        let mut message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": say.model,
            "content": [], "stop_reason": null, "stop_sequence": null});
        if let Some((input, _)) = &say.usage {
            message["usage"] = json!({"input_tokens": input, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "output_tokens": 1});
        }
        script.tell(Place::Before, "message_start", json!({"message": message}));
        script.tell(Place::Before, "ping", json!({}));
        let mut index = 0;
        if !say.text.is_empty() {
            let block = json!({"type": "text", "text": ""});
            script.tell(Place::Before, "content_block_start", json!({"index": 0, "content_block": block}));
            for text in &say.text {
                let delta = json!({"type": "text_delta", "text": text});
                script.tell(Place::Text, "content_block_delta", json!({"index": 0, "delta": delta}));
            }
            script.tell(Place::Text, "content_block_stop", json!({"index": 0}));
            index += 1;
        }
        script.calls(say, index);
        let mut end = json!({"delta": {"stop_reason": stop_reason(say), "stop_sequence": null}});
        if let Some((_, output)) = &say.usage {
            end["usage"] = json!({"output_tokens": output});
        }
        script.tell(Place::Finish, "message_delta", end);
        script.tell(Place::After, "message_stop", json!({}));
        Some(script.0)
    }

    fn whole(&self, say: &Say) -> Option<Value> {
        let mut content = Vec::new();
        if !say.text.is_empty() {
            content.push(json!({"type": "text", "text": say.text.concat()}));
        }
        for call in &say.calls {
            let input: Value = serde_json::from_str(&call.pieces.concat()).ok()?;
            content.push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input}));
        }
        let mut body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": say.model,
            "content": content, "stop_reason": stop_reason(say), "stop_sequence": null});
        if let Some((input, output)) = &say.usage {
            body["usage"] = json!({"input_tokens": input, "output_tokens": output});
        }
        Some(body)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            504 => "timeout_error",
            400..500 => "invalid_request_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
    }

    fn overloaded(&self) -> Event {
        let data = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        Event { name: Some("error"), data, place: Place::Before }
    }

    fn unknown_event(&self) -> Event {
        let data = json!({"type": "banana_delta", "index": 0, "delta": {"type": "banana", "ripe": true}});
        Event { name: Some("banana_delta"), data, place: Place::Before }
    }

    fn nothing(&self) -> Vec<Value> {
        let typed = |name: &str| {
            json!({"type": name, "message": null, "index": null, "content_block": null,
            "delta": null, "usage": null})
        };
        let kinds = ["message_start", "content_block_start", "content_block_delta", "content_block_stop"];
        let mut events = vec![Value::Null, json!({}), json!({"type": null}), json!({"type": 7})];
        events.extend(kinds.map(typed));
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": null}));
        events.push(json!({"type": "message_delta", "delta": null, "usage": {"output_tokens": null}}));
        events
    }
}

struct Script(Vec<Event>);

impl Script {
    fn tell(&mut self, place: Place, name: &'static str, mut data: Value) {
        data["type"] = json!(name);
        self.0.push(Event { name: Some(name), data, place });
    }

    fn calls(&mut self, say: &Say, first: usize) {
        let mut left: Vec<usize> = say.calls.iter().map(|call| call.pieces.len()).collect();
        let mut opened = vec![false; say.calls.len()];
        for (number, piece) in say.pieces() {
            let (call, index): (&Call, usize) = (&say.calls[number], first + number);
            if !std::mem::replace(&mut opened[number], true) {
                let block = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
                let data = json!({"index": index, "content_block": block});
                self.tell(Place::Call, "content_block_start", data);
            }
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            self.tell(Place::Call, "content_block_delta", json!({"index": index, "delta": delta}));
            left[number] -= 1;
            if left[number] == 0 {
                self.tell(Place::Call, "content_block_stop", json!({"index": index}));
            }
        }
    }
}

fn stop_reason(say: &Say) -> &'static str {
    match say.end {
        End::Stop if !say.calls.is_empty() => "tool_use",
        End::Stop => "end_turn",
        End::Length => "max_tokens",
        End::Refusal => "refusal",
        End::Unknown => "banana",
    }
}
