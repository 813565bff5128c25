//! Runs a row over a protocol, and checks what must hold whatever the server does: each try is reserved before its
//! bytes leave and settled once, the request goes where its protocol says with the key in the one header, and the
//! key shows nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use podium_types::chat::{ChatAnswer, ChatError};

use super::super::server::Server;
use super::super::setup::{KEY, Record, Witness};
use super::row::{Billed, Expect, Given, Row, good};
use super::speech::Protocol;
use crate::{Call, CallEvent, Catalog, Client, Error, Ledger, ServiceFailure, Settings, Settled};

/// No row takes this long, on the slowest machine.
const HANG: Duration = Duration::from_mins(2);

const PROVIDERS: &str = r#"
[providers.openai]
protocol = "openai"
base_url = "https://openai.example/v1"
key_required = true

[providers.router]
protocol = "openai"
base_url = "https://router.example/v1"

[providers.azure]
protocol = "azure"

[providers.anthropic]
protocol = "anthropic"
base_url = "https://anthropic.example"

[providers.google]
protocol = "gemini"
base_url = "https://google.example/v1beta"

[models."openai/responding"]
api = "responses"
"#;

pub(super) fn client(url: &str, tune: fn(&mut Settings)) -> Client {
    let catalog = Catalog::parse(PROVIDERS).unwrap();
    let mut settings = Settings {
        first_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(50),
        stall_timeout: Duration::from_secs(20),
        max_tries: 4,
        ..Settings::new(&catalog, &BTreeMap::new())
    };
    for endpoint in settings.endpoints.values_mut() {
        endpoint.base_url = Some(url.to_owned());
        endpoint.key = Some(crate::Secret::new(KEY));
        endpoint.extra.insert("AZURE_OPENAI_API_VERSION", "2024-10-21".to_owned());
    }
    tune(&mut settings);
    Client::new(catalog, settings, None)
}

/// What is wrong, if anything is.
pub(super) async fn run(protocol: &'static dyn Protocol, row: Row) -> Result<(), String> {
    let mut acts = row.acts.clone();
    acts.push(good(protocol));
    let server = Server::start(acts).await;
    let record = Record::default();
    let witness = Witness { record: &record, server: &server };
    let away = row.url.is_some();
    let ledger: &dyn Ledger = if away { &Away(&record) } else { &witness };
    let client = client(row.url.as_deref().unwrap_or(&server.url), row.settings);
    let model = protocol.model().parse().unwrap();
    let call = Call { model: &model, request: &row.request, ledger, observer: &record, purpose: "test" };
    let result = tokio::time::timeout(HANG, client.chat(&call)).await.map_err(|_| "it hangs".to_owned())?;
    account(&record, (!away).then_some(&server))?;
    if !away {
        addressed(protocol, &server)?;
    }
    secret(&record, &result)?;
    identified(&result)?;
    observed(&record)?;
    judge(&row.expect, &result, &record)
}

/// Writes down as a witness does, where there is no server to hold the tries against.
struct Away<'a>(&'a Record);

impl Ledger for Away<'_> {
    fn reserve(
        &self,
        attempt: u32,
        worst: crate::WorstCase,
    ) -> futures_util::future::BoxFuture<'_, Result<(), crate::Denied>> {
        self.0.reserved.lock().unwrap().push((attempt, worst));
        Box::pin(std::future::ready(Ok(())))
    }

    fn settle(&self, attempt: u32, settled: Settled) -> futures_util::future::BoxFuture<'_, ()> {
        self.0.settled.lock().unwrap().push((attempt, settled));
        Box::pin(std::future::ready(()))
    }
}

fn account(record: &Record, server: Option<&Server>) -> Result<(), String> {
    let reserved: Vec<u32> = record.reserved.lock().unwrap().iter().map(|(attempt, _)| *attempt).collect();
    let settled: Vec<u32> = record.settled.lock().unwrap().iter().map(|(attempt, _)| *attempt).collect();
    if reserved != settled || reserved != (1..).take(reserved.len()).collect::<Vec<u32>>() {
        return Err(format!("reserved {reserved:?}, settled {settled:?}"));
    }
    let Some(server) = server else { return Ok(()) };
    let sent = server.heads().len();
    let before = record.sent_before.lock().unwrap().clone();
    if sent != reserved.len() || before != (0..sent).collect::<Vec<usize>>() {
        let events = record.events.lock().unwrap();
        return Err(format!(
            "{} reserved, {sent} sent; sent before each: {before:?}; {events:?}",
            reserved.len()
        ));
    }
    Ok(())
}

fn addressed(protocol: &dyn Protocol, server: &Server) -> Result<(), String> {
    for head in server.heads() {
        let first = head.lines().next().unwrap_or_default().to_owned();
        if !first.ends_with(&format!("{} http/1.1", protocol.path())) || !first.starts_with("post ") {
            return Err(format!("it is addressed to `{first}`"));
        }
        let with_key: Vec<&str> = head.lines().filter(|line| line.contains(KEY)).collect();
        if with_key != [format!("{}{KEY}", protocol.key_header())] {
            return Err(format!("the key goes out in {with_key:?}"));
        }
    }
    Ok(())
}

