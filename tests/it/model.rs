//! `podium model chat`: one call by hand through the client that runs use, with a schema whether or not the server
//! keeps to it.

use serde_json::{Value, json};

use crate::service::{KEY, Service};
use crate::support::{Place, Podium};

fn chat(service: &Service, place: &Place, arguments: &[&str]) -> Podium {
    service.podium(place).args(["model", "chat", "-m", "openai/x"]).args(arguments)
}

fn schema(place: &Place) -> String {
    let schema = json!({
        "type": "object",
        "properties": {"is_bug": {"type": "boolean"}, "summary": {"type": "string"}, "metric": {"type": ["number", "null"]}},
        "required": ["is_bug", "summary", "metric"],
        "additionalProperties": false,
    });
    place.write("work/schema.json", schema.to_string()).display().to_string()
}

#[test]
fn a_plain_answer_is_printed_and_its_usage_told() {
    let service = Service::start(&json!({"content": "Hello there, \u{1b}[31myou."}));
    let place = Place::new();
    let said = chat(&service, &place, &["Say hello"]).output().expect(0);
    assert_eq!(said.stdout, "Hello there, \\u{1b}[31myou.\n");
    assert!(said.stderr.contains("2 + 3 tokens, cost unknown"), "{}", said.stderr);
    let requests = service.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].body()["messages"], json!([{"role": "user", "content": "Say hello"}]));
    assert!(requests[0].output_limit().is_some());
    assert_eq!(
        requests[0].0["headers"]["authorization"],
        format!("Bearer {KEY}"),
        "{}",
        requests[0].0["headers"]
    );
}

#[test]
fn options_reach_the_server_and_tries_are_counted() {
    let service = Service::start(&json!({"content": "Hi.", "faults": ["server-error", "ok"]}));
    let place = Place::new();
    let options = ["--max-output-tokens", "77", "--temperature", "0.25", "--json", "Say hello"];
    let said = chat(&service, &place, &options).output().expect(0);
    let document = said.json();
    assert_eq!((&document["answer"]["content"], &document["tries"]), (&"Hi.".into(), &2.into()));
    assert!(said.stderr.contains("server error"), "a wait is shown: {}", said.stderr);
    let last = service.requests().remove(1);
    assert_eq!((last.output_limit(), last.body()["temperature"].as_f64()), (Some(77), Some(0.25)));
}

#[test]
fn a_schema_is_kept_by_servers_that_know_them() {
    let service = Service::start(&json!({"schema": true}));
    let place = Place::new();
    let schema = schema(&place);
    let said = chat(&service, &place, &["--schema", &schema, "validation rmse: ?"]).output().expect(0);
    assert_eq!(said.json(), json!({"is_bug": true, "summary": "It failed.", "metric": null}));
    let format = &service.requests()[0].0["body"]["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&"json_schema".into(), &true.into()));
}

#[test]
fn a_schema_is_kept_with_servers_that_ignore_it() {
    let service = Service::start(&json!({"schema": false}));
    let place = Place::new();
    let schema = schema(&place);
    let said = chat(&service, &place, &["--schema", &schema, "--json", "judge"]).output().expect(0).json();
    let document = said["answer"]["document"].clone();
    assert_eq!(document, json!({"is_bug": true, "summary": "It failed.", "metric": null}), "{said}");
}

#[test]
fn an_answer_that_never_fits_is_told() {
    let service = Service::start(&json!({"content": "I would rather not."}));
    let place = Place::new();
    let schema = schema(&place);
    let said = chat(&service, &place, &["--schema", &schema, "judge"]).output().expect(1);
    assert!(said.stderr.contains("error: no answer of the model fits the schema"), "{}", said.stderr);
    assert_eq!(said.stdout, "");
    let requests = service.requests();
    assert!((2..=4).contains(&requests.len()), "asked to mend it, and not for ever: {}", requests.len());
    let shown = chat(&service, &place, &["--schema", &schema, "--json", "judge"]).output().expect(1).json();
    let answer = &shown["answer"];
    assert_eq!((&answer["document"], &answer["content"]), (&Value::Null, &"I would rather not.".into()));
}

#[test]
fn a_refused_key_is_no_secret_in_the_error() {
    let service = Service::start(&json!({"faults": ["unauthorised"], "content": ""}));
    let place = Place::new();
    let said = chat(&service, &place, &["hello"]).output().expect(5);
    assert!(
        said.stderr.contains("not authorised") && said.stderr.contains("hint: check the key"),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains(KEY));
    assert_eq!(service.requests().len(), 1, "a refused key is not tried again");
}
