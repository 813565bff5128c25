//! Gemini's protocol as a whole: what goes out, what comes back, and what its errors mean.

use std::collections::BTreeMap;
use std::time::Duration;

use podium_types::chat::{
    ChatAnswer, ChatError, ChatRequest, FinishReason, Message, Speaker, Tool, ToolCall,
};
use podium_types::usage::Usage;
use serde_json::{Value, json};

use super::server::{Act, STREAM, Server, error, event, response};
use super::setup::{KEY, request};
use crate::{Call, Catalog, Client, Error, ModelName, NoLedger, NoObserver, ServiceFailure, Settings};

const CATALOG: &str = r#"
[providers.google]
protocol = "gemini"
base_url = "https://google.example"
base_url_variable = "GEMINI_BASE_URL"
key_variable = "GEMINI_API_KEY"
key_required = true
"#;

fn client(server: &Server) -> Client {
    let variables = BTreeMap::from([
        ("GEMINI_BASE_URL".to_owned(), server.url.trim_end_matches("/v1").to_owned()),
        ("GEMINI_API_KEY".to_owned(), KEY.to_owned()),
    ]);
    let catalog = Catalog::parse(CATALOG).unwrap();
    let settings = Settings {
        first_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(50),
        stall_timeout: Duration::from_millis(150),
        max_tries: 2,
        ..Settings::new(&catalog, &variables)
    };
    Client::new(catalog, settings, None)
}

async fn chat(client: &Client, request: &ChatRequest) -> Result<ChatAnswer, Error> {
    let model = ModelName { provider: "google".into(), model: "any".into() };
    let call = Call { model: &model, request, ledger: &NoLedger, observer: &NoObserver, purpose: "test" };
    let result = client.chat(&call).await;
    if let Err(error) = &result {
        assert!(!format!("{error:?} {error}").contains(KEY), "the key leaked");
    }
    result
}

#[expect(clippy::needless_pass_by_value, reason = "reads better with `json!` at the call")]
fn chunk(parts: Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-x"})
}

fn says(text: &str) -> Act {
    let events = [chunk(json!([{"text": text}]), None), chunk(json!([]), Some("STOP"))];
    Act::Write(format!("{STREAM}{}{}", event(&events[0]), event(&events[1])).into_bytes())
}

fn fine() -> ChatAnswer {
    ChatAnswer {
        content: "fine".into(),
        reasoning: None,
        tool_calls: Vec::new(),
        document: None,
        logprobs: Vec::new(),
        finish: FinishReason::Stop,
        usage: Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() },
        model: "gemini-x".into(),
        provider_state: None,
    }
}

#[tokio::test]
async fn the_key_goes_into_a_header_and_the_model_into_the_address() {
    let server = Server::start(vec![says("fine")]).await;
    assert_eq!(chat(&client(&server), &request()).await, Ok(fine()));
    let expected = json!({
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
        "generationConfig": {"maxOutputTokens": 4096, "thinkingConfig": {"includeThoughts": true}},
    });
    assert_eq!(server.bodies(), [expected]);
    let head = &server.heads()[0];
    let (line, rest) = head.split_once("\r\n").unwrap();
    assert_eq!(line, "post /v1beta/models/any:streamgeneratecontent?alt=sse http/1.1");
    assert!(rest.contains(&format!("x-goog-api-key: {KEY}")), "{head}");
}

#[tokio::test]
async fn whole_bodies_are_taken_too() {
    let whole = chunk(json!([{"text": "fine"}]), Some("STOP"));
    let array = json!([chunk(json!([{"text": "fi"}]), None), chunk(json!([{"text": "ne"}]), Some("STOP"))]);
    for body in [whole.to_string(), array.to_string(), serde_json::to_string_pretty(&array).unwrap()] {
        let server = Server::start(vec![response(200, "content-type: application/json\r\n", &body)]).await;
        assert_eq!(chat(&client(&server), &request()).await, Ok(fine()), "{body}");
    }
}

#[tokio::test]
async fn a_blocked_prompt_is_answered_by_a_refusal() {
    let body = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10}});
    let server = Server::start(vec![response(200, "", &body.to_string())]).await;
    let expected = ChatAnswer {
        content: String::new(),
        finish: FinishReason::Refusal,
        usage: Usage { input_tokens: 10, ..Usage::default() },
        model: "any".into(),
        ..fine()
    };
    assert_eq!(chat(&client(&server), &request()).await, Ok(expected));
    assert_eq!(server.bodies().len(), 1, "a refusal is not asked for again");
}

