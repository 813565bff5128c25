//! The Responses API: typed events with a running number, items that open and close, the whole response in the last.

use serde_json::{Value, json};

use super::{Call, End, Event, Place, Protocol, Say};

pub(super) struct Responses {
    pub(super) model: &'static str,
}

impl Protocol for Responses {
    fn model(&self) -> &'static str {
        self.model
    }

    fn name(&self) -> &'static str {
        "responses"
    }

    fn path(&self) -> &'static str {
        "/v1/responses"
    }

    fn key_header(&self) -> &'static str {
        "authorization: bearer "
    }

    fn events(&self, say: &Say) -> Option<Vec<Event>> {
        let mut script = Script(Vec::new());
        for name in ["response.created", "response.in_progress"] {
            let response = json!({"id": "resp_1", "object": "response", "model": say.model, "status": "in_progress",
                "error": null, "incomplete_details": null, "output": [], "usage": null});
            script.tell(Place::Before, name, json!({"response": response}));
        }
        let mut index = 0;
        if !say.text.is_empty() {
            script.message(say);
            index += 1;
        }
        script.calls(say, index);
        let last = match say.end {
            End::Length => "response.incomplete",
            _ => "response.completed",
        };
        script.tell(Place::Finish, last, json!({"response": self.whole(say)?}));
        Some(script.0)
    }

    fn whole(&self, say: &Say) -> Option<Value> {
        if say.end == End::Unknown {
            return None; // The status is an enumeration; the reason of an incomplete answer is, too.
        }
        let status = if say.end == End::Length { "incomplete" } else { "completed" };
        let details = (say.end == End::Length).then(|| json!({"reason": "max_output_tokens"}));
        let mut output = Vec::new();
        if !say.text.is_empty() {
            output.push(item(say, status));
        }
        output.extend(say.calls.iter().map(|call| function(call, "completed", &call.pieces.concat())));
        let mut body = json!({
            "id": "resp_1", "object": "response", "created_at": 1_764_000_000, "model": say.model, "status": status,
            "error": null, "incomplete_details": details, "output": output, "parallel_tool_calls": true,
            "tools": [], "tool_choice": "auto", "usage": null,
        });
        if let Some((input, output)) = say.usage.clone() {
            let total = input.as_u64().zip(output.as_u64());
            body["usage"] = json!({
                "input_tokens": input, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": total.map(|(input, output)| input.saturating_add(output)),
            });
        }
        Some(body)
    }

    fn error(&self, _status: u16, message: &str) -> Value {
        json!({"error": {"message": message, "type": "some_error", "param": null, "code": null}})
    }

    fn overloaded(&self) -> Event {
        let data = json!({"type": "error", "code": "server_error", "message": "Overloaded", "param": null,
            "sequence_number": 9});
        Event { name: Some("error"), data, place: Place::Before }
    }

    fn unknown_event(&self) -> Event {
        let data = json!({"type": "response.banana.delta", "sequence_number": 9, "delta": {"ripe": true}});
        Event { name: Some("response.banana.delta"), data, place: Place::Before }
    }

    fn nothing(&self) -> Vec<Value> {
        let typed = |name: &str| {
            json!({"type": name, "delta": null, "item": null, "part": null, "output_index": null,
            "item_id": null, "response": null, "error": null})
        };
        let kinds = [
            "response.created",
            "response.output_item.added",
            "response.output_text.delta",
            "response.content_part.added",
            "response.function_call_arguments.delta",
            "response.refusal.delta",
            "response.reasoning_summary_text.delta",
            "response.output_item.done",
        ];
        let mut events = vec![Value::Null, json!({}), json!({"type": null}), json!({"type": 7})];
        events.extend(kinds.map(typed));
        events
    }
}

struct Script(Vec<Event>);

impl Script {
    fn tell(&mut self, place: Place, name: &'static str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.0.len());
        self.0.push(Event { name: Some(name), data, place });
    }

    fn message(&mut self, say: &Say) {
        let (refused, text) = (say.end == End::Refusal, say.text.concat());
        let at = json!({"item_id": "msg_1", "output_index": 0, "content_index": 0});
        let with = |key: &str, value: Value| {
            let mut data = at.clone();
            data[key] = value;
            data
        };
        let mut open = item(say, "in_progress");
        open["content"] = json!([]);
        self.tell(Place::Before, "response.output_item.added", json!({"output_index": 0, "item": open}));
        let empty = if refused {
            json!({"type": "refusal", "refusal": ""})
        } else {
            json!({"type": "output_text", "text": "", "annotations": []})
        };
        self.tell(Place::Before, "response.content_part.added", with("part", empty));
        let (delta, done, field) = if refused {
            ("response.refusal.delta", "response.refusal.done", "refusal")
        } else {
            ("response.output_text.delta", "response.output_text.done", "text")
        };
        for piece in &say.text {
            self.tell(Place::Text, delta, with("delta", json!(piece)));
        }
        self.tell(Place::Text, done, with(field, json!(text)));
        self.tell(Place::Text, "response.content_part.done", with("part", part(say)));
        let item = item(say, "completed");
        self.tell(Place::Text, "response.output_item.done", json!({"output_index": 0, "item": item}));
    }

    fn calls(&mut self, say: &Say, first: usize) {
        let mut left: Vec<usize> = say.calls.iter().map(|call| call.pieces.len()).collect();
        let mut opened = vec![false; say.calls.len()];
        for (number, piece) in say.pieces() {
            let (call, index) = (&say.calls[number], first + number);
            if !std::mem::replace(&mut opened[number], true) {
                let item = function(call, "in_progress", "");
                let data = json!({"output_index": index, "item": item});
                self.tell(Place::Call, "response.output_item.added", data);
            }
            let at = json!({"item_id": format!("fc_{}", call.name), "output_index": index, "delta": piece});
            self.tell(Place::Call, "response.function_call_arguments.delta", at);
            left[number] -= 1;
            if left[number] == 0 {
                let arguments = call.pieces.concat();
                let done = json!({"item_id": format!("fc_{}", call.name), "output_index": index,
                    "arguments": arguments});
                self.tell(Place::Call, "response.function_call_arguments.done", done);
                let item = function(call, "completed", &arguments);
                let data = json!({"output_index": index, "item": item});
                self.tell(Place::Call, "response.output_item.done", data);
            }
        }
    }
}

fn part(say: &Say) -> Value {
    let text = say.text.concat();
    if say.end == End::Refusal {
        json!({"type": "refusal", "refusal": text})
    } else {
        json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
    }
}

fn item(say: &Say, status: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": [part(say)]})
}

fn function(call: &Call, status: &str, arguments: &str) -> Value {
    json!({"id": format!("fc_{}", call.name), "type": "function_call", "status": status, "call_id": call.id,
        "name": call.name, "arguments": arguments})
}
