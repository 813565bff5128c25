//! Calls of tools by models that have none, or overlook the ones they have.

use podium_types::chat::{
    ChatAnswer, ChatRequest, FinishReason, Message, Speaker, Tool, ToolCall, ToolChoice,
};
use serde_json::{Value, json};

use super::server::{Act, Server, delta, error, says, stream, usage};
use super::setup::{Record, chat, client, request, settings};
use crate::{CallEvent, Client};

const CALL: &str = "<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}\n</tool_call>";

fn asked(choice: ToolChoice) -> ChatRequest {
    let tool = |name: &str| Tool {
        name: name.into(),
        description: "lists".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    };
    ChatRequest { tools: vec![tool("ls"), tool("rm")], tool_choice: choice, ..request() }
}

fn called(answer: &ChatAnswer) -> Vec<(&str, &str)> {
    answer.tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
}

fn native(name: &str) -> Act {
    let function = json!({"name": name, "arguments": "{\"path\":\".\"}"});
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]});
    stream(&[delta(&call, Some("tool_calls")), usage(10, 5)])
}

struct Seen {
    answer: ChatAnswer,
    downgraded: Vec<String>,
    repairs: usize,
    bodies: Vec<Value>,
}

async fn ask(client: &Client, server: &Server, request: &ChatRequest) -> Seen {
    let (record, before) = (Record::default(), server.bodies().len());
    let answer = chat(client, server, &record, "any", request).await.unwrap();
    let events = record.events.lock().unwrap().clone();
    let downgraded = events.iter().filter_map(|event| match event {
        CallEvent::Downgraded { parameter } => Some(parameter.clone()),
        _ => None,
    });
    let repairs = events.iter().filter(|event| matches!(event, CallEvent::Repairing { .. })).count();
    Seen { answer, downgraded: downgraded.collect(), repairs, bodies: server.bodies().split_off(before) }
}

