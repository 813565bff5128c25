//! The Messages API over the wire, with the models and prices that are shipped: a conversation of thinking and calls,
//! money to the dollar, what is learnt from complaints.

use std::collections::BTreeMap;

use podium_types::chat::{
    ChatAnswer, ChatError, ChatRequest, Effort, FinishReason, Message, OutputSchema, Speaker, Tool, ToolCall,
    ToolChoice,
};
use serde_json::{Value, json};

use super::server::{Act, STREAM, Server, event, response};
use super::setup::{KEY, Record, settings};
use crate::{Call, CallEvent, Catalog, Client, Error, ModelName, NoLedger, ServiceFailure, Settings};

const SHIPPED: &str = include_str!("../../../benchmark/models.toml");

fn client(server: &Server) -> Client {
    let catalog = Catalog::parse(SHIPPED).unwrap();
    let variables = BTreeMap::from([
        ("ANTHROPIC_BASE_URL".to_owned(), server.url.trim_end_matches("/v1").to_owned()),
        ("ANTHROPIC_API_KEY".to_owned(), KEY.to_owned()),
    ]);
    let endpoints = Settings::new(&catalog, &variables).endpoints;
    Client::new(catalog, Settings { endpoints, ..settings(server) }, None)
}

fn model(name: &str) -> ModelName {
    ModelName { provider: "anthropic".into(), model: name.into() }
}

async fn chat(
    client: &Client,
    name: &str,
    request: &ChatRequest,
    record: &Record,
) -> Result<ChatAnswer, Error> {
    let model = model(name);
    let call = Call { model: &model, request, ledger: &NoLedger, observer: record, purpose: "test" };
    client.chat(&call).await
}

/// A stream of these events, each with its name in front, as the service writes them.
fn stream(events: &[Value]) -> Act {
    let named = |value: &Value| {
        let name = value["type"].as_str().unwrap_or_default();
        format!("event: {name}\n{}", event(value))
    };
    Act::Write(format!("{STREAM}{}", events.iter().map(named).collect::<String>()).into_bytes())
}

fn head(usage: &Value) -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "served-model", "content": [],
        "stop_reason": null, "usage": usage}})
}

fn end(reason: &str, output: u64) -> [Value; 2] {
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    [
        json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}}),
        json!({"type": "message_stop"}),
    ]
}

fn says(text: &str) -> Act {
    let block =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let delta =
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    let [end, stop] = end("end_turn", 5);
    stream(&[head(&json!({"input_tokens": 10, "output_tokens": 1})), block, delta, end, stop])
}

fn refuses(status: u16, kind: &str, message: &str) -> Act {
    let error = json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"});
    response(status, "content-type: application/json\r\n", &error.to_string())
}

fn ls() -> Tool {
    Tool { name: "ls".into(), description: "list".into(), parameters: json!({"type": "object"}) }
}

fn look() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::text(Speaker::System, "be brief"), Message::text(Speaker::User, "look")],
        tools: vec![ls()],
        effort: Some(Effort::High),
        ..ChatRequest::default()
    }
}

