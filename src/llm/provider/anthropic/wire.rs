//! A request in the words of the Messages API. What the model does not take is left out already.
//!
//! **Thinking** follows the request's effort, in the way the model is told (see [`Thinking`]). The output limit is
//! what was reserved, so a budget is cut to half of it, and left out where that is below the API's least. A demanded
//! call and thinking exclude each other: the demand wins where thinking can be switched off, else the call is only
//! on offer. Temperature is left out while the model thinks, and cut to 1.
//! A model with budgets does not begin to think between a call and its result.
//!
//! **Caching**: writing to the cache costs a quarter more, reading a tenth or less, so only a conversation that grows
//! is marked: one with tools or with an assistant's turn. The marks stand behind tools and system text, behind the
//! last user turn (written now, read by the next request) and behind the one before (written by the last request).

use std::collections::BTreeSet;

use podium_types::chat::{ChatRequest, Effort, Speaker, Tool, ToolChoice};
use serde_json::{Map, Value, json};

use super::prefix::Prefix;
use super::schema::enforceable;
use super::state::{Place, places};
use super::turns::{Thinker, Turn, turns};
use crate::catalog::Thinking;
use crate::model::ModelName;
use crate::provider::{Attempt, Parameter};

/// The shortest prompt, in tokens, that any model caches.
const LEAST_CACHED: u64 = 512;

/// The least budget of thinking that the API takes, in tokens.
const LEAST_BUDGET: u32 = 1024;

/// The largest temperature that the API takes.
const HOTTEST: f64 = 1.0;

/// The body to send to a model that is told to think as `thinking` says.
pub(super) fn request(attempt: &Attempt<'_>, thinking: Thinking) -> Value {
    let request = attempt.request;
    let thought = thought(attempt, thinking);
    let on = thought.as_ref().is_some_and(|thought| thought.get("type") != Some(&json!("disabled")));
    let prefill = thinking == Thinking::Budget && !on;
    let mut tools = tools(request);
    let mut conversation = turns(&request.messages, thinker(attempt, thinking, &tools), prefill);
    if attempt.input_estimate >= LEAST_CACHED && grows(request) {
        mark(&mut tools, &mut conversation.system, &mut conversation.turns);
    }
    let mut body = Map::new();
    let mut set = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    set("model", json!(attempt.model.model));
    set("max_tokens", json!(attempt.output_limit));
    set("stream", json!(true));
    if !conversation.system.is_empty() {
        set("system", json!(conversation.system));
    }
    set("messages", conversation.turns.into_iter().map(Turn::message).collect());
    if !tools.is_empty() {
        set("tools", json!(tools));
        if let Some(choice) = tool_choice(request, thinking) {
            set("tool_choice", choice);
        }
    }
    let stop: Vec<&String> = request.stop.iter().filter(|text| !text.trim().is_empty()).collect();
    if !stop.is_empty() {
        set("stop_sequences", json!(stop));
    }
    if let Some(temperature) = request.temperature.filter(|_| !on) {
        set("temperature", json!(temperature.clamp(0.0, HOTTEST)));
    }
    if let Some(thought) = thought {
        set("thinking", thought);
    }
    let output = output_config(request, thinking, on);
    if !output.is_empty() {
        set("output_config", Value::Object(output));
    }
    Value::Object(body)
}

/// What the answer's thinking is bound to: all that was sent.
pub(super) fn prefix(attempt: &Attempt<'_>, thinking: Thinking) -> Option<Prefix> {
    turns(&attempt.request.messages, thinker(attempt, thinking, &tools(attempt.request)), false).prefix
}

fn thinker<'a>(attempt: &Attempt<'a>, thinking: Thinking, tools: &'a [Value]) -> Thinker<'a> {
    Thinker { model: taken_back(attempt), bound_to: (thinking != Thinking::Budget).then_some(tools) }
}

/// The model whose thinking is sent back, unless that was refused.
fn taken_back<'a>(attempt: &Attempt<'a>) -> Option<&'a ModelName> {
    (!attempt.without.contains(&Parameter::ReasoningState)).then_some(attempt.model)
}

