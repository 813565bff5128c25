//! What a row of the table cannot say: how long tries and waits took, and what bounds their number.

use std::time::Duration;

use serde_json::json;

use super::super::server::{Act, STREAM, Server, delta, error, response, says};
use super::super::setup::{Record, chat, client, request, settings};
use crate::{CallEvent, Error, ServiceFailure};

/// A run moves a failed try's time to the clock of waiting on the service: it needs the time and the reason.
#[tokio::test]
async fn a_failed_try_tells_how_long_it_took_and_whether_the_service_was_to_blame() {
    use ServiceFailure as Kind;
    let stall = 150;
    let half = format!("{STREAM}{}", delta(&json!({"content": "half"}), None)).into_bytes();
    let late = |bytes: Vec<u8>| Act::After(Duration::from_millis(60), bytes);
    let unsupported =
        json!({"message": "Unsupported parameter: 'temperature'", "code": "unsupported_parameter"});
    let Act::Write(unsupported) = error(400, "", &unsupported) else { unreachable!() };
    let table = [
        ("a stall before headers", Act::Stall(Vec::new()), Some(Kind::Stalled), stall),
        ("a stall between tokens", Act::Stall(half.clone()), Some(Kind::Stalled), stall),
        ("a cut before headers", late(Vec::new()), Some(Kind::Network), 60),
        ("a cut stream", late(half), Some(Kind::Network), 60),
        (
            "a late refusal",
            late(b"HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n".to_vec()),
            Some(Kind::Server),
            60,
        ),
        ("an unsupported parameter", late(unsupported), None, 60),
    ];
    for (name, fault, expected, at_least) in table {
        let server = Server::start(vec![fault, says("fine")]).await;
        let record = Record::default();
        let request = podium_types::chat::ChatRequest { temperature: Some(0.5), ..request() };
        let begun = std::time::Instant::now();
        chat(&client(settings(&server)), &server, &record, "any", &request).await.unwrap();
        let whole = begun.elapsed();
        let events = record.events.lock().unwrap();
        let [CallEvent::TryStarted { .. }, rest @ ..] = events.as_slice() else {
            panic!("{name}: {events:?}")
        };
        let failed = rest.iter().find(|event| !matches!(event, CallEvent::FirstByte { .. }));
        let Some(CallEvent::TryFailed { attempt: 1, elapsed, service, .. }) = failed else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(*service, expected, "{name}");
        assert!(
            *elapsed >= Duration::from_millis(at_least) && *elapsed <= whole,
            "{name}: {elapsed:?} of {whole:?}"
        );
    }
}

#[tokio::test]
async fn a_connection_that_cannot_be_made_is_told_with_its_time_and_costs_nothing() {
    let server = Server::start(vec![says("fine")]).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut settings = crate::Settings { max_tries: 1, ..settings(&server) };
    settings.endpoints.get_mut("openai").unwrap().base_url = Some(format!("http://{closed}/v1"));
    let record = Record::default();
    let model = crate::ModelName { provider: "openai".into(), model: "any".into() };
    let request = request();
    let ledger = crate::NoLedger;
    let call =
        crate::Call { model: &model, request: &request, ledger: &ledger, observer: &record, purpose: "test" };
    let begun = std::time::Instant::now();
    let failure = client(settings).chat(&call).await.unwrap_err();
    assert!(matches!(failure, Error::Service { kind: ServiceFailure::Network, .. }), "{failure}");
    let events = record.events.lock().unwrap();
    let [_, CallEvent::TryFailed { elapsed, service: Some(ServiceFailure::Network), .. }] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert!(*elapsed <= begun.elapsed());
}

#[tokio::test]
async fn tries_are_bounded_and_a_long_retry_after_ends_the_chat() {
    let server = Server::start(vec![response(500, "", "")]).await;
    let failure = chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await;
    let Err(failure @ Error::Service { tries: 4, kind: ServiceFailure::Server, .. }) = failure else {
        panic!("{failure:?}")
    };
    assert!(failure.retryable() && failure.to_string().contains("4 tries"), "{failure}");

    let server = Server::start(vec![response(429, "retry-after: 3600\r\n", "")]).await;
    let failure = chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await;
    let Err(Error::Service { tries: 1, retry_after, .. }) = &failure else { panic!("{failure:?}") };
    assert_eq!(*retry_after, Some(Duration::from_hours(1)));
}

#[tokio::test]
async fn retry_after_is_a_lower_bound_and_a_dropped_wait_is_over() {
    let server = Server::start(vec![response(429, "retry-after: 0.04\r\n", ""), says("fine")]).await;
    let record = Record::default();
    chat(&client(settings(&server)), &server, &record, "any", &request()).await.unwrap();
    let events = record.events.lock().unwrap().clone();
    let waits = events.iter().filter_map(|event| match event {
        CallEvent::Waiting { delay, attempt, of, .. } => Some((*delay, *attempt, *of)),
        _ => None,
    });
    assert_eq!(waits.collect::<Vec<_>>(), [(Some(Duration::from_millis(40)), 2, 4)]);

    let server = Server::start(vec![response(429, "retry-after: 60\r\n", "")]).await;
    let settings = crate::Settings { max_delay: Duration::from_mins(5), ..settings(&server) };
    let (client, record, request) = (client(settings), Record::default(), request());
    let cancelled =
        tokio::time::timeout(Duration::from_millis(200), chat(&client, &server, &record, "any", &request));
    assert!(cancelled.await.is_err());
    assert_eq!(record.events.lock().unwrap().last(), Some(&CallEvent::WaitingOver));
}

#[tokio::test]
async fn endless_bodies_and_slow_drips_are_cut_off() {
    let one_try =
        |server: &Server| crate::Settings { max_tries: 1, max_body_bytes: 100_000, ..settings(server) };
    let head = STREAM.as_bytes().to_vec();
    for piece in
        [&b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"[..], b"no line end ", b": alive\n\n"]
    {
        let server = Server::start(vec![Act::Endless(head.clone(), piece.to_vec())]).await;
        let failure = chat(&client(one_try(&server)), &server, &Record::default(), "any", &request()).await;
        let Err(Error::Service { kind: ServiceFailure::BadAnswer, message, .. }) = &failure else {
            panic!("{failure:?}")
        };
        assert!(message.contains("100000 bytes"), "{message}");
    }
    let server = Server::start(vec![Act::Stall(head)]).await;
    let settings = crate::Settings {
        call_timeout: Duration::from_millis(30),
        stall_timeout: Duration::from_mins(1),
        ..one_try(&server)
    };
    let failure = chat(&client(settings), &server, &Record::default(), "any", &request()).await;
    let Err(Error::Service { kind: ServiceFailure::Stalled, .. }) = &failure else { panic!("{failure:?}") };
}