fn secret(record: &Record, result: &Result<ChatAnswer, Error>) -> Result<(), String> {
    let mut told = format!("{result:?} {:?}", record.events.lock().unwrap());
    if let Err(error) = result {
        told = format!("{told} {error} {:?}", error.hint());
    }
    if told.contains(KEY) { Err(format!("the key leaked: {told}")) } else { Ok(()) }
}

/// Each try is told as begun and as failed or answered, each wait as over.
fn observed(record: &Record) -> Result<(), String> {
    let events = record.events.lock().unwrap();
    let of = |matches: fn(&CallEvent) -> bool| events.iter().filter(|event| matches(event)).count();
    let tries = record.reserved.lock().unwrap().len();
    let begun = of(|event| matches!(event, CallEvent::TryStarted { .. }));
    let ended = of(|event| matches!(event, CallEvent::TryFailed { .. } | CallEvent::Answered { .. }));
    let waits = of(|event| matches!(event, CallEvent::Waiting { .. }));
    let over = of(|event| matches!(event, CallEvent::WaitingOver));
    if (begun, ended) == (tries, tries) && waits == over {
        Ok(())
    } else {
        Err(format!("told were {events:?}"))
    }
}

/// Each call has an id of its own, whatever the server gave.
fn identified(result: &Result<ChatAnswer, Error>) -> Result<(), String> {
    let Ok(answer) = result else { return Ok(()) };
    let ids: BTreeSet<&str> = answer.tool_calls.iter().map(|call| call.id.as_str()).collect();
    if ids.len() < answer.tool_calls.len() || ids.contains("") {
        return Err(format!("{} calls have the ids {ids:?}", answer.tool_calls.len()));
    }
    Ok(())
}

fn judge(expect: &Expect, result: &Result<ChatAnswer, Error>, record: &Record) -> Result<(), String> {
    let settled: Vec<Settled> = record.settled.lock().unwrap().iter().map(|(_, settled)| *settled).collect();
    let billed: Vec<Billed> = settled.iter().map(billed).collect();
    let waits = waits(record);
    let kinds: Vec<ServiceFailure> = waits.iter().map(|(kind, _)| *kind).collect();
    let told = || format!("came {result:?}, settled {settled:?}, waited {waits:?}");
    let good = |given: &Given| matches!(result, Ok(answer) if plain(given) == seen(answer, settled.last()));
    let right = match expect {
        Expect::Answer(given) => good(given) && billed == [Billed::Used] && kinds.is_empty(),
        Expect::Retried(kind, first) => {
            good(&super::row::fine()) && billed == [*first, Billed::Used] && kinds == [*kind]
        }
        Expect::Waited(kind, least) => {
            good(&super::row::fine())
                && billed == [Billed::No, Billed::Used]
                && matches!(waits.as_slice(), [(why, delay)] if why == kind && delay >= least)
        }
        Expect::Ends(kind, first) => {
            let ended = matches!(result, Err(Error::Service { kind: found, tries: 1, .. }) if found == kind);
            ended && billed == [*first] && kinds.is_empty()
        }
        Expect::Refused => {
            matches!(result, Err(Error::Request(ChatError::Refused { .. }))) && billed == [Billed::No]
        }
        Expect::TooLong(prompt, most) => matches!(
            result,
            Err(Error::Request(ChatError::ContextTooLong { prompt_tokens, window, .. }))
                if prompt_tokens == prompt && window == most
        ),
    };
    if right { Ok(()) } else { Err(format!("expected {expect:?}; {}", told())) }
}

fn billed(settled: &Settled) -> Billed {
    match settled {
        Settled::NotBilled => Billed::No,
        Settled::Unknown => Billed::Unknown,
        Settled::Used(_) => Billed::Used,
    }
}

/// What came, in the terms of what was expected: the usage is the last try's.
fn seen(answer: &ChatAnswer, last: Option<&Settled>) -> Given {
    let usage = match last {
        Some(Settled::Used(usage)) if !usage.estimated => Some((usage.input_tokens, usage.output_tokens)),
        _ => None,
    };
    plain(&Given {
        content: answer.content.clone(),
        calls: answer.tool_calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect(),
        finish: answer.finish.clone(),
        usage,
        model: answer.model.clone(),
    })
}

/// Arguments without white space, for a protocol may send them as a value and not as text.
fn plain(given: &Given) -> Given {
    let mut given = given.clone();
    for (_, arguments) in &mut given.calls {
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(arguments) {
            *arguments = value.to_string();
        }
    }
    given
}

fn waits(record: &Record) -> Vec<(ServiceFailure, Duration)> {
    let events = record.events.lock().unwrap();
    let waits = events.iter().filter_map(|event| match event {
        CallEvent::Waiting { why: crate::WaitReason::Failure(why), delay: Some(delay), .. } => {
            Some((*why, *delay))
        }
        _ => None,
    });
    waits.collect()
}