#[tokio::test]
async fn a_call_its_signature_and_its_response_go_round() {
    let parts = json!([{"functionCall": {"id": "f1", "name": "ls", "args": {}}, "thoughtSignature": "c2ln"}]);
    let calls = chunk(parts.clone(), Some("STOP"));
    let server = Server::start(vec![response(200, "", &calls.to_string()), says("fine")]).await;
    let client = client(&server);
    let tools = vec![Tool { name: "ls".into(), description: "list".into(), parameters: json!({}) }];
    let mut request = ChatRequest { tools, ..request() };
    let answer = chat(&client, &request).await.unwrap();
    assert_eq!(answer.finish, FinishReason::ToolCalls);
    let mut result = Message::text(Speaker::Tool, "train.csv");
    result.tool_call_id = Some(answer.tool_calls[0].id.clone());
    request.messages.extend([Message::of_answer(&answer), result]);
    assert_eq!(chat(&client, &request).await, Ok(fine()));
    let response =
        json!({"functionResponse": {"id": "f1", "name": "ls", "response": {"output": "train.csv"}}});
    let expected = json!([
        {"role": "user", "parts": [{"text": "hello"}]},
        {"role": "model", "parts": parts},
        {"role": "user", "parts": [response]},
    ]);
    assert_eq!(server.bodies()[1]["contents"], expected);
}

fn complaint(code: u16, status: &str, message: &str, details: &Value) -> Value {
    json!({"code": code, "status": status, "message": message, "details": details})
}

fn quota(id: &str, value: &str) -> Value {
    let violation = json!({"quotaMetric": "requests", "quotaId": id, "quotaValue": value});
    json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
    ])
}

#[tokio::test]
async fn failures_of_the_service_are_told_apart() {
    use ServiceFailure as Kind;
    let plan = "You exceeded your current quota, please check your plan and billing details.";
    let exhausted = |details: &Value| complaint(429, "RESOURCE_EXHAUSTED", plan, details);
    let minute = quota("GenerateRequestsPerMinutePerProjectPerModel", "5");
    let day = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "20");
    let none = quota("GenerateContentInputTokensPerModelPerMinute-FreeTier", "0");
    let bad_key = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let null = Value::Null;
    let table = [
        ("a quota of the minute", exhausted(&minute), Kind::RateLimited),
        ("a quota that is not told", exhausted(&null), Kind::RateLimited),
        ("a quota of the day", exhausted(&day), Kind::Quota),
        ("no quota", exhausted(&none), Kind::Quota),
        ("a bad key", complaint(400, "INVALID_ARGUMENT", "API key not valid.", &bad_key), Kind::Auth),
        ("an expired key", complaint(400, "INVALID_ARGUMENT", "API key expired.", &null), Kind::Auth),
        ("a closed region", complaint(400, "FAILED_PRECONDITION", "not in your country", &null), Kind::Auth),
        ("no permission", complaint(403, "PERMISSION_DENIED", "no", &null), Kind::Auth),
        ("no such model", complaint(404, "NOT_FOUND", "models/any is not found", &null), Kind::NotFound),
        ("a cancelled operation", complaint(499, "CANCELLED", "cancelled", &null), Kind::Server),
        ("a failure inside", complaint(500, "INTERNAL", "An internal error", &null), Kind::Server),
        ("an overload", complaint(503, "UNAVAILABLE", "The model is overloaded.", &null), Kind::Server),
        ("a deadline", complaint(504, "DEADLINE_EXCEEDED", "late", &null), Kind::Server),
    ];
    for (name, complaint, kind) in table {
        let status = u16::try_from(complaint["code"].as_u64().unwrap()).unwrap();
        let in_array = json!([{"error": complaint}]).to_string();
        let half = event(&chunk(json!([{"text": "half"}]), None));
        let in_stream = format!("{STREAM}{half}{}", event(&json!({"error": complaint})));
        let acts = [
            error(status, "", &complaint),
            response(status, "", &in_array),
            response(200, "", &in_array),
            Act::Write(in_stream.into_bytes()),
        ];
        for (form, act) in acts.into_iter().enumerate() {
            let server = Server::start(vec![act]).await;
            let Err(Error::Service { kind: told, tries, .. }) = chat(&client(&server), &request()).await
            else {
                panic!("{name}, {form}")
            };
            let expected_tries = if kind.retryable() { 2 } else { 1 };
            assert_eq!((told, tries), (kind, expected_tries), "{name}, {form}");
        }
    }
}

