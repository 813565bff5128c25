//! Lanes through the whole client: what answers and refusals teach, and what a run is told of waiting.

use std::time::Duration;

use podium_types::usage::Usage;
use serde_json::json;

use super::server::{Act, STREAM, Server, delta, response, says, stream, usage};
use super::setup::{CATALOG, KEY, Record, chat, client, request, settings};
use crate::{CallEvent, Catalog, Client, Error, Pacing, ServiceFailure, Settings, Settled, WaitReason};

/// The answer `text` under these headers.
fn says_with(headers: &str) -> Act {
    let head = STREAM.replace("\r\n\r\n", &format!("\r\n{headers}\r\n"));
    let events = delta(&json!({"content": "fine"}), None) + &delta(&json!({}), Some("stop")) + &usage(10, 5);
    Act::Write(format!("{head}{events}data: [DONE]\n\n").into_bytes())
}

fn waits(record: &Record) -> Vec<(WaitReason, Option<Duration>)> {
    let events = record.events.lock().unwrap();
    let waits = events.iter().filter_map(|event| match event {
        CallEvent::Waiting { why, delay, .. } => Some((*why, *delay)),
        _ => None,
    });
    waits.collect()
}

fn overs(record: &Record) -> usize {
    record.events.lock().unwrap().iter().filter(|event| **event == CallEvent::WaitingOver).count()
}

#[tokio::test]
async fn a_limit_told_with_a_good_answer_is_kept_before_it_is_hit() {
    let used_up = "x-ratelimit-limit-requests: 10\r\nx-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 5s\r\n";
    let server = Server::start(vec![says_with(used_up), says("fine")]).await;
    let client = client(settings(&server));
    let record = Record::default();
    chat(&client, &server, &record, "any", &request()).await.unwrap();
    assert_eq!(waits(&record), []);
    let record = Record::default();
    let begun = std::time::Instant::now();
    chat(&client, &server, &record, "any", &request()).await.unwrap();
    let [(WaitReason::RequestsPerMinute, Some(delay))] = waits(&record)[..] else {
        panic!("{:?}", waits(&record))
    };
    assert!(delay <= Duration::from_millis(500) && begun.elapsed() >= delay, "{delay:?}");
    assert_eq!(overs(&record), 1);
}

#[tokio::test]
async fn one_refusal_holds_all_calls_of_the_lane_in_every_client_that_shares_it() {
    let server = Server::start(vec![response(429, "retry-after-ms: 600\r\n", ""), says("fine")]).await;
    let settings = Settings { max_delay: Duration::from_secs(5), ..settings(&server) };
    let pacing = Pacing::default();
    let make = || Client::new(Catalog::parse(CATALOG).unwrap(), settings.clone(), None).paced(pacing.clone());
    let (first, second) = (make(), make());
    let (one, others) = (Record::default(), [(); 9].map(|()| Record::default()));
    let request = request();
    let model = crate::ModelName { provider: "openai".into(), model: "any".into() };
    let call = |record| crate::Call {
        model: &model,
        request: &request,
        ledger: &crate::NoLedger,
        observer: record,
        purpose: "test",
    };
    let refused = async { first.chat(&call(&one)).await.map(drop) };
    let rest = async {
        while waits(&one).is_empty() {
            tokio::task::yield_now().await;
        }
        let calls = others.iter().map(|record| async { second.chat(&call(record)).await.map(drop) });
        futures_util::future::join_all(calls).await
    };
    let (refused, rest) = tokio::join!(refused, rest);
    assert_eq!((refused, rest), (Ok(()), vec![Ok(()); 9]));
    assert_eq!(server.bodies().len(), 11, "nobody else was turned away");
    let delay = Some(Duration::from_millis(600));
    assert_eq!(waits(&one)[0], (WaitReason::Failure(ServiceFailure::RateLimited), delay));
    for record in &others {
        let [(WaitReason::Pause, Some(left))] = waits(record)[..] else { panic!("{:?}", waits(record)) };
        assert!(left <= Duration::from_millis(600));
        assert_eq!(overs(record), 1);
    }
}