/// How the model is told to think; `None` leaves it to the model's own default.
fn thought(attempt: &Attempt<'_>, thinking: Thinking) -> Option<Value> {
    if attempt.without.contains(&Parameter::Effort) {
        return None;
    }
    let request = attempt.request;
    let demanded = request.tool_choice.demands_call() && !request.tools.is_empty();
    // Newer models keep their thinking to themselves unless they are asked for a summary.
    let adaptive = || json!({"type": "adaptive", "display": "summarized"});
    match thinking {
        Thinking::Always => Some(adaptive()),
        Thinking::Adaptive if demanded => Some(json!({"type": "disabled"})),
        Thinking::Adaptive => request.effort.map(|_| adaptive()),
        Thinking::Budget if demanded || within_a_turn(attempt) => None,
        Thinking::Budget => {
            let budget = budget(request.effort?).min(attempt.output_limit / 2);
            (budget >= LEAST_BUDGET).then(|| json!({"type": "enabled", "budget_tokens": budget}))
        }
    }
}

/// Results of calls stand at the end, and their turn has no thinking to send back (another model's, or none). A model
/// with budgets would refuse to begin thinking there.
fn within_a_turn(attempt: &Attempt<'_>) -> bool {
    let mut messages = attempt.request.messages.iter().rev();
    let calls =
        messages.find(|message| message.role != Speaker::Tool).filter(|turn| !turn.tool_calls.is_empty());
    calls.is_some_and(|turn| !places(turn, taken_back(attempt), None).iter().any(Place::is_thinking))
}

/// Tokens of thinking. The least that a model with budgets can do is none.
const fn budget(effort: Effort) -> u32 {
    match effort {
        Effort::Minimal => 0,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 24_576,
    }
}

const fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

fn output_config(request: &ChatRequest, thinking: Thinking, on: bool) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(effort) = request.effort.filter(|_| on && thinking != Thinking::Budget) {
        config.insert("effort".to_owned(), json!(effort_name(effort)));
    }
    if let Some(output) = &request.output {
        let format = json!({"type": "json_schema", "schema": enforceable(&output.schema)});
        config.insert("format".to_owned(), format);
    }
    config
}

/// The tools on offer. Where none are, but calls stand in the conversation, the API still wants their tools: each is
/// named, and none may be called.
fn tools(request: &ChatRequest) -> Vec<Value> {
    if !request.tools.is_empty() {
        return request.tools.iter().map(tool).collect();
    }
    let calls = request.messages.iter().flat_map(|message| &message.tool_calls);
    let names: BTreeSet<&str> = calls.map(|call| call.name.as_str()).collect();
    names.into_iter().map(|name| json!({"name": name, "input_schema": {"type": "object"}})).collect()
}

fn tool(tool: &Tool) -> Value {
    let mut wire = Map::new();
    wire.insert("name".to_owned(), json!(tool.name));
    wire.insert("input_schema".to_owned(), input_schema(&tool.parameters));
    if !tool.description.is_empty() {
        wire.insert("description".to_owned(), json!(tool.description));
    }
    Value::Object(wire)
}

/// The API takes schemas of objects only; tools without arguments are often described without any.
fn input_schema(parameters: &Value) -> Value {
    match parameters {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.entry("type").or_insert_with(|| json!("object"));
            Value::Object(fields)
        }
        _ => json!({"type": "object"}),
    }
}

fn tool_choice(request: &ChatRequest, thinking: Thinking) -> Option<Value> {
    if request.tools.is_empty() {
        return Some(json!({"type": "none"}));
    }
    let mut choice = match &request.tool_choice {
        ToolChoice::None => return Some(json!({"type": "none"})),
        ToolChoice::Required | ToolChoice::Named(_) if thinking == Thinking::Always => {
            json!({"type": "auto"})
        }
        ToolChoice::Auto if !request.one_tool_call => return None,
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Named(name) => json!({"type": "tool", "name": name}),
    };
    if request.one_tool_call
        && let Some(choice) = choice.as_object_mut()
    {
        choice.insert("disable_parallel_tool_use".to_owned(), json!(true));
    }
    Some(choice)
}

/// Whether a later request is likely to begin as this one does.
fn grows(request: &ChatRequest) -> bool {
    !request.tools.is_empty() || request.messages.iter().any(|message| message.role == Speaker::Assistant)
}