/// Thinks, says something, thinks again and calls a tool.
fn thinks_and_calls() -> Act {
    let block = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let piece =
        |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let thinking = || json!({"type": "thinking", "thinking": "", "signature": ""});
    let [end, stop] = end("tool_use", 100);
    stream(&[
        head(&json!({"input_tokens": 10, "output_tokens": 1})),
        block(0, thinking()),
        piece(0, json!({"type": "thinking_delta", "thinking": "first"})),
        piece(0, json!({"type": "signature_delta", "signature": "EqQB"})),
        block(1, json!({"type": "text", "text": ""})),
        piece(1, json!({"type": "text_delta", "text": "I look."})),
        block(2, thinking()),
        piece(2, json!({"type": "signature_delta", "signature": "EqQC"})),
        block(3, json!({"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}})),
        piece(3, json!({"type": "input_json_delta", "partial_json": "{\"path\": "})),
        piece(3, json!({"type": "input_json_delta", "partial_json": "\".\"}"})),
        end,
        stop,
    ])
}

/// The next request: the answer, through a journal, and the result of its call.
fn next(mut request: ChatRequest, answer: &ChatAnswer) -> ChatRequest {
    let journaled: ChatAnswer = serde_json::from_value(json!(answer)).unwrap();
    request.messages.push(Message::of_answer(&journaled));
    let mut result = Message::text(Speaker::Tool, "train.csv");
    result.tool_call_id = Some("toolu_1".into());
    request.messages.push(result);
    request
}

#[tokio::test]
async fn signed_thinking_comes_back_in_its_place() {
    let server = Server::start(vec![thinks_and_calls(), says("done")]).await;
    let client = client(&server);
    let answer = chat(&client, "claude-opus-5-5", &look(), &Record::default()).await.unwrap();
    let call = ToolCall { id: "toolu_1".into(), name: "ls".into(), arguments: r#"{"path": "."}"#.into() };
    assert_eq!((answer.content.as_str(), answer.reasoning.as_deref()), ("I look.", Some("first")));
    assert_eq!((&answer.tool_calls, &answer.finish), (&vec![call], &FinishReason::ToolCalls));
    let next = next(look(), &answer);
    let done = chat(&client, "claude-opus-5-5", &next, &Record::default()).await.unwrap();
    assert_eq!(done.content, "done");
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "first", "signature": "EqQB"},
            {"type": "text", "text": "I look."},
            {"type": "thinking", "thinking": "", "signature": "EqQC"},
            {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "."}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "train.csv"},
        ]},
    ]);
    assert_eq!(server.bodies()[1]["messages"], expected);
    // Another model gets the words and the call only.
    chat(&client, "claude-opus-4-8", &next, &Record::default()).await.unwrap();
    let kinds: Vec<&str> = server.bodies()[2]["messages"][1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| match block["type"].as_str() {
            Some("text") => "text",
            Some("tool_use") => "call",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["text", "call"]);
}

#[tokio::test]
async fn key_version_and_address_are_those_of_the_api() {
    let server = Server::start(vec![says("fine")]).await;
    chat(&client(&server), "claude-haiku-4-5", &look(), &Record::default()).await.unwrap();
    let head = &server.heads()[0];
    assert!(head.starts_with("post /v1/messages "), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version: 2023-06-01"));
    assert!(!head.contains("authorization"), "{head}");
    let body = &server.bodies()[0];
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 16_384}));
    assert_eq!((&body["max_tokens"], &body["model"]), (&json!(32_768), &json!("claude-haiku-4-5")));
}

/// Ten thousand tokens of every kind, at the prices that are shipped.
#[tokio::test]
async fn every_kind_of_token_has_its_price() {
    let each = 10_000;
    let told = json!({
        "input_tokens": each,
        "cache_creation_input_tokens": each,
        "cache_read_input_tokens": each,
        "output_tokens": 1,
    });
    for (name, dollars) in [
        ("claude-opus-5-5", 4.0 + 5.0 + 0.2 + 20.0),
        ("claude-sonnet-5", 2.0 + 2.5 + 0.2 + 10.0),
        ("claude-haiku-4-5-20251001", 1.0 + 1.25 + 0.1 + 5.0),
    ] {
        let text =
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}});
        let [end, stop] = end("end_turn", each);
        let server = Server::start(vec![stream(&[head(&told), text, end, stop])]).await;
        let client = client(&server);
        let answer = chat(&client, name, &look(), &Record::default()).await.unwrap();
        let cost = answer.usage.cost.unwrap().dollars();
        assert!((cost - dollars / 100.0).abs() < 1e-8, "{name}: {cost}");
        assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (3 * each, each), "{name}");
        assert!(!answer.usage.estimated, "{name}");
    }
}

/// Each request writes what it adds to the cache, and the next one's mark stands where this one's last stood.
#[tokio::test]
async fn a_growing_conversation_marks_its_prefix() {
    let server = Server::start(vec![says("fine")]).await;
    let client = client(&server);
    let mut request = look();
    request.messages[0].content = "be brief ".repeat(400);
    let mut bodies = Vec::new();
    for question in ["and then?", "and after that?"] {
        let answer = chat(&client, "claude-opus-5-5", &request, &Record::default()).await.unwrap();
        request.messages.push(Message::of_answer(&answer));
        request.messages.push(Message::text(Speaker::User, question));
    }
    chat(&client, "claude-opus-5-5", &request, &Record::default()).await.unwrap();
    for body in server.bodies() {
        let marked = |blocks: &Value| {
            let blocks = blocks.as_array().unwrap().iter();
            blocks.filter(|block| block.get("cache_control").is_some()).count()
        };
        let messages = body["messages"].as_array().unwrap();
        let turns: Vec<usize> = messages.iter().map(|message| marked(&message["content"])).collect();
        bodies.push((marked(&body["system"]), turns));
    }
    assert_eq!(bodies, [(1, vec![1]), (1, vec![1, 0, 1]), (1, vec![0, 0, 1, 0, 1])]);
}

