//! The `LiteLLM` proxy, which speaks three protocols and answers by itself. Asked for a stream, its Anthropic shape
//! answers with one whole body.

use podium_types::chat::{FinishReason, Message, Speaker, Tool};
use serde_json::json;

use super::{Events, address, asked, chat, client};
use crate::{CallEvent, Client, Error, ServiceFailure};

/// Stands in `tests/services/litellm.yaml` and opens nothing else.
const KEY: &str = "sk-podium-service-test-51c07c3d9f2e4a6bb8";

const SHAPES: [(&str, &str); 3] = [
    ("lite/plain", "an answer in the shape of OpenAI"),
    ("lite-anthropic/claude", "an answer in the shape of Anthropic"),
    ("lite-google/gemini", "an answer in the shape of Google"),
];

fn served(key: &str) -> Option<Client> {
    let url = address("LITELLM")?;
    let catalog = format!(
        "[providers.lite]\nprotocol = \"openai\"\nbase_url = \"{url}/v1\"\n\
         [providers.lite-anthropic]\nprotocol = \"anthropic\"\nbase_url = \"{url}\"\n\
         [providers.lite-google]\nprotocol = \"gemini\"\nbase_url = \"{url}\"\n"
    );
    let keys = ["LITE_API_KEY", "LITE_ANTHROPIC_API_KEY", "LITE_GOOGLE_API_KEY"].map(|name| (name, key));
    Some(client(&catalog, &keys))
}

#[tokio::test]
async fn all_three_protocols_are_answered() {
    let Some(client) = served(KEY) else { return };
    let mut request = asked("hello", 64);
    request.messages.insert(0, Message::text(Speaker::System, "be brief"));
    request.temperature = Some(0.5);
    request.stop = vec!["END".into()];
    for (model, text) in SHAPES {
        let answer = chat(&client, model, &request, &Events::default()).await.unwrap();
        assert_eq!(
            (answer.content.as_str(), &answer.finish),
            (text, &FinishReason::Stop),
            "{model}: {answer:?}"
        );
        assert!(answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0, "{model}: {answer:?}");
    }
}

#[tokio::test]
async fn tools_on_offer_and_calls_made_before_are_taken() {
    let Some(client) = served(KEY) else { return };
    let mut request = asked("look", 64);
    request.tools = vec![Tool {
        name: "ls".into(),
        description: "lists a folder".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    }];
    let mut turn = Message::text(Speaker::Assistant, "");
    turn.tool_calls = vec![podium_types::chat::ToolCall {
        id: "call_0".into(),
        name: "ls".into(),
        arguments: r#"{"path":"."}"#.into(),
    }];
    let mut result = Message::text(Speaker::Tool, "train.csv");
    result.tool_call_id = Some("call_0".into());
    request.messages.extend([turn, result]);
    for (model, text) in SHAPES {
        let answer = chat(&client, model, &request, &Events::default()).await.unwrap();
        assert_eq!((answer.content.as_str(), answer.tool_calls.len()), (text, 0), "{model}: {answer:?}");
    }
}

/// It refuses a key with a 400 about its own database, and a model with one about its list.
#[tokio::test]
async fn what_it_refuses_is_final_and_shows_no_key() {
    let wrong = "sk-wrong-9d1f0c";
    let (Some(stranger), Some(client)) = (served(wrong), served(KEY)) else { return };
    for (model, _) in SHAPES {
        for (client, model) in [(&stranger, model), (&client, &format!("{model}-that-is-not-there"))] {
            let events = Events::default();
            let failure = chat(client, model, &asked("hello", 8), &events).await.unwrap_err();
            let is_final = match &failure {
                Error::Request(_) => true,
                Error::Service { kind, .. } => {
                    matches!(kind, ServiceFailure::Auth | ServiceFailure::NotFound)
                }
                _ => false,
            };
            let events = events.take();
            let tries = events.iter().filter(|event| matches!(event, CallEvent::TryStarted { .. })).count();
            assert!(is_final && tries == 1, "{model}: {tries} tries, {failure:?}");
            let shown = format!("{failure} {failure:?} {events:?}");
            assert!(!shown.contains(KEY) && !shown.contains(wrong), "{model}: {shown}");
        }
    }
}
