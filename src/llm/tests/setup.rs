//! A client against a test server, with a ledger and an observer that write down what they are told.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::BoxFuture;
use podium_types::chat::{ChatAnswer, ChatRequest, Message, Speaker};

use super::server::Server;
use crate::{
    Call, CallEvent, Catalog, Client, Denied, Error, Ledger, ModelName, Observer, Settings, Settled,
    WorstCase,
};

/// What happened, in order, as the ledger and the observer saw it.
#[derive(Default)]
pub(super) struct Record {
    pub(super) reserved: Mutex<Vec<(u32, WorstCase)>>,
    pub(super) settled: Mutex<Vec<(u32, Settled)>>,
    pub(super) events: Mutex<Vec<CallEvent>>,
    /// Requests the server had seen when each try was reserved.
    pub(super) sent_before: Mutex<Vec<usize>>,
    /// Tries allowed.
    pub(super) allowed: Option<u32>,
}

pub(super) struct Witness<'a> {
    pub(super) record: &'a Record,
    pub(super) server: &'a Server,
}

impl Ledger for Witness<'_> {
    fn reserve(&self, attempt: u32, worst: WorstCase) -> BoxFuture<'_, Result<(), Denied>> {
        if self.record.allowed.is_some_and(|allowed| attempt > allowed) {
            let reason = "the cap of $1.00 is reached".to_owned();
            return Box::pin(std::future::ready(Err(Denied { reason })));
        }
        self.record.sent_before.lock().unwrap().push(self.server.bodies().len());
        self.record.reserved.lock().unwrap().push((attempt, worst));
        Box::pin(std::future::ready(Ok(())))
    }

    fn settle(&self, attempt: u32, settled: Settled) -> BoxFuture<'_, ()> {
        self.record.settled.lock().unwrap().push((attempt, settled));
        Box::pin(std::future::ready(()))
    }
}

impl Observer for Record {
    fn event(&self, event: CallEvent) {
        self.events.lock().unwrap().push(event);
    }
}

pub(super) const KEY: &str = "sk-test-key-0123456789";

pub(super) const CATALOG: &str = r#"
[providers.openai]
protocol = "openai"
base_url = "https://openai.example/v1"
key_required = true

[models."openai/priced"]
context_window = 2000
max_output_tokens = 100
prices = { input = 1.0, output = 10.0 }

[models."openai/no-schema"]
strict_schema = false

[models."openai/plain"]
reasoning = false

[models."openai/responses"]
api = "responses"
"#;

/// Settings with short waits, towards `server`.
pub(super) fn settings(server: &Server) -> Settings {
    let variables = BTreeMap::from([
        ("OPENAI_BASE_URL".to_owned(), server.url.clone()),
        ("OPENAI_API_KEY".to_owned(), KEY.to_owned()),
    ]);
    Settings {
        first_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(50),
        stall_timeout: Duration::from_millis(150),
        max_tries: 4,
        ..Settings::new(&Catalog::parse(CATALOG).unwrap(), &variables)
    }
}

pub(super) fn client(settings: Settings) -> Client {
    Client::new(Catalog::parse(CATALOG).unwrap(), settings, None)
}

pub(super) fn request() -> ChatRequest {
    ChatRequest { messages: vec![Message::text(Speaker::User, "hello")], ..ChatRequest::default() }
}

/// Chats once with `openai/<model>`; see [`chat_with`].
pub(super) async fn chat(
    client: &Client,
    server: &Server,
    record: &Record,
    model: &str,
    request: &ChatRequest,
) -> Result<ChatAnswer, Error> {
    let model = ModelName { provider: "openai".into(), model: model.into() };
    chat_with(client, server, record, &model, request).await
}

/// Chats once with `model` and checks what must hold whatever happens: each try is reserved before its bytes leave,
/// and settled once.
pub(super) async fn chat_with(
    client: &Client,
    server: &Server,
    record: &Record,
    model: &ModelName,
    request: &ChatRequest,
) -> Result<ChatAnswer, Error> {
    let witness = Witness { record, server };
    let before = server.bodies().len();
    let call = Call { model, request, ledger: &witness, observer: record, purpose: "test" };
    let result = client.chat(&call).await;
    let tries = server.bodies().len() - before;
    let reserved: Vec<u32> = record.reserved.lock().unwrap().iter().map(|(attempt, _)| *attempt).collect();
    let settled: Vec<u32> = record.settled.lock().unwrap().iter().map(|(attempt, _)| *attempt).collect();
    let counted: Vec<u32> = (1..).take(tries).collect();
    assert_eq!((&reserved, &settled), (&counted, &counted), "reserved and settled against sent tries");
    let expected: Vec<usize> = (before..).take(tries).collect();
    assert_eq!(*record.sent_before.lock().unwrap(), expected, "a try left before it was reserved");
    if let Err(error) = &result {
        assert!(!format!("{error:?} {error}").contains(KEY), "the key leaked");
    }
    result
}