#[tokio::test]
async fn complaints_about_abilities_are_learnt_once() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let output = OutputSchema { name: "n".into(), schema, strict: true };
    let all = ChatRequest {
        output: Some(output),
        temperature: Some(0.5),
        tool_choice: ToolChoice::Required,
        ..look()
    };
    let table = [
        ("`temperature` is deprecated for this model.", "temperature"),
        (
            "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.adaptive\".",
            "effort",
        ),
        ("output_config.format: structured outputs are not supported by this model", "schema"),
        (
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
            "schema",
        ),
        ("tool_choice: forced tool use is not supported for this model", "tool_choice"),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", "reasoning_state"),
        (
            "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
            "reasoning_state",
        ),
    ];
    for (message, parameter) in table {
        let server =
            Server::start(vec![refuses(400, "invalid_request_error", message), says("{\"n\": 1}")]).await;
        let record = Record::default();
        chat(&client(&server), "unheard-of", &all, &record).await.unwrap();
        let events = record.events.lock().unwrap().clone();
        let learnt = events.iter().filter_map(|event| match event {
            CallEvent::Downgraded { parameter } => Some(parameter.as_str()),
            _ => None,
        });
        // That the server ignores the demand for a call is learnt behind it.
        assert_eq!(learnt.take(1).collect::<Vec<_>>(), [parameter], "{message}");
    }
}

/// Newer models refuse thinking when anything before it has changed, so it is not even tried; older ones take it.
#[tokio::test]
async fn thinking_behind_a_changed_prefix_stays_away() {
    let server = Server::start(vec![thinks_and_calls(), says("done")]).await;
    let client = client(&server);
    for (model, kept) in [("claude-opus-5-5", false), ("claude-haiku-5-5", false), ("claude-haiku-4-5", true)]
    {
        let server = Server::start(vec![thinks_and_calls(), says("done")]).await;
        let client = self::client(&server);
        let answer = chat(&client, model, &look(), &Record::default()).await.unwrap();
        let mut trimmed = next(look(), &answer);
        trimmed.messages[1].content = "look, in short".into();
        assert_eq!(chat(&client, model, &trimmed, &Record::default()).await.unwrap().content, "done");
        let first = &server.bodies()[1]["messages"][1]["content"][0]["type"];
        assert_eq!(*first == "thinking", kept, "{model}: {first}");
        assert_eq!(server.bodies().len(), 2, "{model}");
    }
    // Marks of the cache are no change, and thinking goes on through a longer conversation.
    let mut request = look();
    request.messages[0].content = "be brief ".repeat(400);
    let answer = chat(&client, "claude-opus-5-5", &request, &Record::default()).await.unwrap();
    let mut request = next(request, &answer);
    let done = chat(&client, "claude-opus-5-5", &request, &Record::default()).await.unwrap();
    request.messages.push(Message::of_answer(&done));
    request.messages.push(Message::text(Speaker::User, "and then?"));
    chat(&client, "claude-opus-5-5", &request, &Record::default()).await.unwrap();
    for body in &server.bodies()[1..] {
        assert_eq!(body["messages"][1]["content"][0]["type"], "thinking");
    }
}

#[tokio::test]
async fn refused_thinking_is_left_out_from_then_on() {
    let refusal = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.";
    let server =
        Server::start(vec![thinks_and_calls(), refuses(400, "invalid_request_error", refusal), says("done")])
            .await;
    let client = client(&server);
    let answer = chat(&client, "claude-opus-5-5", &look(), &Record::default()).await.unwrap();
    let next = next(look(), &answer);
    assert_eq!(chat(&client, "claude-opus-5-5", &next, &Record::default()).await.unwrap().content, "done");
    let first = |body: &Value| body["messages"][1]["content"][0]["type"].clone();
    let bodies = server.bodies();
    assert_eq!((first(&bodies[1]), first(&bodies[2])), (json!("thinking"), json!("text")));
}

