//! A request in Gemini's words. What the model does not take is left out already.

use podium_types::chat::{ChatRequest, Message, Speaker, Tool, ToolChoice};
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::contents::Contents;
use super::thinking;
use crate::catalog::ModelFacts;
use crate::provider::{Attempt, Parameter};

/// Seeds are 32-bit integers with a sign.
const SEED_MASK: u64 = 0x7FFF_FFFF;

/// Stop sequences beyond these are refused; the client cuts the answer at all of them itself.
const STOPS: usize = 5;

/// Where `model` answers. An address may name the version of the interface itself; the model may be named with its
/// collection (`tunedModels/mine`).
pub(super) fn address(base_url: &str, model: &str) -> String {
    let Ok(mut url) = Url::parse(base_url) else { return base_url.to_owned() };
    let segments = url.path_segments().into_iter().flatten();
    let versioned = segments.rev().find(|segment| !segment.is_empty()).is_some_and(is_version);
    let (collection, name) = model.split_once('/').unwrap_or(("models", model));
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty();
        if !versioned {
            path.push("v1beta");
        }
        path.push(collection).push(&format!("{name}:streamGenerateContent"));
    }
    url.set_query(Some("alt=sse"));
    url.into()
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// The body to send.
pub(super) fn request(attempt: &Attempt<'_>, facts: &ModelFacts) -> Value {
    let request = attempt.request;
    let thinks = !attempt.without.contains(&Parameter::Effort);
    let takes_state = !attempt.without.contains(&Parameter::ReasoningState);
    let sign = thinks && (facts.thinking_budget.is_none() || !takes_state);
    let mut contents = Contents::new(sign, takes_state);
    for message in &request.messages {
        contents.add(message);
    }
    let system = instructions(&request.messages);
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    if contents.is_empty() {
        // There must be a turn to answer.
        contents.add(&Message::text(Speaker::User, system));
    } else if !system.is_empty() {
        set("systemInstruction", json!({"parts": [{"text": system}]}));
    }
    set("contents", contents.wire());
    set("generationConfig", generation(attempt, facts, thinks));
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        set("tools", json!([{"functionDeclarations": declarations}]));
        if let Some(config) = calling(&request.tool_choice) {
            set("toolConfig", json!({"functionCallingConfig": config}));
        }
    }
    Value::Object(body)
}

fn generation(attempt: &Attempt<'_>, facts: &ModelFacts, thinks: bool) -> Value {
    let request: &ChatRequest = attempt.request;
    let mut config = Map::new();
    let mut set = |key: &str, value: Value| drop(config.insert(key.to_owned(), value));
    set("maxOutputTokens", json!(attempt.output_limit));
    if let Some(temperature) = request.temperature {
        set("temperature", json!(temperature));
    }
    if let Some(seed) = request.seed {
        set("seed", json!(seed & SEED_MASK));
    }
    let stops: Vec<&String> = request.stop.iter().filter(|stop| !stop.is_empty()).take(STOPS).collect();
    if !stops.is_empty() {
        set("stopSequences", json!(stops));
    }
    let thinking = thinking::config(request.effort, facts, attempt.output_limit);
    if let Some(thinking) = thinking.filter(|_| thinks) {
        set("thinkingConfig", thinking);
    }
    if let Some(output) = &request.output {
        set("responseMimeType", json!("application/json"));
        set("responseJsonSchema", schema(&output.schema));
    }
    if let Some(top) = request.top_logprobs {
        set("responseLogprobs", json!(true));
        if top > 0 {
            set("logprobs", json!(top));
        }
    }
    Value::Object(config)
}

/// A JSON Schema without the name of its dialect, which is no keyword here.
fn schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
    }
    schema
}

fn declaration(tool: &Tool) -> Value {
    let mut declaration = json!({"name": tool.name, "description": tool.description});
    let parameters = schema(&tool.parameters);
    if parameters.as_object().is_some_and(|parameters| !parameters.is_empty())
        && let Some(declaration) = declaration.as_object_mut()
    {
        declaration.insert("parametersJsonSchema".to_owned(), parameters);
    }
    declaration
}

