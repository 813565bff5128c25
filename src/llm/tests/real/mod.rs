//! Against servers that no one here wrote. `tests/services/with.sh` runs them; without it these tests say that they are
//! skipped.

mod litellm;
mod llama;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Mutex;

use podium_types::chat::{ChatAnswer, ChatRequest, Message, Speaker};

use crate::{Call, CallEvent, Catalog, Client, Error, NoLedger, Observer, Settings};

/// The address of server `NAME`, or a loud word on why there is none.
fn address(name: &str) -> Option<String> {
    let variable = |end: &str| std::env::var(format!("PODIUM_{name}_{end}")).ok();
    let url = variable("URL");
    if url.is_none() {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let why = variable("MISSING").unwrap_or_else(|| "run it under tests/services/with.sh".to_owned());
        let line = format!("SKIP {test}: {why}\n");
        eprint!("{line}");
        if let Some(file) = std::env::var_os("PODIUM_SKIPS") {
            let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
            open.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
        }
    }
    url
}

#[derive(Default)]
struct Events(Mutex<Vec<CallEvent>>);

impl Observer for Events {
    fn event(&self, event: CallEvent) {
        self.0.lock().unwrap().push(event);
    }
}

impl Events {
    fn take(&self) -> Vec<CallEvent> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A client of the providers and models of `catalog`, whose keys are in `variables`.
fn client(catalog: &str, variables: &[(&str, &str)]) -> Client {
    let catalog = Catalog::parse(catalog).unwrap();
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let settings = Settings::new(&catalog, &variables);
    Client::new(catalog, settings, None)
}

async fn chat(
    client: &Client,
    model: &str,
    request: &ChatRequest,
    observer: &Events,
) -> Result<ChatAnswer, Error> {
    let model = model.parse().unwrap();
    let call = Call { model: &model, request, ledger: &NoLedger, observer, purpose: "test" };
    client.chat(&call).await
}

fn asked(text: &str, max_output_tokens: u32) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::text(Speaker::User, text)],
        max_output_tokens: Some(max_output_tokens),
        seed: Some(7),
        ..ChatRequest::default()
    }
}
