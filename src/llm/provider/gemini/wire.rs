//! A request in Gemini's words. What the model does not take is left out already.

use std::collections::BTreeMap;

use podium_types::chat::{ChatRequest, Message, Speaker, Tool, ToolCall, ToolChoice};
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::{parts, thinking};
use crate::catalog::ModelFacts;
use crate::provider::{Attempt, Parameter};

/// Seeds are 32-bit integers with a sign.
const SEED_MASK: u64 = 0x7FFF_FFFF;

/// Stop sequences beyond these are refused; the client cuts the answer at all of them itself.
const STOPS: usize = 5;

/// Google's word for a call that no signature can be had for, because another model made it.
const UNSIGNED: &str = "skip_thought_signature_validator";

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
    let mut contents = Contents {
        turns: Vec::new(),
        calls: BTreeMap::new(),
        sign: thinks && (facts.thinking_budget.is_none() || !takes_state),
        takes_state,
    };
    for message in &request.messages {
        contents.add(message);
    }
    let system = instructions(&request.messages);
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    if contents.turns.is_empty() {
        // There must be a turn to answer.
        contents.push("user", vec![text(&system)]);
    } else if !system.is_empty() {
        set("systemInstruction", json!({"parts": [text(&system)]}));
    }
    set("contents", contents.turns.into_iter().map(Turn::wire).collect());
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

fn text(text: &str) -> Value {
    json!({"text": text})
}

struct Turn {
    role: &'static str,
    parts: Vec<Value>,
}

impl Turn {
    fn wire(self) -> Value {
        json!({"role": self.role, "parts": self.parts})
    }
}

/// A call as it was sent to the model: a response must name the tool, and the id if the call had one.
struct Sent {
    name: String,
    id: Option<Value>,
}

/// The conversation as turns that alternate.
struct Contents {
    turns: Vec<Turn>,
    calls: BTreeMap<String, Sent>,
    /// Calls must be signed.
    sign: bool,
    /// Signed turns may go back as they were; false once a signature was refused.
    takes_state: bool,
}

impl Contents {
    fn add(&mut self, message: &Message) {
        match message.role {
            Speaker::System => {}
            Speaker::User if message.content.is_empty() => {}
            Speaker::User => self.push("user", vec![text(&message.content)]),
            Speaker::Tool => {
                let response = self.response(message);
                self.push("user", vec![response]);
            }
            Speaker::Assistant => {
                let state = message.provider_state.as_deref().filter(|_| self.takes_state);
                let state = state.and_then(parts::of_state);
                let mut turn = Vec::new();
                let mut held = Vec::new();
                match state {
                    Some(state) => held = self.signed(state, message, &mut turn),
                    None if message.content.is_empty() => {}
                    None => turn.push(text(&message.content)),
                }
                self.unsigned(message, &held, &mut turn);
                self.push("model", turn);
            }
        }
    }

    /// Adds parts, to the last turn if it is of the same role.
    fn push(&mut self, role: &'static str, parts: Vec<Value>) {
        match self.turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.parts.extend(parts),
            None if parts.is_empty() => {}
            None => self.turns.push(Turn { role, parts }),
        }
    }

    /// The parts of a turn as the model made them, without what the caller took out since. Returns the ids of the
    /// calls among them.
    fn signed(&mut self, state: &[Value], message: &Message, turn: &mut Vec<Value>) -> Vec<String> {
        let mut held = Vec::new();
        let unchanged = state.iter().filter_map(parts::said).collect::<String>() == message.content;
        if !unchanged && !message.content.is_empty() {
            turn.push(text(&message.content));
        }
        for (part, call) in state.iter().zip(parts::calls(state)) {
            let keep = match &call {
                Some(call) => {
                    message.tool_calls.iter().any(|kept| kept.id == call.id && kept.name == call.name)
                }
                None => unchanged || parts::said(part).is_none(),
            };
            if !keep {
                continue;
            }
            turn.push(part.clone());
            if let Some(call) = call {
                let id = part.get("functionCall").and_then(|call| call.get("id")).cloned();
                held.push(call.id.clone());
                self.calls.insert(call.id, Sent { name: call.name, id });
            }
        }
        held
    }

    /// The calls of a turn that are not `held` by its state. Ids that we or another provider made up are not sent. The
    /// first call of a turn is the one whose signature is checked.
    fn unsigned(&mut self, message: &Message, held: &[String], turn: &mut Vec<Value>) {
        let mut sign = self.sign && held.is_empty();
        for call in message.tool_calls.iter().filter(|call| !held.contains(&call.id)) {
            let mut part = json!({"functionCall": {"name": call.name, "args": arguments(call)}});
            if std::mem::take(&mut sign)
                && let Some(part) = part.as_object_mut()
            {
                part.insert("thoughtSignature".to_owned(), json!(UNSIGNED));
            }
            turn.push(part);
            self.calls.insert(call.id.clone(), Sent { name: call.name.clone(), id: None });
        }
    }

    fn response(&self, message: &Message) -> Value {
        let call = message.tool_call_id.as_ref().and_then(|id| self.calls.get(id));
        let Some(call) = call else { return text(&message.content) };
        let mut response = Map::new();
        let mut set = |key: &str, value: Value| drop(response.insert(key.to_owned(), value));
        set("name", json!(call.name));
        set("response", json!({"output": message.content}));
        if let Some(id) = &call.id {
            set("id", id.clone());
        }
        json!({"functionResponse": response})
    }
}