/// Sets at most three of the four marks that the API allows.
fn mark(tools: &mut [Value], system: &mut [Value], turns: &mut [Turn]) {
    let users = turns.iter_mut().rev().filter(|turn| turn.user).take(2);
    let ends = users.filter_map(|turn| turn.blocks.last_mut());
    // Tools stand before system text, so its mark covers both.
    let head = system.last_mut().or(tools.last_mut());
    for block in head.into_iter().chain(ends).filter_map(Value::as_object_mut) {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Message, OutputSchema, ToolCall};

    use super::*;
    use crate::provider::{Without, trial};

    fn body(chat: &ChatRequest, thinking: Thinking, output_limit: u32, without: &Without) -> Value {
        trial(|attempt| {
            let attempt = Attempt {
                model: attempt.model,
                request: chat,
                output_limit,
                without,
                wanted: None,
                input_estimate: LEAST_CACHED,
                thinks: true,
                first_byte: attempt.first_byte,
                limits: attempt.limits,
            };
            request(&attempt, thinking)
        })
    }

    fn hello() -> ChatRequest {
        ChatRequest { messages: vec![Message::text(Speaker::User, "hello")], ..ChatRequest::default() }
    }

    fn ls() -> Tool {
        Tool { name: "ls".into(), description: "list".into(), parameters: json!({"properties": {}}) }
    }

    #[test]
    fn a_whole_request() {
        let mut call = Message::text(Speaker::Assistant, "I look.");
        call.tool_calls =
            vec![ToolCall { id: "a".into(), name: "ls".into(), arguments: r#"{"path":"."}"#.into() }];
        let mut result = Message::text(Speaker::Tool, "train.csv");
        result.tool_call_id = Some("a".into());
        let request = ChatRequest {
            messages: vec![
                Message::text(Speaker::System, "be brief"),
                Message::text(Speaker::User, "look"),
                call,
                result,
            ],
            tools: vec![ls()],
            tool_choice: ToolChoice::Required,
            one_tool_call: true,
            output: Some(OutputSchema {
                name: "review".into(),
                schema: json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}),
                strict: true,
            }),
            stop: vec!["END".into(), "\n".into()],
            temperature: Some(1.5),
            ..ChatRequest::default()
        };
        let mark = json!({"type": "ephemeral"});
        let expected = json!({
            "model": "any",
            "max_tokens": 4096,
            "stream": true,
            "system": [{"type": "text", "text": "be brief", "cache_control": mark}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "look", "cache_control": mark}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "ls", "input": {"path": "."}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "train.csv", "cache_control": mark},
                ]},
            ],
            "tools": [
                {"name": "ls", "description": "list", "input_schema": {"type": "object", "properties": {}}},
            ],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
            "stop_sequences": ["END"],
            "temperature": 1.0,
            "thinking": {"type": "disabled"},
            "output_config": {"format": {"type": "json_schema", "schema": {
                "type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false}}},
        });
        assert_eq!(body(&request, Thinking::Adaptive, 4096, &Without::new()), expected);
        let no_tools = ChatRequest { tools: Vec::new(), ..request };
        let sent = body(&no_tools, Thinking::Adaptive, 4096, &Without::new());
        let named = json!([{"name": "ls", "input_schema": {"type": "object"}}]);
        assert_eq!((&sent["tools"], &sent["tool_choice"]), (&named, &json!({"type": "none"})));
    }

    #[test]
    fn a_single_question_is_not_written_to_the_cache() {
        let expected = json!({
            "model": "any",
            "max_tokens": 100,
            "stream": true,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        });
        assert_eq!(body(&hello(), Thinking::Adaptive, 100, &Without::new()), expected);
    }

    #[test]
    fn thinking_follows_effort_and_model() {
        use Thinking::{Adaptive, Always, Budget};
        let adaptive = json!({"type": "adaptive", "display": "summarized"});
        let enabled = |budget: u32| json!({"type": "enabled", "budget_tokens": budget});
        let table = [
            // model, effort, output limit; thinking, effort, temperature
            (Budget, None, 4096, Value::Null, Value::Null, json!(0.5)),
            (Budget, Some(Effort::Minimal), 60_000, Value::Null, Value::Null, json!(0.5)),
            (Budget, Some(Effort::Low), 60_000, enabled(2048), Value::Null, Value::Null),
            (Budget, Some(Effort::High), 60_000, enabled(24_576), Value::Null, Value::Null),
            (Budget, Some(Effort::High), 4096, enabled(2048), Value::Null, Value::Null),
            (Budget, Some(Effort::High), 2047, Value::Null, Value::Null, json!(0.5)),
            (Adaptive, None, 4096, Value::Null, Value::Null, json!(0.5)),
            (Adaptive, Some(Effort::Minimal), 4096, adaptive.clone(), json!("low"), Value::Null),
            (Adaptive, Some(Effort::High), 4096, adaptive.clone(), json!("high"), Value::Null),
            (Always, None, 4096, adaptive.clone(), Value::Null, Value::Null),
            (Always, Some(Effort::Medium), 4096, adaptive, json!("medium"), Value::Null),
        ];
        for (thinking, effort, limit, thought, config, temperature) in table {
            let request = ChatRequest { effort, temperature: Some(0.5), ..hello() };
            let sent = body(&request, thinking, limit, &Without::new());
            assert_eq!(sent["thinking"], thought, "{thinking:?} {effort:?} {limit}");
            assert_eq!(sent["output_config"]["effort"], config, "{thinking:?} {effort:?} {limit}");
            assert_eq!(sent["temperature"], temperature, "{thinking:?} {effort:?} {limit}");
        }
        let refused = body(&hello(), Always, 4096, &Without::from([Parameter::Effort]));
        assert_eq!(refused.get("thinking"), None);
    }

    #[test]
    fn a_model_with_budgets_does_not_begin_to_think_between_a_call_and_its_result() {
        let mut call = Message::text(Speaker::Assistant, "");
        call.tool_calls = vec![ToolCall { id: "a".into(), name: "ls".into(), arguments: "{}".into() }];
        let mut result = Message::text(Speaker::Tool, "x");
        result.tool_call_id = Some("a".into());
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let state = |model: &str| {
            let blocks = json!([thought, {"type": "call"}]);
            Some(Box::new(json!({"protocol": "anthropic", "model": model, "blocks": blocks})))
        };
        let own = state("any/any");
        for (name, provider_state, without, on) in [
            ("none", None, Without::new(), false),
            ("another model's", state("any/other"), Without::new(), false),
            ("its own, refused", own.clone(), Without::from([Parameter::ReasoningState]), false),
            ("its own", own, Without::new(), true),
        ] {
            let turn = Message { provider_state, ..call.clone() };
            let messages = vec![Message::text(Speaker::User, "look"), turn, result.clone()];
            let request = ChatRequest { messages, tools: vec![ls()], effort: Some(Effort::High), ..hello() };
            let sent = body(&request, Thinking::Budget, 60_000, &without);
            assert_eq!(sent.get("thinking").is_some(), on, "{name}");
            let first = &sent["messages"][1]["content"][0];
            assert_eq!(*first == thought, on, "{name}: {first}");
        }
    }

    #[test]
    fn a_demanded_call_and_thinking_exclude_each_other() {
        let request = |tool_choice| ChatRequest {
            tools: vec![ls()],
            tool_choice,
            effort: Some(Effort::High),
            ..hello()
        };
        let named = || ToolChoice::Named("ls".into());
        let (any, auto) = (json!({"type": "any"}), json!({"type": "auto"}));
        let adaptive = json!({"type": "adaptive", "display": "summarized"});
        for (thinking, choice, sent_choice, thought) in [
            (Thinking::Budget, ToolChoice::Required, any.clone(), Value::Null),
            (Thinking::Adaptive, ToolChoice::Required, any, json!({"type": "disabled"})),
            (Thinking::Adaptive, named(), json!({"type": "tool", "name": "ls"}), json!({"type": "disabled"})),
            (Thinking::Adaptive, ToolChoice::None, json!({"type": "none"}), adaptive.clone()),
            (Thinking::Adaptive, ToolChoice::Auto, Value::Null, adaptive.clone()),
            (Thinking::Always, named(), auto, adaptive),
        ] {
            let sent = body(&request(choice.clone()), thinking, 60_000, &Without::new());
            assert_eq!(
                (&sent["tool_choice"], &sent["thinking"]),
                (&sent_choice, &thought),
                "{thinking:?} {choice:?}"
            );
        }
    }
}
