//! The span of a chat as a subscriber sees it: names and values of OpenTelemetry's conventions, and nothing that a
//! person, a model or a server wrote.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use podium_types::chat::{Effort, Message, Speaker};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record as Fields};
use tracing::{Event, Metadata, Subscriber};

use super::server::{Server, delta, error, event, stream};
use super::setup::{KEY, Record, chat, client, request, settings};

/// All spans, and the texts of all events.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<(Vec<Values>, Vec<Values>)>>);

/// Values by field.
#[derive(Clone, Debug, Default, PartialEq)]
struct Values(BTreeMap<&'static str, String>);

impl Visit for Values {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Seen {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut values = Values::default();
        values.0.insert("name", attributes.metadata().name().to_owned());
        attributes.record(&mut values);
        let mut seen = self.0.lock().unwrap();
        seen.0.push(values);
        Id::from_u64(seen.0.len() as u64)
    }

    fn record(&self, id: &Id, fields: &Fields<'_>) {
        let at = usize::try_from(id.into_u64()).unwrap() - 1;
        fields.record(&mut self.0.lock().unwrap().0[at]);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut values = Values::default();
        event.record(&mut values);
        self.0.lock().unwrap().1.push(values);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Seen {
    /// Subscribes for this thread, beside a second subscriber that is never asked: with a single one in the process,
    /// `tracing` decides by the thread that comes first whether a span is of interest, and tests have many threads.
    fn subscribe(&self) -> (tracing::Dispatch, tracing::subscriber::DefaultGuard) {
        (tracing::Dispatch::new(Self::default()), tracing::subscriber::set_default(self.clone()))
    }

    /// The only chat, and everything that was recorded as one text.
    fn chat(&self) -> (Values, String) {
        let seen = self.0.lock().unwrap();
        let chats: Vec<&Values> = seen.0.iter().filter(|span| span.0["name"] == "chat").collect();
        assert_eq!(chats.len(), 1, "{chats:?}");
        (chats[0].clone(), format!("{seen:?}"))
    }
}

fn values(pairs: &[(&'static str, &str)]) -> Values {
    Values(pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
}

#[tokio::test]
async fn a_whole_call_is_a_span_of_the_conventions() {
    let usage = json!({
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    });
    let answer = stream(&[
        delta(&json!({"content": format!("a reply with {KEY}")}), None),
        delta(&json!({}), Some("stop")),
        event(&json!({"choices": [], "usage": usage})),
    ]);
    let server = Server::start(vec![answer]).await;
    let seen = Seen::default();
    let _here = seen.subscribe();
    let mut request = request();
    request.messages = vec![Message::text(Speaker::User, "a question")];
    request.temperature = Some(0.5);
    request.seed = Some(7);
    request.effort = Some(Effort::Low);
    chat(&client(settings(&server)), &server, &Record::default(), "any", &request).await.unwrap();
    let (span, all) = seen.chat();
    let port = server.url.split(['/', ':']).nth(4).unwrap();
    let expected = values(&[
        ("name", "chat"),
        ("otel.name", "chat any"),
        ("otel.kind", "client"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "any"),
        ("gen_ai.request.max_tokens", "4096"),
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.request.seed", "7"),
        ("gen_ai.request.reasoning.level", "low"),
        ("gen_ai.request.stream", "true"),
        ("gen_ai.output.type", "text"),
        ("server.address", "127.0.0.1"),
        ("server.port", port),
        ("gen_ai.response.id", "chatcmpl-1"),
        ("gen_ai.response.model", "served-model"),
        ("gen_ai.response.finish_reasons", "[\"stop\"]"),
        ("gen_ai.usage.input_tokens", "10"),
        ("gen_ai.usage.output_tokens", "5"),
        ("gen_ai.usage.cache_read.input_tokens", "4"),
        ("gen_ai.usage.cache_write.input_tokens", "0"),
        ("gen_ai.usage.reasoning.output_tokens", "2"),
        ("podium.purpose", "test"),
        ("podium.tries", "1"),
    ]);
    assert_eq!(span, expected);
    for text in ["a question", "a reply", KEY] {
        assert!(!all.contains(text), "{text}: {all}");
    }
}

#[tokio::test]
async fn a_failing_call_names_its_error() {
    let refusal = error(401, "", &json!({"message": format!("wrong key {KEY}"), "code": "invalid_api_key"}));
    let server = Server::start(vec![refusal]).await;
    let seen = Seen::default();
    let _here = seen.subscribe();
    chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await.unwrap_err();
    let (span, all) = seen.chat();
    let told = ["error.type", "otel.status_code", "podium.tries", "gen_ai.usage.output_tokens"];
    let told = told.map(|name| span.0.get(name).map(String::as_str));
    assert_eq!(told, [Some("auth"), Some("ERROR"), Some("1"), Some("0")]);
    assert!(!span.0.contains_key("gen_ai.response.id"));
    for text in ["hello", "wrong key", KEY] {
        assert!(!all.contains(text), "{text}: {all}");
    }
}