#[tokio::test]
async fn the_wait_that_a_body_asks_for_is_kept() {
    for (delay, expected) in [("37s", Some(37_000)), ("0.5s", Some(500)), ("soon", None), ("-1s", None)] {
        let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
        let complaint = complaint(503, "UNAVAILABLE", "overloaded", &details);
        let server = Server::start(vec![error(503, "", &complaint)]).await;
        let Err(Error::Service { retry_after, .. }) = chat(&client(&server), &request()).await else {
            panic!("{delay}")
        };
        assert_eq!(retry_after, expected.map(Duration::from_millis), "{delay}");
    }
}

#[tokio::test]
async fn faults_of_the_request_go_to_the_caller() {
    let long = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    let server =
        Server::start(vec![error(400, "", &complaint(400, "INVALID_ARGUMENT", long, &Value::Null))]).await;
    let expected =
        ChatError::ContextTooLong { prompt_tokens: 1_200_293, output_tokens: 4096, window: 1_048_576 };
    assert_eq!(chat(&client(&server), &request()).await, Err(Error::Request(expected)));
    let message = "Requests ending with a model turn are not supported.";
    let server =
        Server::start(vec![error(400, "", &complaint(400, "INVALID_ARGUMENT", message, &Value::Null))]).await;
    let expected = ChatError::Refused { message: message.into() };
    assert_eq!(chat(&client(&server), &request()).await, Err(Error::Request(expected)));
}

#[tokio::test]
async fn what_a_model_does_not_take_is_left_out() {
    let refused = |message: &str| error(400, "", &complaint(400, "INVALID_ARGUMENT", message, &Value::Null));
    let server = Server::start(vec![
        refused("Thinking is not enabled for models/any"),
        refused("Logprobs is not enabled for models/any"),
        refused("Function calling with a response mime type: 'application/json' is unsupported"),
        says("{}"),
    ])
    .await;
    let output = podium_types::chat::OutputSchema { name: "o".into(), schema: json!({}), strict: true };
    let tools = vec![Tool { name: "ls".into(), description: "list".into(), parameters: json!({}) }];
    let request = ChatRequest { output: Some(output), tools, top_logprobs: Some(1), ..request() };
    let answer = chat(&client(&server), &request).await.unwrap();
    assert_eq!(answer.document, Some(json!({})));
    let body = server.bodies().pop().unwrap();
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 4096}));
    assert_eq!(body["tools"], json!([{"functionDeclarations": [{"name": "ls", "description": "list"}]}]));
}

#[tokio::test]
async fn a_turn_whose_signature_is_refused_goes_without() {
    let message = "Corrupted thought signature.";
    let refusal = error(400, "", &complaint(400, "INVALID_ARGUMENT", message, &Value::Null));
    let server = Server::start(vec![refusal, says("fine")]).await;
    let parts = json!([{"functionCall": {"id": "f1", "name": "ls", "args": {}}, "thoughtSignature": "c2ln"}]);
    let turn = Message {
        tool_calls: vec![ToolCall { id: "f1".into(), name: "ls".into(), arguments: "{}".into() }],
        provider_state: Some(Box::new(json!({"protocol": "gemini", "parts": parts}))),
        ..Message::text(Speaker::Assistant, "")
    };
    let result = Message { tool_call_id: Some("f1".into()), ..Message::text(Speaker::Tool, "train.csv") };
    let request = ChatRequest { messages: vec![turn, result], ..ChatRequest::default() };
    assert_eq!(chat(&client(&server), &request).await, Ok(fine()));
    let sent: Vec<Value> = server.bodies().iter().map(|body| body["contents"][0]["parts"].clone()).collect();
    let unsigned = json!([{
        "functionCall": {"name": "ls", "args": {}},
        "thoughtSignature": "skip_thought_signature_validator",
    }]);
    assert_eq!(sent, [parts, unsigned]);
}
