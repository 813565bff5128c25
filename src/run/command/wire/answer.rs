//! Answers, whole or as a stream of events. A stream is written at once, when the answer is in the journal.
//!
//! Nothing in them depends on a clock or on chance: a program that is started again gets the same bytes.

use std::fmt::Write as _;

use podium_sandbox::ServiceAnswer;
use podium_types::chat::{ChatAnswer, FinishReason, ToolCall};
use podium_types::usage::Usage;
use serde_json::{Value, json};

use super::{Form, Protocol};

/// The answer of the call of a step, in the form that was asked for.
pub fn write(form: &Form, step: u32, answer: &ChatAnswer) -> ServiceAnswer {
    let (kind, body) = match (form.protocol, form.stream) {
        (Protocol::Chat, false) => ("application/json", completion(form, step, answer).to_string()),
        (Protocol::Chat, true) => ("text/event-stream", chunks(form, step, answer)),
        (Protocol::Responses, false) => ("application/json", response(form, step, answer).to_string()),
        (Protocol::Responses, true) => ("text/event-stream", events(form, step, answer)),
    };
    ServiceAnswer { status: 200, kind, header: None, body }
}

/// The models that may be asked, as `GET /v1/models` lists them.
pub fn models<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    json!({"object": "list", "data": names.map(model).collect::<Vec<_>>()})
}

/// One of them.
pub fn model(name: &str) -> Value {
    json!({"id": name, "object": "model", "created": 0, "owned_by": "podium"})
}

fn finish(answer: &ChatAnswer) -> &'static str {
    match answer.finish {
        FinishReason::Length => "length",
        FinishReason::Refusal => "content_filter",
        _ if !answer.tool_calls.is_empty() => "tool_calls",
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_) => "stop",
    }
}

fn function(call: &ToolCall) -> Value {
    let ToolCall { id, name, arguments } = call;
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}

fn completion(form: &Form, step: u32, answer: &ChatAnswer) -> Value {
    let is_silent = answer.content.is_empty() && !answer.tool_calls.is_empty();
    let content = if is_silent { Value::Null } else { json!(answer.content) };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if let Some(object) = message.as_object_mut().filter(|_| !answer.tool_calls.is_empty()) {
        object.insert("tool_calls".to_owned(), answer.tool_calls.iter().map(function).collect());
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish(answer)});
    json!({
        "id": format!("chatcmpl-{step}"), "object": "chat.completion", "created": 0, "model": form.model,
        "choices": [choice], "usage": usage(&answer.usage),
    })
}

fn chunks(form: &Form, step: u32, answer: &ChatAnswer) -> String {
    let mut text = String::new();
    let mut send = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": format!("chatcmpl-{step}"), "object": "chat.completion.chunk", "created": 0,
            "model": form.model, "choices": choices, "usage": usage,
        });
        // Writing to a string cannot fail.
        let _ = write!(text, "data: {chunk}\n\n");
    };
    let delta = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    send(delta(json!({"role": "assistant", "content": ""}), Value::Null), Value::Null);
    if !answer.content.is_empty() {
        send(delta(json!({"content": answer.content}), Value::Null), Value::Null);
    }
    for (index, call) in answer.tool_calls.iter().enumerate() {
        let mut function = function(call);
        if let Some(object) = function.as_object_mut() {
            object.insert("index".to_owned(), json!(index));
        }
        send(delta(json!({"tool_calls": [function]}), Value::Null), Value::Null);
    }
    send(delta(json!({}), json!(finish(answer))), Value::Null);
    if form.usage {
        send(json!([]), usage(&answer.usage));
    }
    text.push_str("data: [DONE]\n\n");
    text
}

