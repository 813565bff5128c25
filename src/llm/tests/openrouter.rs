//! Servers of chat completions that differ by their provider's entry: OpenRouter and DeepSeek.

use std::collections::BTreeMap;

use podium_types::chat::{
    ChatAnswer, ChatError, ChatRequest, Effort, Message, OutputSchema, Speaker, TokenLogprob, Tool, ToolCall,
};
use podium_types::money::Usd;
use serde_json::{Value, json};

use super::server::{Act, STREAM, Server, delta, error, event, says, stream, usage};
use super::setup::{KEY, Record, chat_with, request};
use crate::{CallEvent, Catalog, Client, Error, ModelName, ServiceFailure, Settings, Settled};

const CATALOG: &str = r#"
[providers.openrouter]
protocol = "openai"
reasoning_object = true
reasoning_back = "reasoning_details"
tells_cost = true

[providers.deepseek]
protocol = "openai"
reasoning_back = "reasoning_content"
json_mode = true

[models."openrouter/priced"]
prices = { input = 1.0, output = 1.0 }
max_output_tokens = 100
"#;

fn client(server: &Server) -> Client {
    let variables = ["OPENROUTER", "DEEPSEEK"].into_iter().flat_map(|name| {
        [(format!("{name}_BASE_URL"), server.url.clone()), (format!("{name}_API_KEY"), KEY.to_owned())]
    });
    let catalog = Catalog::parse(CATALOG).unwrap();
    let millis = std::time::Duration::from_millis;
    let settings = Settings {
        max_tries: 2,
        first_delay: millis(1),
        ..Settings::new(&catalog, &variables.collect::<BTreeMap<_, _>>())
    };
    Client::new(catalog, settings, None)
}

async fn ask(
    acts: Vec<Act>,
    model: &str,
    request: &ChatRequest,
) -> (Result<ChatAnswer, Error>, Server, Record) {
    let server = Server::start(acts).await;
    let record = Record::default();
    let model: ModelName = model.parse().unwrap();
    let result = chat_with(&client(&server), &server, &record, &model, request).await;
    (result, server, record)
}

fn costs(usage: &Value) -> Act {
    stream(&[
        delta(&json!({"content": "fine"}), Some("stop")),
        event(&json!({"choices": [], "usage": usage})),
    ])
}

#[tokio::test]
async fn the_told_cost_is_what_is_settled() {
    let told = |more: Value| {
        let mut usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}});
        usage.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        usage
    };
    let nanos = |nanos| Some(Usd::from_nanos(nanos));
    for (model, more, cost) in [
        ("openrouter/any", json!({"cost": 0.000_25}), nanos(250_000)),
        ("openrouter/any", json!({"cost": 0}), nanos(0)),
        ("openrouter/any", json!({}), None),
        ("openrouter/any", json!({"cost": "dear"}), None),
        ("openrouter/any", json!({"cost": -1.0}), None),
        ("openrouter/priced", json!({"cost": 0.000_25}), nanos(250_000)),
        ("openrouter/priced", json!({}), nanos(15_000)),
        (
            "openrouter/any",
            json!({"cost": 0.5, "cost_details": {"upstream_inference_cost": 0.5}}),
            nanos(500_000_000),
        ),
        (
            "openrouter/any",
            json!({"cost": 0.01, "is_byok": true, "cost_details": {"upstream_inference_cost": 0.5}}),
            nanos(510_000_000),
        ),
        ("deepseek/any", json!({"cost": 0.5}), None),
    ] {
        let (answer, _server, record) = ask(vec![costs(&told(more.clone()))], model, &request()).await;
        let used = answer.unwrap().usage;
        assert_eq!(
            (used.cost, used.cached_input_tokens, used.cache_write_tokens),
            (cost, 4, 3),
            "{model} {more}"
        );
        assert_eq!(record.settled.lock().unwrap().as_slice(), [(1, Settled::Used(used))]);
        let dearer = record
            .events
            .lock()
            .unwrap()
            .iter()
            .any(|event| matches!(event, CallEvent::ExceededWorstCase { .. }));
        assert_eq!(dearer, model == "openrouter/priced" && cost > nanos(100_000), "{model} {more}");
    }
}

