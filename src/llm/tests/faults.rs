//! The table of faults: what the server does first, and what the client makes of it before the second, good answer.

use std::time::Duration;

use podium_types::chat::ChatError;
use serde_json::json;

use super::server::{
    Act, CHUNKED, STREAM, Server, chunk, delta, error, event, response, says, stream, usage,
};
use super::setup::{KEY, Record, chat, client, request, settings};
use crate::{CallEvent, Error, ServiceFailure, Settled, WaitReason};

/// The kind of the first try's failure, as the wait after it names it.
fn waited_for(record: &Record) -> Vec<ServiceFailure> {
    let events = record.events.lock().unwrap();
    let waits = events.iter().filter_map(|event| match event {
        CallEvent::Waiting { why: WaitReason::Failure(why), .. } => Some(*why),
        _ => None,
    });
    waits.collect()
}

#[tokio::test]
async fn passing_faults_are_waited_out() {
    use ServiceFailure as Kind;
    let raw = |text: &str| Act::Write(text.as_bytes().to_vec());
    let open = |events: &str| raw(&format!("{STREAM}{events}"));
    let half = delta(&json!({"content": "half"}), None);
    let cut = |tail: &[u8]| Act::Write([CHUNKED.as_bytes(), &chunk(half.as_bytes()), tail].concat());
    let numeric = json!({"message": "busy", "code": 503, "type": null, "param": 7});
    let not_billed = Settled::NotBilled;
    let unknown = Settled::Unknown;
    let table = [
        (
            "429",
            error(429, "retry-after-ms: 3\r\n", &json!({"message": "slow"})),
            Kind::RateLimited,
            not_billed,
        ),
        ("429 without a body", response(429, "retry-after: 0\r\n", ""), Kind::RateLimited, not_billed),
        ("500 in HTML", response(500, "", "<html><h1>Oops</h1></html>"), Kind::Server, not_billed),
        ("503 with a numeric code", error(503, "", &numeric), Kind::Server, not_billed),
        ("504", response(504, "", ""), Kind::Server, unknown),
        ("409", response(409, "", "{}"), Kind::Server, not_billed),
        ("cut before headers", raw(""), Kind::Network, unknown),
        ("cut inside headers", raw("HTTP/1.1 200 OK\r\ncontent-"), Kind::Network, unknown),
        ("cut between events", cut(b""), Kind::Network, unknown),
        ("cut inside an event", cut(&chunk(b"data: {\"choices\": [{")), Kind::Network, unknown),
        ("cut inside a character", cut(&chunk(b"data: {\"a\": \"\xE2\x82")), Kind::Network, unknown),
        ("ended without a finish reason", open(&half), Kind::Network, unknown),
        ("only the end mark", open("data: [DONE]\n\n"), Kind::BadAnswer, unknown),
        ("an empty body", response(200, "", ""), Kind::BadAnswer, unknown),
        ("empty choices", response(200, "", r#"{"choices": []}"#), Kind::BadAnswer, unknown),
        ("null choices", response(200, "", r#"{"choices": null}"#), Kind::BadAnswer, unknown),
        ("invalid JSON", response(200, "", r#"{"choices": [{"#), Kind::BadAnswer, unknown),
        ("invalid JSON in an event", open("data: {oops\n\n"), Kind::BadAnswer, unknown),
        ("an HTML page", response(200, "", "<html>Log in</html>"), Kind::BadAnswer, unknown),
        ("no object", response(200, "", "[1, 2]"), Kind::BadAnswer, unknown),
        (
            "an error in a 200",
            response(200, "", r#"{"error": {"message": "x", "code": 429}}"#),
            Kind::RateLimited,
            unknown,
        ),
        (
            "an error in a stream",
            open(&(half.clone() + &event(&json!({"error": "overloaded"})))),
            Kind::Server,
            unknown,
        ),
        ("a stall before headers", Act::Stall(Vec::new()), Kind::Stalled, unknown),
        (
            "a stall between tokens",
            Act::Stall(format!("{STREAM}{half}").into_bytes()),
            Kind::Stalled,
            unknown,
        ),
        ("a redirect", response(302, "location: http://127.0.0.1:1/\r\n", ""), Kind::BadAnswer, not_billed),
    ];
    for (name, fault, kind, settled) in table {
        let server = Server::start(vec![fault, says("fine")]).await;
        let record = Record::default();
        let client = client(settings(&server));
        let answer = chat(&client, &server, &record, "any", &request()).await;
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(answer.content, "fine", "{name}");
        assert_eq!(waited_for(&record), [kind], "{name}");
        assert_eq!(record.settled.lock().unwrap()[0].1, settled, "{name}");
        assert_eq!(record.settled.lock().unwrap()[1].1, Settled::Used(answer.usage), "{name}");
        let events = record.events.lock().unwrap();
        let of = |matches: fn(&CallEvent) -> bool| events.iter().filter(|event| matches(event)).count();
        assert_eq!(of(|event| matches!(event, CallEvent::TryStarted { .. })), 2, "{name}");
        assert_eq!(of(|event| matches!(event, CallEvent::TryFailed { .. })), 1, "{name}");
        assert_eq!(of(|event| matches!(event, CallEvent::WaitingOver)), 1, "{name}");
    }
}

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
async fn final_faults_end_the_chat_at_once() {
    use ServiceFailure as Kind;
    let quota = json!({"message": "You exceeded your current quota", "type": "insufficient_quota"});
    let table = [
        (error(429, "retry-after: 1\r\n", &quota), Kind::Quota),
        (error(401, "", &json!({"message": format!("Incorrect API key provided: {KEY}")})), Kind::Auth),
        (response(403, "", ""), Kind::Auth),
        (error(404, "", &json!({"message": "no such model"})), Kind::NotFound),
    ];
    for (fault, expected) in table {
        let server = Server::start(vec![fault]).await;
        let client = client(settings(&server));
        let failure = chat(&client, &server, &Record::default(), "any", &request()).await.unwrap_err();
        let Error::Service { kind, tries, .. } = &failure else { panic!("{failure}") };
        assert_eq!((*kind, *tries, failure.retryable()), (expected, 1, false));
        assert!(failure.hint().is_some());
    }
}

#[tokio::test]
async fn requests_that_cannot_succeed_go_to_the_strategy() {
    let long = json!({
        "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "code": "context_length_exceeded",
    });
    let too_long = ChatError::ContextTooLong { prompt_tokens: 9000, output_tokens: 4096, window: 8192 };
    let refused = ChatError::Refused { message: "temperature must be at most 2".into() };
    let table = [
        (error(400, "", &long), too_long),
        (error(400, "", &json!({"message": "temperature must be at most 2"})), refused),
    ];
    for (fault, expected) in table {
        let server = Server::start(vec![fault]).await;
        let client = client(settings(&server));
        let failure = chat(&client, &server, &Record::default(), "any", &request()).await.unwrap_err();
        assert_eq!(failure, Error::Request(expected));
        assert_eq!(server.bodies().len(), 1);
    }
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

#[tokio::test]
async fn odd_but_whole_answers_are_taken() {
    let body = json!({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5}});
    let pretty = serde_json::to_string_pretty(&body).unwrap();
    let fine = |finish: &str| delta(&json!({"content": "fine"}), None) + &delta(&json!({}), Some(finish));
    let raw = |text: String| Act::Write(format!("{STREAM}{text}").into_bytes());
    let table = [
        ("a plain JSON body", response(200, "content-type: application/json\r\n", &pretty)),
        (
            "a plain body under a wrong type",
            response(200, "content-type: text/html\r\n", &format!("\u{feff}{body}\n")),
        ),
        (
            "keep-alive comments",
            raw(format!(": hi\n\n{}: hi\n\n{}data: [DONE]\n\n", fine("stop"), usage(10, 5))),
        ),
        ("no end mark", raw(fine("stop") + &usage(10, 5))),
        ("no empty line at the end", raw((fine("stop") + &usage(10, 5)).trim_end().to_owned())),
        (
            "a cut after the finish reason",
            Act::Write([CHUNKED.as_bytes(), &chunk((fine("stop") + &usage(10, 5)).as_bytes())].concat()),
        ),
        (
            "an open connection after the answer",
            Act::Stall(format!("{STREAM}{}{}", fine("stop"), usage(10, 5)).into_bytes()),
        ),
        ("carriage returns", raw((fine("stop") + &usage(10, 5)).replace('\n', "\r\n"))),
        ("several data lines", raw(fine("stop").replace(",\"model\"", ",\ndata: \"model\"") + &usage(10, 5))),
    ];
    for (name, act) in table {
        let server = Server::start(vec![act]).await;
        let answer = chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await;
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((answer.content.as_str(), answer.usage.total_tokens()), ("fine", 15), "{name}");
        assert!(!answer.usage.estimated, "{name}");
    }
}

#[tokio::test]
async fn lone_surrogates_and_missing_usage_are_mended() {
    let surrogate = r#"data: {"choices":[{"delta":{"content":"a\ud83d!"},"finish_reason":"length"}]}"#;
    let server = Server::start(vec![stream(&[format!("{surrogate}\n\n")])]).await;
    let answer =
        chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await.unwrap();
    assert_eq!(answer.content, "a\u{fffd}!");
    assert_eq!(answer.finish, podium_types::chat::FinishReason::Length);
    assert!(answer.usage.estimated && answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0);
    assert_eq!(answer.usage.cost, None);
}
