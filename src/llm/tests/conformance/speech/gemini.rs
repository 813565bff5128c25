//! Gemini's `streamGenerateContent`: each event is a whole response with the next parts; arguments come as objects.

use serde_json::{Value, json};

use super::{End, Event, Place, Protocol, Say};

pub(super) struct Gemini {
    pub(super) model: &'static str,
}

impl Protocol for Gemini {
    fn model(&self) -> &'static str {
        self.model
    }

    fn name(&self) -> &'static str {
        "gemini"
    }

    fn path(&self) -> &'static str {
        "/models/any:streamgeneratecontent?alt=sse"
    }

    fn key_header(&self) -> &'static str {
        "x-goog-api-key: "
    }

    fn events(&self, say: &Say) -> Option<Vec<Event>> {
        let mut events = Vec::new();
        let mut tell = |place: Place, parts: Value, finish: Option<&str>| {
            let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
            if let Some(finish) = finish {
                candidate["finishReason"] = json!(finish);
            }
            let mut data =
                json!({"candidates": [candidate], "modelVersion": say.model, "responseId": "resp-1"});
            if finish.is_some()
                && let Some(usage) = usage(say)
            {
                data["usageMetadata"] = usage;
            }
            events.push(Event { name: None, data, place });
        };
        for text in &say.text {
            tell(Place::Text, json!([{"text": text}]), None);
        }
        for part in calls(say)? {
            tell(Place::Call, json!([part]), None);
        }
        tell(Place::Finish, json!([{"text": ""}]), Some(finish(say)));
        Some(events)
    }

    fn whole(&self, say: &Say) -> Option<Value> {
        let mut parts: Vec<Value> = say.text.iter().map(|text| json!({"text": text})).collect();
        parts.extend(calls(say)?);
        let mut body = json!({
            "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": finish(say), "index": 0}],
            "modelVersion": say.model, "responseId": "resp-1",
        });
        if let Some(usage) = usage(say) {
            body["usageMetadata"] = usage;
        }
        Some(body)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let word = match status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            409 => "ABORTED",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            _ => "INTERNAL",
        };
        json!({"error": {"code": status, "message": message, "status": word}})
    }

    fn overloaded(&self) -> Event {
        Event { name: None, data: self.error(503, "Overloaded"), place: Place::Before }
    }

    fn unknown_event(&self) -> Event {
        Event { name: Some("banana"), data: json!({"banana": [{"ripe": true}]}), place: Place::Before }
    }

    fn nothing(&self) -> Vec<Value> {
        let candidate = |content: Value| json!({"candidates": [{"content": content, "finishReason": null}]});
        vec![
            Value::Null,
            json!({}),
            json!({"candidates": null, "usageMetadata": null, "promptFeedback": null, "error": null}),
            json!({"candidates": []}),
            json!({"candidates": [null]}),
            candidate(Value::Null),
            candidate(json!({"parts": null, "role": null})),
            candidate(json!({"parts": [null, {}, {"text": null}, {"functionCall": null}]})),
            json!({"usageMetadata": {"promptTokenCount": null, "candidatesTokenCount": null}}),
        ]
    }
}

/// Parts of the calls; `None` where arguments are no object, which this protocol cannot say.
fn calls(say: &Say) -> Option<Vec<Value>> {
    let part = |call: &super::Call| {
        let arguments: Value = serde_json::from_str(&call.pieces.concat()).ok()?;
        let mut function = json!({"name": call.name, "args": arguments});
        if !call.id.is_empty() {
            function["id"] = json!(call.id);
        }
        Some(json!({"functionCall": function})).filter(|_| arguments.is_object())
    };
    say.calls.iter().map(part).collect()
}

fn finish(say: &Say) -> &'static str {
    match say.end {
        End::Stop => "STOP",
        End::Length => "MAX_TOKENS",
        End::Refusal => "SAFETY",
        End::Unknown => "BANANA",
    }
}

fn usage(say: &Say) -> Option<Value> {
    let (input, output) = say.usage.clone()?;
    let total = input.as_u64().zip(output.as_u64()).map(|(input, output)| input.saturating_add(output));
    let mut usage = json!({"promptTokenCount": input, "candidatesTokenCount": output});
    if let Some(total) = total {
        usage["totalTokenCount"] = json!(total);
    }
    Some(usage)
}