fn with_effort_and_document() -> ChatRequest {
    let output = OutputSchema { name: "o".into(), schema: json!({"type": "object"}), strict: true };
    ChatRequest { effort: Some(Effort::High), output: Some(output), ..request() }
}

#[tokio::test]
async fn efforts_and_documents_go_out_in_each_servers_words() {
    let (_, server, _) = ask(vec![says("{}")], "openrouter/any", &with_effort_and_document()).await;
    let body = &server.bodies()[0];
    assert_eq!((&body["reasoning"], body.get("reasoning_effort")), (&json!({"effort": "high"}), None));
    assert_eq!(body["response_format"]["type"], "json_schema");
    let (answer, server, _) = ask(vec![says("{}")], "deepseek/any", &with_effort_and_document()).await;
    assert_eq!(answer.unwrap().document, Some(json!({})));
    let body = &server.bodies()[0];
    assert_eq!((&body["reasoning_effort"], body.get("reasoning")), (&json!("high"), None));
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("JSON Schema"), "{body}");
}

#[tokio::test]
async fn reasoning_goes_back_as_it_came_and_to_its_model_only() {
    let text = |text: &str| json!({"type": "reasoning.text", "index": 0, "format": "f", "text": text, "signature": null});
    let signature = json!({"type": "reasoning.text", "index": 0, "signature": "EqQB"});
    let secret = json!({"type": "reasoning.encrypted", "index": 1, "data": "gA=="});
    let call = json!({"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{}"}});
    let piece = |details: Value| delta(&json!({"reasoning_details": details, "reasoning": "h"}), None);
    let first = stream(&[
        piece(json!([text("h")])),
        piece(json!([text("m")])),
        piece(json!([signature, secret])),
        delta(&json!({"tool_calls": [call]}), Some("tool_calls")),
        usage(10, 5),
    ]);
    let (answer, ..) = ask(vec![first], "openrouter/any", &request()).await;
    let answer = answer.unwrap();
    let mut whole = text("hm");
    whole["signature"] = json!("EqQB");
    let mut next = request();
    next.messages.push(Message::of_answer(&answer));
    let sent =
        async |model: &str| ask(vec![says("fine")], model, &next).await.1.bodies()[0]["messages"][1].clone();
    assert_eq!(sent("openrouter/any").await["reasoning_details"], json!([whole, secret]));
    assert_eq!(sent("openrouter/other").await.get("reasoning_details"), None);
}

#[tokio::test]
async fn a_turn_with_calls_never_lacks_the_reasoning_that_is_demanded() {
    let first =
        stream(&[delta(&json!({"reasoning_content": "hm", "content": "fine"}), Some("stop")), usage(10, 5)]);
    let (answer, ..) = ask(vec![first], "deepseek/any", &request()).await;
    let mut calls = Message::text(Speaker::Assistant, "");
    calls.tool_calls = vec![ToolCall { id: "a".into(), name: "ls".into(), arguments: "{}".into() }];
    let mut next = request();
    next.messages.extend([
        Message::of_answer(&answer.unwrap()),
        calls,
        Message::text(Speaker::Assistant, "ok"),
    ]);
    next.tools = vec![Tool { name: "ls".into(), description: String::new(), parameters: json!({}) }];
    let (_, server, _) = ask(vec![says("fine")], "deepseek/any", &next).await;
    let messages = server.bodies()[0]["messages"].clone();
    let back: Vec<Option<&Value>> =
        messages.as_array().unwrap().iter().map(|message| message.get("reasoning_content")).collect();
    assert_eq!(back, [None, Some(&json!("hm")), Some(&json!("")), None]);
}

