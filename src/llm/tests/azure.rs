//! Azure over the wire: both forms of its addresses, its key's header, its filter.

use std::collections::BTreeMap;

use podium_types::chat::{ChatError, FinishReason};
use serde_json::json;

use super::server::{Act, Server, delta, error, event, says, stream};
use super::setup::{KEY, Record, chat_with, request};
use crate::{Catalog, Client, Error, ModelName, Settings};

const CATALOG: &str = r#"
[providers.azure]
protocol = "azure"
base_url_variable = "AZURE_OPENAI_ENDPOINT"
key_required = true
max_completion_tokens = true
key_variable = "AZURE_OPENAI_API_KEY"

[models."azure/thinker"]
api = "responses"
"#;

fn client(server: &Server, path: &str, version: &str) -> Client {
    let origin = server.url.strip_suffix("/v1").unwrap();
    let variables = BTreeMap::from([
        ("AZURE_OPENAI_ENDPOINT".to_owned(), format!("{origin}{path}")),
        ("AZURE_OPENAI_API_KEY".to_owned(), KEY.to_owned()),
        ("AZURE_OPENAI_API_VERSION".to_owned(), version.to_owned()),
    ]);
    let catalog = Catalog::parse(CATALOG).unwrap();
    let settings = Settings { max_tries: 1, ..Settings::new(&catalog, &variables) };
    Client::new(catalog, settings, None)
}

fn model(name: &str) -> ModelName {
    ModelName { provider: "azure".into(), model: name.into() }
}

#[tokio::test]
async fn the_version_decides_the_address_and_the_key_has_its_own_header() {
    let dated = "2024-10-21";
    let deployed = "post /openai/deployments/mine/chat/completions?api-version=2024-10-21 ";
    for (path, version, name, line) in [
        ("", "", "mine", "post /openai/v1/chat/completions "),
        ("/", "preview", "mine", "post /openai/v1/chat/completions "),
        ("/openai/v1/", "", "mine", "post /openai/v1/chat/completions "),
        ("", dated, "mine", deployed),
        ("/openai", dated, "mine", deployed),
        ("", dated, "thinker", "post /openai/v1/responses "),
    ] {
        let server = Server::start(vec![says("fine")]).await;
        let client = client(&server, path, version);
        let _ = chat_with(&client, &server, &Record::default(), &model(name), &request()).await;
        let head = &server.heads()[0];
        assert!(head.starts_with(line), "{path} {version} {name}: {head}");
        assert!(head.contains(&format!("api-key: {KEY}")) && !head.contains("authorization"), "{head}");
        assert_eq!(server.bodies()[0]["model"], name);
    }
}

#[tokio::test]
async fn what_the_filter_stops_is_a_refusal() {
    let refused = error(
        400,
        "",
        &json!({
            "message": "The response was filtered: unsupported content in `tools`.", "code": "content_filter", "param": "prompt", "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
        }),
    );
    let server = Server::start(vec![refused]).await;
    let client = client(&server, "", "");
    let failure =
        chat_with(&client, &server, &Record::default(), &model("mine"), &request()).await.unwrap_err();
    let expected =
        ChatError::Refused { message: "The response was filtered: unsupported content in `tools`.".into() };
    assert_eq!(failure, Error::Request(expected));
}

#[tokio::test]
async fn filter_results_around_the_answer_do_not_disturb_it() {
    let before = event(&json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}));
    let between =
        event(&json!({"choices": [{"index": 0, "content_filter_offsets": {}, "finish_reason": null}]}));
    let filtered: Vec<Act> = vec![stream(&[
        before,
        delta(&json!({"content": "half"}), None),
        between,
        delta(&json!({}), Some("content_filter")),
    ])];
    let server = Server::start(filtered).await;
    let client = client(&server, "", "");
    let answer = chat_with(&client, &server, &Record::default(), &model("mine"), &request()).await.unwrap();
    assert_eq!((answer.content.as_str(), answer.finish), ("half", FinishReason::Refusal));
}