fn calling(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({"mode": "NONE"})),
        ToolChoice::Required => Some(json!({"mode": "ANY"})),
        ToolChoice::Named(name) => Some(json!({"mode": "ANY", "allowedFunctionNames": [name]})),
    }
}

fn instructions(messages: &[Message]) -> String {
    let system = messages.iter().filter(|message| message.role == Speaker::System);
    let texts: Vec<&str> = system.map(|message| message.content.as_str()).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Effort, OutputSchema};

    use super::*;
    use crate::provider::Without;

    fn sent(request: &ChatRequest, facts: &ModelFacts) -> Value {
        crate::provider::trial(|attempt| {
            let without = Without::new();
            super::request(&Attempt { request, without: &without, ..*attempt }, facts)
        })
    }

    /// A model that is told a budget and signs nothing.
    fn budgets() -> ModelFacts {
        ModelFacts { thinking_budget: Some((0, 10)), ..ModelFacts::default() }
    }

    #[test]
    fn a_request_goes_out_whole() {
        let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"});
        let tool = |name: &str, parameters: Value| Tool {
            name: name.into(),
            description: "does it".into(),
            parameters,
        };
        let request = ChatRequest {
            messages: vec![Message::text(Speaker::System, "be brief"), Message::text(Speaker::User, "look")],
            tools: vec![tool("ls", schema.clone()), tool("pwd", json!({}))],
            tool_choice: ToolChoice::Named("ls".into()),
            one_tool_call: true,
            output: Some(OutputSchema { name: "o".into(), schema, strict: true }),
            stop: ["1", "", "2", "3", "4", "5", "6"].map(Into::into).into(),
            temperature: Some(0.5),
            max_output_tokens: None,
            effort: Some(Effort::High),
            seed: Some(u64::MAX),
            top_logprobs: Some(2),
        };
        let expected = json!({
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "contents": [{"role": "user", "parts": [{"text": "look"}]}],
            "generationConfig": {
                "maxOutputTokens": 101,
                "temperature": 0.5,
                "seed": 0x7FFF_FFFF,
                "stopSequences": ["1", "2", "3", "4", "5"],
                "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "high"},
                "responseMimeType": "application/json",
                "responseJsonSchema": {"type": "object"},
                "responseLogprobs": true,
                "logprobs": 2,
            },
            "tools": [{"functionDeclarations": [
                {"name": "ls", "description": "does it", "parametersJsonSchema": {"type": "object"}},
                {"name": "pwd", "description": "does it"},
            ]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["ls"]}},
        });
        assert_eq!(sent(&request, &ModelFacts::default()), expected);
    }

    #[test]
    fn instructions_alone_are_asked() {
        let expected = json!([{"role": "user", "parts": [{"text": "draft"}]}]);
        let body = sent(
            &ChatRequest {
                messages: vec![Message::text(Speaker::System, "draft")],
                ..ChatRequest::default()
            },
            &budgets(),
        );
        let generation = json!({"maxOutputTokens": 101});
        assert_eq!(body, json!({"contents": expected, "generationConfig": generation}));
    }

    #[test]
    fn addresses_name_version_and_collection() {
        for (base_url, model, expected) in [
            ("https://g.example", "gemini-x", "https://g.example/v1beta/models/gemini-x"),
            ("https://g.example/v1alpha/", "gemini-x", "https://g.example/v1alpha/models/gemini-x"),
            ("https://g.example/gemini", "tunedModels/a", "https://g.example/gemini/v1beta/tunedModels/a"),
            ("https://g.example", "a?b#c/../d", "https://g.example/v1beta/a%3Fb%23c/..%2Fd"),
        ] {
            let expected = format!("{expected}:streamGenerateContent?alt=sse");
            assert_eq!(address(base_url, model), expected, "{base_url} {model}");
        }
    }
}