#[tokio::test]
async fn a_routers_errors_are_understood() {
    use ServiceFailure as Kind;
    let in_stream = |error: Value| {
        let piece = json!({"id": "gen", "error": error, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]});
        Act::Write(
            format!(
                "{STREAM}: OPENROUTER PROCESSING\n\n{}{}",
                delta(&json!({"content": "half"}), None),
                event(&piece)
            )
            .into_bytes(),
        )
    };
    let in_choice =
        json!({"choices": [{"error": {"code": 502, "message": "x"}, "message": {"content": ""}}]});
    let moderated =
        json!({"code": 403, "message": "flagged", "metadata": {"reasons": ["x"], "flagged_input": "y"}});
    let broke = json!({"code": 402, "message": "Insufficient credits"});
    for (name, act, expected) in [
        ("mid-stream", in_stream(json!({"code": 502, "message": "x"})), Some(Kind::Server)),
        ("limit mid-stream", in_stream(json!({"code": 429, "message": "x"})), Some(Kind::RateLimited)),
        (
            "code in words",
            in_stream(json!({"code": "rate_limit_exceeded", "message": "x"})),
            Some(Kind::RateLimited),
        ),
        ("only a finish reason", in_stream(Value::Null), Some(Kind::Server)),
        ("in a choice", stream(&[event(&in_choice)]), Some(Kind::Server)),
        (
            "out of its depth",
            stream(&[delta(&json!({"content": "x"}), Some("insufficient_system_resource"))]),
            Some(Kind::Server),
        ),
        ("no credit", error(402, "", &broke), Some(Kind::Quota)),
        ("moderated", error(403, "", &moderated), None),
        ("not authorised", error(403, "", &json!({"code": 403, "message": "no"})), Some(Kind::Auth)),
    ] {
        let (result, ..) = ask(vec![act], "openrouter/any", &request()).await;
        match (result.unwrap_err(), expected) {
            (Error::Service { kind, .. }, Some(expected)) => assert_eq!(kind, expected, "{name}"),
            (Error::Request(ChatError::Refused { message }), None) => {
                assert_eq!(message, "flagged", "{name}");
            }
            (other, _) => panic!("{name}: {other}"),
        }
    }
}

#[tokio::test]
async fn a_route_without_tools_is_a_downgrade() {
    let none = json!({"code": 404, "message": "No endpoints found that support tool use. To learn more, see the documentation."});
    let tool = Tool { name: "ls".into(), description: String::new(), parameters: json!({}) };
    let asked = ChatRequest { tools: vec![tool], ..request() };
    let (answer, server, record) =
        ask(vec![error(404, "", &none), says("fine")], "openrouter/any", &asked).await;
    assert_eq!(answer.unwrap().content, "fine");
    assert!(server.bodies()[1].get("tools").is_none());
    let downgraded = CallEvent::Downgraded { parameter: "tools".into() };
    assert!(record.events.lock().unwrap().contains(&downgraded));
}

#[tokio::test]
async fn log_probabilities_come_with_the_answer() {
    let logprobs = |token: &str| json!({"content": [{"token": token, "logprob": -0.5, "bytes": null, "top_logprobs": [{"token": "x", "logprob": -2.0}]}]});
    let piece = |token: &str, finish: Option<&str>| {
        event(
            &json!({"choices": [{"delta": {"content": token}, "logprobs": logprobs(token), "finish_reason": finish}]}),
        )
    };
    let (answer, ..) =
        ask(vec![stream(&[piece("a", None), piece("b", Some("stop"))])], "openrouter/any", &request()).await;
    let one = |token: &str, logprob, top| TokenLogprob { token: token.into(), logprob, top };
    let of = |token: &str| one(token, -0.5, vec![one("x", -2.0, Vec::new())]);
    assert_eq!(answer.unwrap().logprobs, [of("a"), of("b")]);
}