#[tokio::test]
async fn a_wait_beyond_the_cap_is_told_and_the_lane_sends_nothing_meanwhile() {
    for (status, header) in [
        (429, "retry-after: 1e300"),
        (503, "retry-after: 99999999999999999999"),
        (429, "retry-after: Fri, 31 Dec 9999 23:59:59 GMT"),
        (500, "x-should-retry: true\r\nretry-after: 3600"),
        (503, "retry-after-ms: 51"),
    ] {
        let server = Server::start(vec![response(status, &format!("{header}\r\n"), "")]).await;
        let client = client(settings(&server));
        for sent in [1, 0] {
            let failure = chat(&client, &server, &Record::default(), "any", &request()).await.unwrap_err();
            let Error::Service { tries, retry_after: Some(asked), .. } = &failure else {
                panic!("{header}: {failure:?}")
            };
            assert_eq!(*tries, sent, "{header}");
            assert!(*asked > Duration::from_millis(1) && failure.retryable(), "{header}: {asked:?}");
            assert!(failure.hint().unwrap().contains("as the service asks"));
            if header.ends_with("51") {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_service_error_with_a_short_wait_is_waited_for() {
    let server = Server::start(vec![response(503, "retry-after: 0.03\r\n", ""), says("fine")]).await;
    let record = Record::default();
    chat(&client(settings(&server)), &server, &record, "any", &request()).await.unwrap();
    let delay = Some(Duration::from_millis(30));
    assert_eq!(waits(&record), [(WaitReason::Failure(ServiceFailure::Server), delay)]);
}

#[tokio::test]
async fn a_retry_that_is_of_no_use_is_not_made() {
    for (headers, tries) in [
        ("x-should-retry: false\r\n", 1),
        ("x-should-retry: false\r\nretry-after-ms: 1\r\n", 4),
        ("x-should-retry: true\r\n", 4),
    ] {
        let server = Server::start(vec![response(500, headers, "")]).await;
        let failure = chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await;
        let Err(Error::Service { kind: ServiceFailure::Server, tries: sent, .. }) = failure else {
            panic!("{failure:?}")
        };
        assert_eq!(sent, tries, "{headers}");
    }
    let server = Server::start(vec![response(401, "x-should-retry: true\r\n", "")]).await;
    let failure = chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await;
    assert!(matches!(failure, Err(Error::Service { tries: 1, .. })), "{failure:?}");
}

#[tokio::test]
async fn a_refused_reservation_gives_its_place_back() {
    let server = Server::start(vec![says("fine")]).await;
    let mut settings = settings(&server);
    settings.endpoints.get_mut("openai").unwrap().limits = crate::Limits {
        requests_per_minute: std::num::NonZeroU32::new(1),
        concurrency: std::num::NonZeroU32::new(1),
        ..crate::Limits::default()
    };
    let client = client(settings);
    let refusing = Record { allowed: Some(0), ..Record::default() };
    let failure = chat(&client, &server, &refusing, "any", &request()).await.unwrap_err();
    assert!(matches!(failure, Error::Denied(_)));
    let record = Record::default();
    chat(&client, &server, &record, "any", &request()).await.unwrap();
    assert_eq!(waits(&record), []);
}

#[tokio::test]
async fn a_usage_that_cannot_be_true_is_an_estimate_and_teaches_nothing() {
    let huge = 1_000_000_000_000_000_000;
    let answer = |usage: String| {
        stream(&[delta(&json!({"content": "fine"}), None), delta(&json!({}), Some("stop")), usage])
    };
    let server = Server::start(vec![answer(usage(huge, huge)), says("fine")]).await;
    let client = client(settings(&server));
    let model = crate::ModelName { provider: "openai".into(), model: "priced".into() };
    let before = client.worst_case(&model, &request());
    let record = Record::default();
    let first = chat(&client, &server, &record, "priced", &request()).await.unwrap();
    let expected = Usage { cost: before.cost, ..before.usage() };
    assert_eq!(first.usage, expected);
    assert_eq!(*record.settled.lock().unwrap(), [(1, Settled::Used(expected))]);
    assert_eq!(client.worst_case(&model, &request()), before);
    let told = record.events.lock().unwrap().iter().any(|event| {
        matches!(event, CallEvent::ImplausibleUsage { attempt: 1, told, settled }
            if told.input_tokens == huge && *settled == expected)
    });
    assert!(told, "{:?}", record.events.lock().unwrap());
    assert!(!format!("{:?}", record.events.lock().unwrap()).contains(KEY));
}
