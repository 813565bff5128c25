//! The Responses API over the wire: what goes out, what comes back, what a complaint means.

use podium_types::chat::{
    ChatRequest, Effort, FinishReason, Message, OutputSchema, Speaker, TokenLogprob, Tool, ToolCall,
    ToolChoice,
};
use serde_json::{Value, json};

use super::server::{Act, STREAM, Server, error, event, response};
use super::setup::{Record, chat, client, request, settings};
use crate::{CallEvent, Error, ServiceFailure, Settled, WaitReason};

const MODEL: &str = "responses";

fn reasoning() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"})
}

fn ended(kind: &str, output: &Value) -> Value {
    json!({"type": format!("response.{kind}"), "response": {
        "id": "resp_1", "model": "served-model", "status": kind, "output": output,
        "usage": {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}},
    }})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

/// A stream of these events, each with its name in front, as the service writes them; it has no end mark.
fn stream(events: &[Value]) -> Act {
    let named = |value: &Value| {
        let name = value["type"].as_str().unwrap_or_default();
        format!("event: {name}\n{}", event(value))
    };
    Act::Write(format!("{STREAM}{}", events.iter().map(named).collect::<String>()).into_bytes())
}

fn says(text: &str) -> Act {
    stream(&[
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
        ended("completed", &json!([message(text)])),
    ])
}

#[tokio::test]
async fn a_request_goes_out_in_the_words_of_the_responses_api() {
    let server = Server::start(vec![says("fine")]).await;
    let call = ToolCall { id: "a".into(), name: "ls".into(), arguments: "{}".into() };
    let mut turn = Message::text(Speaker::Assistant, "");
    turn.tool_calls = vec![call];
    let state = json!([reasoning(), {"type": "function_call", "call_id": "a"}]);
    turn.provider_state =
        Some(Box::new(json!({"openai_responses": {"model": "openai/responses", "items": state}})));
    let mut result = Message::text(Speaker::Tool, "train.csv");
    result.tool_call_id = Some("a".into());
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let request = ChatRequest {
        messages: vec![
            Message::text(Speaker::System, "be brief"),
            Message::text(Speaker::User, "look"),
            turn,
            result,
        ],
        tools: vec![Tool {
            name: "ls".into(),
            description: "list".into(),
            parameters: json!({"type": "object"}),
        }],
        tool_choice: ToolChoice::Named("ls".into()),
        one_tool_call: true,
        output: Some(OutputSchema { name: "review".into(), schema: schema.clone(), strict: true }),
        stop: vec!["END".into()],
        temperature: Some(0.5),
        max_output_tokens: Some(2),
        effort: Some(Effort::Low),
        seed: Some(7),
        top_logprobs: Some(2),
    };
    let _ = chat(&client(settings(&server)), &server, &Record::default(), MODEL, &request).await;
    let expected = json!({
        "model": MODEL,
        "input": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "look"},
            reasoning(),
            {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "train.csv"},
        ],
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
        "max_output_tokens": 16,
        "temperature": 0.5,
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [{"type": "function", "name": "ls", "description": "list", "parameters": {"type": "object"}, "strict": false}],
        "tool_choice": {"type": "function", "name": "ls"},
        "parallel_tool_calls": false,
        "text": {"format": {"type": "json_schema", "name": "review", "schema": schema, "strict": true}},
        "top_logprobs": 2,
    });
    assert_eq!(server.bodies()[0], expected);
    assert!(server.heads()[0].starts_with("post /v1/responses "));
}

#[tokio::test]
async fn a_turn_with_reasoning_and_a_call_comes_back_and_goes_out_again() {
    let call =
        json!({"type": "function_call", "id": "fc_1", "call_id": "a", "name": "ls", "arguments": "{}"});
    let token = json!({"token": "ok", "logprob": -0.25, "top_logprobs": []});
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "fine", "logprobs": [token]});
    let server = Server::start(vec![
        stream(&[ended("completed", &json!([reasoning(), call]))]),
        stream(&[delta, ended("completed", &json!([]))]),
    ])
    .await;
    let client = client(settings(&server));
    let record = Record::default();
    let first = chat(&client, &server, &record, MODEL, &request()).await.unwrap();
    assert_eq!((first.finish.clone(), first.reasoning.as_deref()), (FinishReason::ToolCalls, Some("hm")));
    assert_eq!(record.settled.lock().unwrap().as_slice(), [(1, Settled::Used(first.usage))]);
    assert_eq!(
        (first.usage.input_tokens, first.usage.output_tokens, first.usage.reasoning_tokens),
        (10, 5, 2)
    );
    let mut next = request();
    next.messages.push(Message::of_answer(&first));
    let second = chat(&client, &server, &Record::default(), MODEL, &next).await.unwrap();
    assert_eq!(second.logprobs, [TokenLogprob { token: "ok".into(), logprob: -0.25, top: Vec::new() }]);
    assert_eq!((second.content.as_str(), second.provider_state), ("fine", None));
    let sent = json!({"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"});
    assert_eq!(server.bodies()[1]["input"], json!([{"role": "user", "content": "hello"}, reasoning(), sent]));
}