#[tokio::test]
async fn final_errors_name_who_can_act() {
    use ServiceFailure as Kind;
    let service = |kind: Kind| Err(kind);
    let credit = "Your credit balance is too low to access the Anthropic API.";
    let too_long =
        |prompt_tokens| ChatError::ContextTooLong { prompt_tokens, output_tokens: 32_768, window: 200_000 };
    let table = [
        (401, "authentication_error", "invalid x-api-key", service(Kind::Auth)),
        (403, "permission_error", "no", service(Kind::Auth)),
        (404, "not_found_error", "model: nobody", service(Kind::NotFound)),
        (400, "invalid_request_error", credit, service(Kind::Quota)),
        (402, "billing_error", "pay", service(Kind::Quota)),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            Ok(too_long(210_000)),
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 32768 > 200000, decrease input length",
            Ok(too_long(190_000)),
        ),
        (
            413,
            "request_too_large",
            "Request exceeds the maximum size",
            Ok(ChatError::Refused { message: "Request exceeds the maximum size".into() }),
        ),
    ];
    for (status, kind, message, expected) in table {
        let server = Server::start(vec![refuses(status, kind, message)]).await;
        let failure =
            chat(&client(&server), "claude-haiku-4-5", &look(), &Record::default()).await.unwrap_err();
        let told = match failure {
            Error::Request(error) => Ok(error),
            Error::Service { kind, .. } => Err(kind),
            other => panic!("{message}: {other}"),
        };
        assert_eq!((told, server.bodies().len()), (expected, 1), "{message}");
    }
}

#[tokio::test]
async fn what_passes_is_waited_out_inside_a_stream_too() {
    use ServiceFailure as Kind;
    let inside = |kind: &str| {
        let error = json!({"type": "error", "error": {"type": kind, "message": "x"}});
        stream(&[head(&json!({"input_tokens": 10, "output_tokens": 1})), error])
    };
    let table = [
        (refuses(529, "overloaded_error", "Overloaded"), Kind::Server),
        (refuses(429, "rate_limit_error", "slow down"), Kind::RateLimited),
        (refuses(500, "api_error", "oops"), Kind::Server),
        (inside("overloaded_error"), Kind::Server),
        (inside("rate_limit_error"), Kind::RateLimited),
        (inside("api_error"), Kind::Server),
        (stream(&[head(&json!({"input_tokens": 10}))]), Kind::Network),
    ];
    for (fault, expected) in table {
        let server = Server::start(vec![fault, says("fine")]).await;
        let record = Record::default();
        let answer = chat(&client(&server), "claude-opus-5-5", &look(), &record).await.unwrap();
        assert_eq!(answer.content, "fine");
        let events = record.events.lock().unwrap().clone();
        let waits = events.iter().filter_map(|event| match event {
            CallEvent::Waiting { why, .. } => Some(*why),
            _ => None,
        });
        assert_eq!(waits.collect::<Vec<_>>(), [crate::WaitReason::Failure(expected)]);
    }
}

/// It cannot be made to call, so an answer in text says nothing of its tools.
#[tokio::test]
async fn a_model_that_always_thinks_keeps_its_tools_when_it_answers_in_text() {
    let block = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": "a", "name": "ls", "input": {}}});
    let [ends, stop] = end("tool_use", 5);
    let calls = stream(&[head(&json!({"input_tokens": 10, "output_tokens": 1})), block, ends, stop]);
    let server = Server::start(vec![says("I could list them."), calls]).await;
    let (client, record) = (client(&server), Record::default());
    let request = ChatRequest {
        messages: vec![Message::text(Speaker::User, "look")],
        tools: vec![Tool { name: "ls".into(), description: "list".into(), parameters: json!({}) }],
        tool_choice: ToolChoice::Required,
        ..ChatRequest::default()
    };
    let answer = chat(&client, "claude-sonnet-5-5", &request, &record).await.unwrap();
    assert_eq!(answer.tool_calls.len(), 1);
    let events = record.events.lock().unwrap();
    let downgraded = events.iter().any(|event| matches!(event, CallEvent::Downgraded { .. }));
    assert!(!downgraded, "{events:?}");
    let bodies = server.bodies();
    assert!(bodies[0]["messages"][0].to_string().contains("`ls`"), "the demand is told: {}", bodies[0]);
    assert!(
        bodies.iter().all(|body| body["tools"][0]["name"] == "ls" && body["tool_choice"]["type"] != "any")
    );
}