/// The arguments of a call, which must be an object here, whatever the model wrote.
fn arguments(call: &ToolCall) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => Value::Object(arguments),
        _ if call.arguments.trim().is_empty() => json!({}),
        _ => json!({"arguments": call.arguments}),
    }
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

    fn contents(messages: Vec<Message>, facts: &ModelFacts) -> Value {
        let body = sent(&ChatRequest { messages, ..ChatRequest::default() }, facts);
        body["contents"].clone()
    }

    fn assistant(content: &str, calls: &[(&str, &str, &str)]) -> Message {
        let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: (*arguments).into(),
        };
        Message { tool_calls: calls.iter().map(call).collect(), ..Message::text(Speaker::Assistant, content) }
    }

    fn result(id: &str, content: &str) -> Message {
        Message { tool_call_id: Some(id.into()), ..Message::text(Speaker::Tool, content) }
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
    fn turns_alternate_and_responses_name_their_calls() {
        let messages = vec![
            Message::text(Speaker::User, "a"),
            Message::text(Speaker::User, "b"),
            assistant("both", &[("1", "ls", r#"{"path":"."}"#), ("2", "cat", "not JSON"), ("3", "pwd", "")]),
            result("1", "x.csv"),
            result("2", "text"),
            result("nobody's", "lost"),
            Message::text(Speaker::User, "go on"),
            assistant("", &[]),
        ];
        let response = |name: &str, output: &str| json!({"functionResponse": {"name": name, "response": {"output": output}}});
        let call = |name: &str, args: Value| json!({"functionCall": {"name": name, "args": args}});
        let expected = json!([
            {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
            {"role": "model", "parts": [
                {"text": "both"},
                call("ls", json!({"path": "."})),
                call("cat", json!({"arguments": "not JSON"})),
                call("pwd", json!({})),
            ]},
            {"role": "user", "parts": [
                response("ls", "x.csv"),
                response("cat", "text"),
                {"text": "lost"},
                {"text": "go on"},
            ]},
        ]);
        assert_eq!(contents(messages, &budgets()), expected);
    }

    #[test]
    fn another_models_calls_are_marked_for_a_model_that_checks_signatures() {
        let mut turn = assistant("", &[("1", "ls", "{}"), ("2", "ls", "{}")]);
        turn.provider_state = Some(Box::new(json!([{"type": "thinking", "signature": "EqQB"}])));
        let expected = json!([{"role": "model", "parts": [
            {"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": UNSIGNED},
            {"functionCall": {"name": "ls", "args": {}}},
        ]}]);
        assert_eq!(contents(vec![turn], &ModelFacts::default()), expected);
    }

    #[test]
    fn a_signed_turn_comes_back_as_it_was() {
        let state = json!([
            {"text": "I'll "},
            {"text": "look", "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "f1", "name": "ls", "args": {"a": 1}}, "thoughtSignature": "c2lnMg=="},
            {"functionCall": {"name": "ls", "args": {}}},
        ]);
        let turn = |content: &str, calls: &[(&str, &str, &str)]| Message {
            provider_state: Some(Box::new(json!({"protocol": "gemini", "parts": state}))),
            ..assistant(content, calls)
        };
        let both = [("f1", "ls", r#"{"a":1}"#), ("call_1", "ls", "{}")];
        let response = |id: Value| {
            let mut response = json!({"name": "ls", "response": {"output": "x"}});
            if !id.is_null() {
                response["id"] = id;
            }
            json!({"functionResponse": response})
        };
        let whole = vec![turn("I'll look", &both), result("f1", "x"), result("call_1", "x")];
        let expected = json!([
            {"role": "model", "parts": state},
            {"role": "user", "parts": [response(json!("f1")), response(Value::Null)]},
        ]);
        assert_eq!(contents(whole, &ModelFacts::default()), expected);
        // The caller dropped the second call and cut the text: the signature of what is left stays.
        let cut = vec![turn("I'll", &both[..1]), result("f1", "x")];
        let expected = json!([
            {"role": "model", "parts": [{"text": "I'll"}, state[2]]},
            {"role": "user", "parts": [response(json!("f1"))]},
        ]);
        assert_eq!(contents(cut, &ModelFacts::default()), expected);
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