#[tokio::test]
async fn one_whole_body_is_an_answer_too() {
    let body = ended("completed", &json!([message("fine")]))["response"].to_string();
    let server = Server::start(vec![response(200, "content-type: application/json\r\n", &body)]).await;
    let answer =
        chat(&client(settings(&server)), &server, &Record::default(), MODEL, &request()).await.unwrap();
    assert_eq!(
        (answer.content.as_str(), answer.finish, answer.usage.total_tokens()),
        ("fine", FinishReason::Stop, 15)
    );
}

#[tokio::test]
async fn what_the_model_does_not_take_is_left_out_from_then_on() {
    let complaint = |message: &str, parameter: &str| {
        error(400, "", &json!({"message": message, "code": "unsupported_value", "param": parameter}))
    };
    let server = Server::start(vec![
        complaint("Your organization must be verified to generate reasoning summaries.", "reasoning.summary"),
        complaint("Encrypted content is not supported with this model.", "include"),
        complaint(
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning.effort",
        ),
        says("fine"),
    ])
    .await;
    let record = Record::default();
    let request = ChatRequest { effort: Some(Effort::High), ..request() };
    chat(&client(settings(&server)), &server, &record, MODEL, &request).await.unwrap();
    let events = record.events.lock().unwrap().clone();
    let downgrades: Vec<String> = events
        .into_iter()
        .filter_map(|event| match event {
            CallEvent::Downgraded { parameter } => Some(parameter),
            _ => None,
        })
        .collect();
    assert_eq!(downgrades, ["reasoning_summary", "reasoning_state", "effort"]);
    let last = server.bodies().pop().unwrap();
    assert!(last.get("reasoning").is_none() && last.get("include").is_none(), "{last}");
}

#[tokio::test]
async fn failures_inside_a_stream_are_told_by_their_codes() {
    use ServiceFailure as Kind;
    let failed = |code: &str| json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": "x"}}});
    let told = |code: &str| json!({"type": "error", "code": code, "message": "x", "param": null});
    let nested = |code: &str| json!({"type": "error", "error": {"type": code, "message": "x"}});
    let begun = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "half"});
    for (piece, kind) in [
        (failed("rate_limit_exceeded"), Kind::RateLimited),
        (failed("server_error"), Kind::Server),
        (told("rate_limit_exceeded"), Kind::RateLimited),
        (told("insufficient_quota"), Kind::Quota),
        (nested("server_error"), Kind::Server),
        (json!({"type": "response.cancelled", "response": {"status": "cancelled"}}), Kind::Network),
    ] {
        let server = Server::start(vec![stream(&[begun.clone(), piece.clone()]), says("fine")]).await;
        let record = Record::default();
        let result = chat(&client(settings(&server)), &server, &record, MODEL, &request()).await;
        assert_eq!(record.settled.lock().unwrap()[0], (1, Settled::Unknown), "{piece}");
        match result {
            Ok(answer) => {
                let events = record.events.lock().unwrap();
                let why = events.iter().find_map(|event| match event {
                    CallEvent::Waiting { why, .. } => Some(*why),
                    _ => None,
                });
                assert_eq!(
                    (answer.content.as_str(), why),
                    ("fine", Some(WaitReason::Failure(kind))),
                    "{piece}"
                );
            }
            Err(Error::Service { kind: told, .. }) => {
                assert_eq!((told, kind), (Kind::Quota, Kind::Quota), "{piece}");
            }
            Err(error) => panic!("{piece}: {error}"),
        }
    }
}