#[tokio::test]
async fn a_server_without_tools_gets_them_as_text_and_its_text_becomes_calls() {
    let refusal = error(400, "", &json!({"message": "any does not support tools"}));
    let server = Server::start(vec![refusal, says(&format!("I look.\n{CALL}{CALL}"))]).await;
    let mut turn = Message::text(Speaker::Assistant, "");
    turn.tool_calls = vec![ToolCall { id: "a".into(), name: "rm".into(), arguments: "{}".into() }];
    let mut result = Message::text(Speaker::Tool, "gone");
    result.tool_call_id = Some("a".into());
    let mut request = asked(ToolChoice::Auto);
    request.messages.extend([turn, result]);
    let client = client(settings(&server));
    let seen = ask(&client, &server, &request).await;
    assert_eq!((seen.answer.content.as_str(), &seen.answer.finish), ("I look.", &FinishReason::ToolCalls));
    assert_eq!(called(&seen.answer), [("ls", r#"{"path":"."}"#); 2]);
    assert_ne!(seen.answer.tool_calls[0].id, seen.answer.tool_calls[1].id);
    assert_eq!(seen.downgraded, ["tools"]);
    let body = &seen.bodies[1];
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("\"name\":\"rm\""));
    assert_eq!(
        body["messages"][2]["content"],
        "<tool_call>\n{\"name\": \"rm\", \"arguments\": {}}\n</tool_call>"
    );
    assert_eq!(body["messages"][3]["content"], "<tool_result name=\"rm\">\ngone\n</tool_result>");
    // An answer to the calls goes on in the same form, and what was reserved covered the definitions.
    let worst = client.worst_case(&"openai/any".parse().unwrap(), &request).input_tokens;
    let bare = ChatRequest { tools: Vec::new(), ..request.clone() };
    assert!(worst > client.worst_case(&"openai/any".parse().unwrap(), &bare).input_tokens + 100);
    let one = ChatRequest { one_tool_call: true, ..request };
    let seen = ask(&client, &server, &one).await;
    assert_eq!((called(&seen.answer).len(), &seen.bodies[0]["stop"]), (1, &json!(["</tool_call>"])));
}

#[tokio::test]
async fn a_call_in_the_text_of_a_model_with_tools_counts_as_one() {
    let server = Server::start(vec![says(CALL)]).await;
    let seen = ask(&client(settings(&server)), &server, &asked(ToolChoice::Auto)).await;
    assert_eq!(called(&seen.answer), [("ls", r#"{"path":"."}"#)]);
    assert_eq!((seen.answer.content.as_str(), seen.bodies.len()), ("", 1));
    let none = asked(ToolChoice::None);
    let seen = ask(&client(settings(&server)), &server, &none).await;
    assert_eq!((seen.answer.content.as_str(), called(&seen.answer).len()), (CALL, 0));
}

#[tokio::test]
async fn a_demanded_call_as_plain_json_costs_no_further_turn() {
    let server =
        Server::start(vec![says("```json\n{\"name\": \"rm\", \"arguments\": {\"path\": \"x\"}}\n```")]).await;
    let seen = ask(&client(settings(&server)), &server, &asked(ToolChoice::Required)).await;
    assert_eq!((called(&seen.answer), seen.bodies.len()), (vec![("rm", r#"{"path":"x"}"#)], 1));
    assert!(seen.downgraded.is_empty());
}

#[tokio::test]
async fn a_model_that_ignores_tools_is_asked_in_text_and_that_is_remembered() {
    let server = Server::start(vec![says("Sure, here are the files."), says(CALL)]).await;
    let client = client(settings(&server));
    let seen = ask(&client, &server, &asked(ToolChoice::Required)).await;
    assert_eq!((called(&seen.answer), seen.repairs), (vec![("ls", r#"{"path":"."}"#)], 1));
    assert_eq!((seen.downgraded, seen.answer.usage.total_tokens()), (vec!["tools".to_owned()], 30));
    assert!(seen.bodies[0].get("tools").is_some() && seen.bodies[1].get("tools").is_none());
    let seen = ask(&client, &server, &asked(ToolChoice::Required)).await;
    assert_eq!((seen.bodies.len(), seen.repairs, seen.downgraded.len()), (1, 0, 0));
    assert!(seen.bodies[0].get("tools").is_none());
}

#[tokio::test]
async fn a_model_that_heeds_no_text_has_its_call_enforced_and_that_is_remembered() {
    let document = r#"{"name": "ls", "arguments": {"path": "data"}}"#;
    let server = Server::start(vec![says("Sure."), says("Here they are."), says(document)]).await;
    let client = client(settings(&server));
    let demand = ChatRequest { one_tool_call: true, stop: vec!["arg".into()], ..asked(ToolChoice::Required) };
    let seen = ask(&client, &server, &demand).await;
    let expected = vec![("ls", r#"{"path":"data"}"#)];
    assert_eq!((called(&seen.answer), seen.repairs), (expected.clone(), 2));
    assert_eq!((seen.answer.content.as_str(), &seen.answer.finish), ("", &FinishReason::ToolCalls));
    assert_eq!(seen.downgraded, ["tools", "tools_as_text"]);
    let format = &seen.bodies[2]["response_format"]["json_schema"];
    assert_eq!((&format["strict"], format["schema"]["anyOf"].as_array().unwrap().len()), (&json!(false), 2));
    assert_eq!((seen.bodies[2].get("stop"), seen.bodies.len()), (None, 3));
    let seen = ask(&client, &server, &demand).await;
    assert_eq!((called(&seen.answer), seen.bodies.len(), seen.repairs), (expected, 1, 0));
}

#[tokio::test]
async fn a_model_that_never_calls_gives_its_first_answer() {
    let server = Server::start(vec![says("one"), says("two"), says("three")]).await;
    let client = client(settings(&server));
    let seen = ask(&client, &server, &asked(ToolChoice::Named("ls".into()))).await;
    assert_eq!((seen.answer.content.as_str(), called(&seen.answer).len()), ("one", 0));
    assert_eq!((seen.bodies.len(), seen.answer.usage.total_tokens()), (3, 45));
    // From then on one turn shows it.
    assert_eq!(ask(&client, &server, &asked(ToolChoice::Required)).await.bodies.len(), 1);
}

#[tokio::test]
async fn a_model_that_has_called_before_keeps_its_tools() {
    let server = Server::start(vec![native("ls"), says("no"), native("rm")]).await;
    let client = client(settings(&server));
    assert_eq!(called(&ask(&client, &server, &asked(ToolChoice::Required)).await.answer).len(), 1);
    let seen = ask(&client, &server, &asked(ToolChoice::Required)).await;
    assert_eq!((called(&seen.answer), seen.repairs), (vec![("rm", r#"{"path":"."}"#)], 1));
    assert!(seen.downgraded.is_empty() && seen.bodies[1].get("tools").is_some());
}

#[tokio::test]
async fn only_the_named_tool_meets_the_demand_for_it() {
    let server = Server::start(vec![native("ls"), native("rm")]).await;
    let seen = ask(&client(settings(&server)), &server, &asked(ToolChoice::Named("rm".into()))).await;
    assert_eq!((called(&seen.answer), seen.repairs), (vec![("rm", r#"{"path":"."}"#)], 1));
}

#[tokio::test]
async fn whatever_fails_behind_the_first_answer_leaves_it() {
    let refusal = stream(&[delta(&json!({"refusal": "I will not."}), Some("stop")), usage(10, 5)]);
    for (acts, content, turns) in [
        (vec![says("one"), error(401, "", &json!({"message": "expired"}))], "one", 2),
        (vec![refusal], "I will not.", 1),
    ] {
        let server = Server::start(acts).await;
        let seen = ask(&client(settings(&server)), &server, &asked(ToolChoice::Required)).await;
        assert_eq!((seen.answer.content.as_str(), seen.bodies.len()), (content, turns));
        assert_eq!(seen.answer.usage.total_tokens(), 15);
    }
    let server = Server::start(vec![says("one")]).await;
    let record = Record { allowed: Some(1), ..Record::default() };
    let demand = asked(ToolChoice::Required);
    let answer = chat(&client(settings(&server)), &server, &record, "any", &demand).await.unwrap();
    assert_eq!(answer.content, "one", "the budget denied the second turn");
}

#[tokio::test]
async fn a_schema_that_is_refused_goes_without_strictness_then_into_the_prompt() {
    let refused = || {
        error(
            400,
            "",
            &json!({
                "message": "Invalid schema for response_format 'o': In context=(), 'additionalProperties' is required to be supplied and to be false.",
                "type": "invalid_request_error",
                "param": "response_format",
                "code": null,
            }),
        )
    };
    let server = Server::start(vec![refused(), refused(), says("{}")]).await;
    let output = podium_types::chat::OutputSchema {
        name: "o".into(),
        schema: json!({"type": "object"}),
        strict: true,
    };
    let request = ChatRequest { output: Some(output), ..request() };
    let client = client(settings(&server));
    let seen = ask(&client, &server, &request).await;
    assert_eq!(
        (seen.answer.document, seen.downgraded),
        (Some(json!({})), vec!["strict_schema".into(), "schema".to_owned()])
    );
    let strict = |body: &Value| body["response_format"]["json_schema"]["strict"].as_bool();
    assert_eq!(seen.bodies.iter().map(strict).collect::<Vec<_>>(), [Some(true), Some(false), None]);
    assert_eq!(ask(&client, &server, &request).await.bodies.len(), 1);
}
