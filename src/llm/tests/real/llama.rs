//! llama.cpp's server with a model of 135 million parameters. It answers in text even where a tool call is required, and
//! its decoder enforces schemas: the real case of the ways down to a typed call.

use podium_types::chat::{
    ChatError, ChatRequest, FinishReason, Message, OutputSchema, Speaker, Tool, ToolChoice,
};
use serde_json::{Value, json};

use super::{Events, address, asked, chat, client};
use crate::{CallEvent, Client, Error};

const MODEL: &str = "llama/smollm2";

fn served() -> Option<Client> {
    let url = address("LLAMA")?;
    Some(client(&format!("[providers.llama]\nprotocol = \"openai\"\nbase_url = \"{url}\""), &[]))
}

#[tokio::test]
async fn it_streams_an_answer_and_tells_its_tokens() {
    let Some(client) = served() else { return };
    let events = Events::default();
    let request = ChatRequest { temperature: Some(0.8), ..asked("Name three colours.", 16) };
    let answer = chat(&client, MODEL, &request, &events).await.unwrap();
    assert!(!answer.content.trim().is_empty() && !answer.usage.estimated, "{answer:?}");
    assert!(answer.usage.input_tokens > 5 && (1..=16).contains(&answer.usage.output_tokens), "{answer:?}");
    assert_eq!((answer.model.as_str(), answer.usage.cost), ("smollm2", None));
    let events = events.take();
    let told = |kind: fn(&CallEvent) -> bool| events.iter().position(kind);
    let started = told(|event| matches!(event, CallEvent::TryStarted { .. }));
    let first_byte = told(|event| matches!(event, CallEvent::FirstByte { .. }));
    let answered = told(|event| matches!(event, CallEvent::Answered { .. }));
    assert_eq!((started, first_byte, answered), (Some(0), Some(1), Some(events.len() - 1)), "{events:?}");
    // The model's template adds a system prompt of its own, which no estimate can know before.
    let worst = client.worst_case(&MODEL.parse().unwrap(), &request);
    assert!(worst.input_tokens >= answer.usage.input_tokens, "{worst:?}, {:?}", answer.usage);
}

#[tokio::test]
async fn the_same_seed_gives_the_same_answer() {
    let Some(client) = served() else { return };
    let request = ChatRequest { temperature: Some(1.0), ..asked("Invent a name for a ship.", 12) };
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(chat(&client, MODEL, &request, &Events::default()).await.unwrap().content);
    }
    // The first one reads the prompt without the cache, which may round otherwise.
    assert_eq!(answers[1], answers[2]);
}

#[tokio::test]
async fn output_limit_and_stop_texts_hold() {
    let Some(client) = served() else { return };
    let count = "Count from 1 to 30: 1, 2, 3,";
    let answer = chat(&client, MODEL, &asked(count, 5), &Events::default()).await.unwrap();
    assert_eq!((answer.finish, answer.usage.output_tokens), (FinishReason::Length, 5));
    let request = ChatRequest { stop: vec![" ".into()], ..asked(count, 32) };
    let answer = chat(&client, MODEL, &request, &Events::default()).await.unwrap();
    assert!(!answer.content.contains(' ') && answer.usage.output_tokens < 32, "{answer:?}");
}

#[tokio::test]
async fn a_schema_is_enforced() {
    let Some(client) = served() else { return };
    let schema = json!({
        "type": "object",
        "properties": {"is_bug": {"type": "boolean"}, "metric": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["is_bug", "metric"],
        "additionalProperties": false,
    });
    let output = OutputSchema { name: "review".into(), schema, strict: true };
    let request = ChatRequest { output: Some(output), ..asked("Was the run without errors?", 64) };
    let events = Events::default();
    let answer = chat(&client, MODEL, &request, &events).await.unwrap();
    assert!(answer.document.is_some_and(|document| document["is_bug"].is_boolean()));
    let repaired = events.take().iter().any(|event| matches!(event, CallEvent::Repairing { .. }));
    assert!(!repaired, "the first answer was the document");
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str, parameter: &str| Tool {
        name: name.into(),
        description: format!("Takes a {parameter}."),
        parameters: json!({
            "type": "object",
            "properties": {parameter: {"type": "string", "maxLength": 12}},
            "required": [parameter],
            "additionalProperties": false,
        }),
    };
    vec![tool("list_files", "folder"), tool("read_file", "path")]
}

#[tokio::test]
async fn a_required_call_comes_back_typed() {
    let Some(client) = served() else { return };
    let request = ChatRequest {
        tools: tools(),
        tool_choice: ToolChoice::Required,
        one_tool_call: true,
        ..asked("Which files are in the folder data?", 48)
    };
    let mut turns = Vec::new();
    for _ in 0..2 {
        let events = Events::default();
        let answer = chat(&client, MODEL, &request, &events).await.unwrap();
        let [call] = answer.tool_calls.as_slice() else { panic!("{answer:?}") };
        assert!(["list_files", "read_file"].contains(&call.name.as_str()), "{call:?}");
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert!(arguments.is_object() && answer.finish == FinishReason::ToolCalls, "{answer:?}");
        let tries =
            events.take().iter().filter(|event| matches!(event, CallEvent::TryStarted { .. })).count();
        turns.push(tries);
    }
    assert_eq!(turns[1], 1, "what was learnt at first ({turns:?} turns) is remembered");
}

#[tokio::test]
async fn tools_on_offer_and_earlier_calls_do_no_harm() {
    let Some(client) = served() else { return };
    let mut request = ChatRequest { tools: tools(), ..asked("Say hello.", 16) };
    let named = ToolChoice::Named("read_file".into());
    let demand = ChatRequest { tool_choice: named, max_output_tokens: Some(48), ..request.clone() };
    let answer = chat(&client, MODEL, &demand, &Events::default()).await.unwrap();
    assert_eq!(answer.tool_calls.first().map(|call| call.name.as_str()), Some("read_file"), "{answer:?}");
    let result = answer.tool_calls.iter().map(|call| Message {
        tool_call_id: Some(call.id.clone()),
        ..Message::text(Speaker::Tool, "hello, world")
    });
    request.messages.extend([vec![Message::of_answer(&answer)], result.collect()].concat());
    chat(&client, MODEL, &request, &Events::default()).await.unwrap();
}

#[tokio::test]
async fn a_prompt_beyond_its_context_is_told_with_numbers() {
    let Some(client) = served() else { return };
    let request = asked(&"forest ".repeat(6_000), 16);
    let failure = chat(&client, MODEL, &request, &Events::default()).await.unwrap_err();
    let Error::Request(ChatError::ContextTooLong { prompt_tokens, window, .. }) = &failure else {
        panic!("{failure:?}")
    };
    assert!(*prompt_tokens > 6_000 && *window == 4_096, "{failure:?}");
}