/// The items of a response: what was said, and what is called.
fn items(step: u32, answer: &ChatAnswer) -> Vec<Value> {
    let mut items = Vec::new();
    if !answer.content.is_empty() || answer.tool_calls.is_empty() {
        let part = json!({"type": "output_text", "text": answer.content, "annotations": []});
        items.push(json!({
            "type": "message", "id": format!("msg_{step}"), "status": "completed", "role": "assistant",
            "content": [part],
        }));
    }
    items.extend(answer.tool_calls.iter().enumerate().map(|(index, call)| {
        json!({
            "type": "function_call", "id": format!("fc_{step}_{index}"), "status": "completed",
            "call_id": call.id, "name": call.name, "arguments": call.arguments,
        })
    }));
    items
}

fn response(form: &Form, step: u32, answer: &ChatAnswer) -> Value {
    let (status, details) = match answer.finish {
        FinishReason::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
        FinishReason::Refusal => ("incomplete", json!({"reason": "content_filter"})),
        _ => ("completed", Value::Null),
    };
    let Usage { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, .. } = answer.usage;
    json!({
        "id": format!("resp_{step}"), "object": "response", "created_at": 0, "status": status,
        "incomplete_details": details, "error": null, "model": form.model, "output": items(step, answer),
        "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": input_tokens, "input_tokens_details": {"cached_tokens": cached_input_tokens},
            "output_tokens": output_tokens, "output_tokens_details": {"reasoning_tokens": reasoning_tokens},
            "total_tokens": answer.usage.total_tokens(),
        },
    })
}

fn events(form: &Form, step: u32, answer: &ChatAnswer) -> String {
    let whole = response(form, step, answer);
    let mut text = String::new();
    let mut number = 0;
    let mut send = |kind: &str, mut event: Value| {
        if let Some(object) = event.as_object_mut() {
            object.insert("type".to_owned(), json!(kind));
            object.insert("sequence_number".to_owned(), json!(number));
        }
        number += 1;
        let _ = write!(text, "event: {kind}\ndata: {event}\n\n");
    };
    let mut begun = whole.clone();
    if let Some(object) = begun.as_object_mut() {
        object.extend([("status".to_owned(), json!("in_progress")), ("output".to_owned(), json!([]))]);
        object.insert("usage".to_owned(), Value::Null);
    }
    send("response.created", json!({"response": begun}));
    for (index, item) in items(step, answer).iter().enumerate() {
        let id = item.get("id");
        let at = |rest: Value| {
            let mut event = json!({"item_id": id, "output_index": index});
            if let (Some(event), Value::Object(rest)) = (event.as_object_mut(), rest) {
                event.extend(rest);
            }
            event
        };
        send("response.output_item.added", json!({"output_index": index, "item": begun_item(item)}));
        if item.get("type").is_some_and(|kind| kind == "message") {
            let (words, empty) =
                (&answer.content, json!({"type": "output_text", "text": "", "annotations": []}));
            send("response.content_part.added", at(json!({"content_index": 0, "part": empty})));
            send("response.output_text.delta", at(json!({"content_index": 0, "delta": words})));
            send("response.output_text.done", at(json!({"content_index": 0, "text": words})));
            send(
                "response.content_part.done",
                at(json!({"content_index": 0, "part": item.pointer("/content/0")})),
            );
        } else {
            let arguments = item.get("arguments");
            send("response.function_call_arguments.delta", at(json!({"delta": arguments})));
            send("response.function_call_arguments.done", at(json!({"arguments": arguments})));
        }
        send("response.output_item.done", json!({"output_index": index, "item": item}));
    }
    let last = if whole.get("status").is_some_and(|status| status == "completed") {
        "response.completed"
    } else {
        "response.incomplete"
    };
    send(last, json!({"response": whole}));
    text
}

/// An item before anything of it was sent.
fn begun_item(item: &Value) -> Value {
    let mut begun = item.clone();
    if let Some(object) = begun.as_object_mut() {
        object.insert("status".to_owned(), json!("in_progress"));
        if let Some(content) = object.get_mut("content") {
            *content = json!([]);
        }
        if let Some(arguments) = object.get_mut("arguments") {
            *arguments = json!("");
        }
    }
    begun
}
