//! Connections that break off or fall silent, at every stage of an answer.

use std::time::Duration;

use super::super::super::server::{Act, CHUNKED, STREAM, Step, chunk};
use super::super::row::{Billed, Expect, Given, Row, answered, dripped, fine, good_events, open};
use super::super::speech::{Place, Protocol, Say, before, stream, through};
use crate::{ServiceFailure as Kind, Settings};

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let mut rows = breaks(protocol);
    rows.extend(after_the_end(protocol));
    rows.extend(silences(protocol));
    rows.extend(heartbeats(protocol));
    rows
}

/// The answer is there and paid for: what a server adds behind its end must not have it time out.
fn heartbeats(protocol: &dyn Protocol) -> Vec<Row> {
    let act = |answer: String| {
        let beats = "data: {}\n\n".repeat(10_000).into_bytes();
        let beats = Step::Drip(beats, 10, Duration::from_millis(500));
        Act::Steps(vec![Step::Write(format!("{STREAM}{answer}").into_bytes()), beats, Step::Drain])
    };
    let row = |name, say: &Say, given| {
        let events = stream(protocol, say)?.replace("data: [DONE]\n\n", "");
        let call_timeout = |settings: &mut Settings| settings.call_timeout = Duration::from_mins(1);
        Some(Row::new(name, act(events), answered(given)).with(call_timeout))
    };
    let untold = Say { usage: None, ..Say::fine() };
    [
        row("heartbeats behind the end for ever", &Say::fine(), fine()),
        row("heartbeats in place of a usage for ever", &untold, Given { usage: None, ..fine() }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn raw(text: impl AsRef<[u8]>) -> Act {
    Act::Write(text.as_ref().to_vec())
}

fn breaks(protocol: &dyn Protocol) -> Vec<Row> {
    let cut = Expect::Retried(Kind::Network, Billed::Unknown);
    let half = through(protocol, &Say::fine(), Place::Text);
    let chunked = |tail: &[u8]| Act::Write([CHUNKED.as_bytes(), &chunk(half.as_bytes()), tail].concat());
    let in_character = "data: {\"a\": \"\u{20ac}".as_bytes();
    let in_character = &in_character[..in_character.len() - 1];
    let start = before(protocol, &Say::fine(), Place::Text);
    let body = protocol.whole(&Say::fine()).unwrap_or_default().to_string();
    let known = |promised: usize, body: &str| {
        raw(format!("HTTP/1.1 200 OK\r\ncontent-length: {promised}\r\n\r\n{body}"))
    };
    let reset = |bytes: String| Act::Steps(vec![Step::Write(bytes.into_bytes()), Step::Reset]);
    let table = [
        ("cut before headers", raw("")),
        ("reset before headers", Act::Steps(vec![Step::Reset])),
        ("cut inside the status line", raw("HTTP/1.1 2")),
        ("cut inside headers", raw("HTTP/1.1 200 OK\r\ncontent-")),
        ("cut between headers and body", raw(CHUNKED)),
        ("cut inside the size of a chunk", raw(format!("{CHUNKED}3"))),
        ("cut inside a chunk", raw(format!("{CHUNKED}ffff\r\n{start}"))),
        ("cut between events", chunked(b"")),
        ("reset between events", reset(format!("{STREAM}{half}"))),
        ("cut inside an event", chunked(&chunk(b"data: {\"choices\": [{"))),
        ("cut inside the name of a field", chunked(&chunk(b"da"))),
        ("cut inside a character", chunked(&chunk(in_character))),
        ("ended without a finish reason", open(&half)),
        ("ended inside an event", open(&format!("{half}data: {{\"a\": "))),
        ("ended before the first text", open(&start)),
        ("a whole body shorter than promised", known(body.len() + 10, &body)),
        ("half a body", known(body.len(), &body[..body.len() / 2])),
    ];
    let mut rows: Vec<Row> = table.into_iter().map(|(name, act)| Row::new(name, act, cut.clone())).collect();
    for row in &mut rows {
        // What a stream says before its end may be unreadable and cut at once; either is waited out.
        let bad = match row.name.as_str() {
            "ended inside an event" => true,
            "ended before the first text" => start.is_empty(),
            _ => false,
        };
        if bad {
            row.expect = Expect::Retried(Kind::BadAnswer, Billed::Unknown);
        }
    }
    rows
}

/// Once the reason of the end has come, nothing that follows can spoil the answer.
fn after_the_end(protocol: &dyn Protocol) -> Vec<Row> {
    let told = through(protocol, &Say::fine(), Place::Finish);
    let untold = protocol.usage_comes_last();
    let mut given = fine();
    if untold {
        given.usage = None;
    }
    let chunked = |tail: &[u8]| Act::Write([CHUNKED.as_bytes(), &chunk(told.as_bytes()), tail].concat());
    vec![
        Row::new("cut after the finish reason", chunked(b""), answered(given.clone())),
        Row::new("ended after the finish reason", open(&told), answered(given.clone())),
        Row::new(
            "junk after the finish reason",
            open(&format!("{told}data: {{oops\n\n")),
            answered(given.clone()),
        ),
        Row::new(
            "a cut event after the finish reason",
            chunked(&chunk(b"data: {\"a")),
            answered(given.clone()),
        ),
        Row::new(
            "silence after the finish reason",
            Act::Stall(format!("{STREAM}{told}").into_bytes()),
            answered(given),
        ),
    ]
}

fn short_stall(settings: &mut Settings) {
    settings.stall_timeout = Duration::from_secs(8);
}

fn silences(protocol: &dyn Protocol) -> Vec<Row> {
    let half = through(protocol, &Say::fine(), Place::Text);
    let whole = good_events(protocol);
    let stalled = Expect::Retried(Kind::Stalled, Billed::Unknown);
    let head = format!("{STREAM}{half}");
    let table = [
        ("silence before headers", String::new()),
        ("silence inside headers", "HTTP/1.1 200 OK\r\ncontent-".to_owned()),
        ("silence after headers", STREAM.to_owned()),
        ("silence between tokens", head.clone()),
        ("silence inside an event", format!("{head}data: {{")),
    ];
    let stall = |(name, text): (&str, String)| {
        Row::new(name, Act::Stall(text.into_bytes()), stalled.clone()).with(short_stall)
    };
    let mut rows: Vec<Row> = table.into_iter().map(stall).collect();
    let drip = |text: String, size, pause| {
        Act::Steps(vec![Step::Drip(text.into_bytes(), size, Duration::from_millis(pause)), Step::Drain])
    };
    // Longer than the limit as a whole, though never between two pieces.
    let told = through(protocol, &Say::fine(), Place::Finish).len();
    let text = told - before(protocol, &Say::fine(), Place::Text).len();
    let slow = dripped(protocol, &Say::fine(), text / 40, Duration::from_millis(250));
    rows.push(Row::new("a slow drip within the stall limit", slow, answered(fine())).with(short_stall));
    let late = drip(format!("{STREAM}{half}{whole}"), half.len() + STREAM.len(), 25_000);
    rows.push(Row::new("a pause beyond the stall limit", late, stalled.clone()).with(short_stall));
    // Keep-alives hold off the stall limit; the limit of the whole call ends them.
    let alive = drip(format!("{STREAM}{}", ": alive\n\n".repeat(100_000)), 9, 50);
    rows.push(Row::new("keep-alives for ever", alive, stalled).with(|settings| {
        settings.stall_timeout = Duration::from_secs(30);
        settings.call_timeout = Duration::from_secs(6);
    }));
    rows
}
