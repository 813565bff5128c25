//! What HTTP allows around an answer: versions, interim responses, trailers, compression.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::super::server::{Act, CHUNKED, STREAM, Step, chunk};
use super::super::row::{Billed, Expect, Row, answered, fine, good_events, response};
use super::super::speech::{Place, Protocol, Say, through};
use crate::ServiceFailure as Kind;

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let good = good_events(protocol);
    let raw = |text: String| Act::Write(text.into_bytes());
    let body = |head: &str| raw(format!("{head}content-type: text/event-stream\r\n\r\n{good}"));
    let whole = String::from_utf8_lossy(&chunk(good.as_bytes())).into_owned();
    let many = (0..90).map(|number| format!("x-header-{number}: {number}\r\n")).collect::<Vec<_>>().concat();
    let table = [
        ("HTTP/1.0", body("HTTP/1.0 200 OK\r\n")),
        ("no reason phrase", body("HTTP/1.1 200\r\n")),
        (
            "bare line ends in the head",
            raw(format!("HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n{good}")),
        ),
        ("100 Continue", body("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")),
        (
            "103 Early Hints",
            body("HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\n"),
        ),
        ("trailers", raw(format!("{CHUNKED}{whole}0\r\nx-checksum: 1\r\nx-more: 2\r\n\r\n"))),
        (
            "extensions of chunks",
            raw(format!("{CHUNKED}{};a=b\r\n{good}\r\n0;c\r\n\r\n", format_args!("{:X}", good.len()))),
        ),
        ("many headers", body(&format!("HTTP/1.1 200 OK\r\n{many}"))),
        ("a long header", body(&format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n", "a".repeat(30_000)))),
        ("the name of no encoding", body("HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\n")),
        (
            "a charset that lies",
            raw(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-16\r\n\r\n{good}")),
        ),
    ];
    let mut rows: Vec<Row> =
        table.into_iter().map(|(name, act)| Row::new(name, act, answered(fine()))).collect();
    let cut = Expect::Retried(Kind::Network, Billed::Unknown);
    for (name, text) in [
        ("no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"),
        ("HTTP/9", "HTTP/9.9 200 OK\r\n\r\n"),
        ("a head of text", "hello\r\n\r\n"),
        ("two lengths that differ", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"),
        ("a length in words", "HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n{}"),
        ("a chunk's size in words", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
    ] {
        rows.push(Row::new(name, raw(text.to_owned()), cut.clone()));
    }
    let endless = |head: &str, piece: &str| Act::Endless(head.as_bytes().to_vec(), piece.as_bytes().to_vec());
    rows.push(Row::new("endless headers", endless("HTTP/1.1 200 OK\r\n", &"x-a: b\r\n".repeat(500)), cut));
    let upgrade = response(101, "connection: upgrade\r\nupgrade: h2c\r\n", "");
    rows.push(Row::new("101 Switching Protocols", upgrade, Expect::Retried(Kind::BadAnswer, Billed::No)));
    rows.extend(compressed(protocol));
    rows.extend(early(protocol));
    rows
}

fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const GZIP: &str = "content-encoding: gzip\r\n";

fn compressed(protocol: &dyn Protocol) -> Vec<Row> {
    let good = good_events(protocol);
    let body = protocol.whole(&Say::fine()).unwrap_or_default().to_string();
    let packed = gzip(good.as_bytes(), Compression::default());
    let stored = gzip(good.as_bytes(), Compression::none());
    let half = gzip(through(protocol, &Say::fine(), Place::Text).as_bytes(), Compression::default());
    let cut = Expect::Retried(Kind::Network, Billed::Unknown);
    let one_by_one: Vec<u8> = packed.chunks(1).flat_map(chunk).collect();
    let head = CHUNKED.replace("\r\n\r\n", "\r\ncontent-encoding: gzip\r\n\r\n");
    vec![
        Row::new("gzip", response(200, GZIP, &packed), answered(fine())),
        Row::new("gzip without compression", response(200, GZIP, stored), answered(fine())),
        Row::new(
            "gzip of a whole body",
            response(200, GZIP, gzip(body.as_bytes(), Compression::best())),
            answered(fine()),
        ),
        Row::new(
            "gzip in chunks of one byte",
            Act::Write([head.as_bytes(), &one_by_one, b"0\r\n\r\n"].concat()),
            answered(fine()),
        ),
        Row::new("gzip that is cut", response(200, GZIP, &packed[..packed.len() / 2]), cut.clone()),
        Row::new("gzip whose head is cut", response(200, GZIP, &packed[..5]), cut.clone()),
        Row::new("gzip of half a stream", response(200, GZIP, half), cut.clone()),
        Row::new("gzip that is none", response(200, GZIP, &good), cut),
        Row::new(
            "an error in gzip",
            response(
                503,
                GZIP,
                gzip(protocol.error(503, "busy").to_string().as_bytes(), Compression::best()),
            ),
            Expect::Retried(Kind::Server, Billed::No),
        ),
    ]
}

/// Answers that come while the request is still on its way.
fn early(protocol: &dyn Protocol) -> Vec<Row> {
    let early = |act: Act| match act {
        Act::Write(bytes) => Act::Early(vec![Step::Write(bytes), Step::Drain]),
        other => other,
    };
    let large = |mut row: Row| {
        row.request.messages[0].content = "a forest of words ".repeat(200_000);
        row
    };
    let refused = early(response(413, "", protocol.error(413, "too large").to_string()));
    let busy = early(response(503, "", protocol.error(503, "busy").to_string()));
    let good = good_events(protocol);
    let fast = early(Act::Write(format!("{STREAM}{good}").into_bytes()));
    vec![
        large(Row::new("413 while the request is being sent", refused, Expect::Refused)),
        large(Row::new(
            "503 while the request is being sent",
            busy,
            Expect::Retried(Kind::Server, Billed::No),
        )),
        large(Row::new("an answer while the request is being sent", fast, answered(fine()))),
    ]
}
