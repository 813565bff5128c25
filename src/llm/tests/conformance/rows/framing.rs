//! The same answer in every form in which a server, a proxy or a network may deliver it.

use std::time::Duration;

use super::super::super::server::{Act, CHUNKED, chunk};
use super::super::row::{Billed, Expect, Row, answered, dripped, fine, good_events, open, response, text};
use super::super::speech::{Event, Protocol, Say, stream};
use crate::ServiceFailure as Kind;

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let mut rows = streams(protocol);
    rows.extend(bodies(protocol));
    rows.extend(pieces(protocol));
    rows
}

/// The good answer with each event written by `write`.
fn rewritten(protocol: &dyn Protocol, write: impl Fn(&Event) -> String) -> String {
    let events = protocol.events(&Say::fine()).unwrap_or_default();
    events.iter().map(write).collect::<String>() + protocol.end_mark()
}

fn streams(protocol: &dyn Protocol) -> Vec<Row> {
    let good = good_events(protocol);
    let data = |event: &Event| event.data.to_string();
    let unnamed = rewritten(protocol, |event| format!("data: {}\n\n", data(event)));
    let misnamed = rewritten(protocol, |event| format!("event: message\ndata: {}\n\n", data(event)));
    let tight = rewritten(protocol, |event| event.written().replace(": ", ":"));
    let fields =
        rewritten(protocol, |event| format!("id: 7\nretry: 10\nfoo: bar\nbare\n{}", event.written()));
    // Line ends between the members of the object stand for one each.
    let lines = rewritten(protocol, |event| {
        let pretty = serde_json::to_string_pretty(&event.data).unwrap_or_default();
        let name = event.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        let lines: Vec<String> = pretty.lines().map(|line| format!("data: {line}\n")).collect();
        format!("{name}{}\n", lines.concat())
    });
    let after_each = |what: &str| rewritten(protocol, |event| format!("{}{what}", event.written()));
    let blanks = " ".repeat(1_000_000);
    let table = [
        ("no end mark", good.replace("data: [DONE]\n\n", "")),
        (
            "an end mark of another protocol",
            format!("{}data: [DONE]\n\n", good.replace("data: [DONE]\n\n", "")),
        ),
        ("a tight end mark", good.replace("data: [DONE]", "data:[DONE]")),
        ("keep-alive comments", format!(": hi\n\n{}", after_each(": OPENROUTER PROCESSING\n\n"))),
        ("empty comments", after_each(":\n\n")),
        ("pings with a name and no data", after_each("event: ping\n\n")),
        ("pings with empty data", after_each("data:\n\n")),
        ("pings of blanks", after_each("data:   \n\n")),
        ("a comment inside an event", good.replace("data: ", ": hi\ndata: ")),
        ("event names missing", unnamed),
        ("other event names", misnamed),
        ("no space behind the colon", tight),
        ("other fields", fields),
        ("several data lines", lines),
        ("carriage returns", good.replace('\n', "\r\n")),
        ("carriage returns alone", good.replace('\n', "\r")),
        ("a byte order mark", format!("\u{feff}{good}")),
        ("leading line ends", format!("\r\n\n\n{good}")),
        ("extra line ends", good.replace("\n\n", "\n\n\n\n")),
        ("no empty line at the end", good.trim_end().to_owned()),
        ("a million blanks before", format!("{blanks}\n\n{good}")),
        ("a comment of a million blanks", format!(":{blanks}\n\n{good}")),
        ("a million empty lines", format!("{}{good}", "\n".repeat(1_000_000))),
    ];
    table.into_iter().map(|(name, events)| Row::new(name, open(&events), answered(fine()))).collect()
}

fn bodies(protocol: &dyn Protocol) -> Vec<Row> {
    let body = protocol.whole(&Say::fine()).unwrap_or_default();
    let pretty = serde_json::to_string_pretty(&body).unwrap_or_default();
    let compact = body.to_string();
    let good = good_events(protocol);
    let json = "content-type: application/json\r\n";
    let mut rows = Vec::new();
    let table = [
        ("a whole body", response(200, json, &compact)),
        ("a whole body on many lines", response(200, json, &pretty)),
        ("a whole body with carriage returns", response(200, json, pretty.replace('\n', "\r\n"))),
        (
            "a whole body under a stream's type",
            response(200, "content-type: text/event-stream\r\n", &compact),
        ),
        ("a whole body under a page's type", response(200, "content-type: text/html\r\n", &compact)),
        ("a whole body without a type", response(200, "", &compact)),
        ("a whole body behind a mark", response(200, json, format!("\u{feff}{compact}\n"))),
        (
            "a whole body among blanks",
            response(200, json, format!("{}{compact}\r\n \n", " \n".repeat(500_000))),
        ),
        ("a stream under JSON's type", response(200, json, &good)),
        ("a stream under a page's type", response(200, "content-type: text/html; charset=latin1\r\n", &good)),
        ("a stream without a type", response(200, "", &good)),
        ("a stream under nonsense", response(200, "content-type: \u{fc};;;=\r\n", &good)),
        ("a status 201", response(201, json, &compact)),
        ("a stream with status 206", response(206, "", &good)),
    ];
    for (name, act) in table {
        rows.push(Row::new(name, act, answered(fine())));
    }
    let unreadable = Expect::Retried(Kind::BadAnswer, Billed::Unknown);
    for (name, text) in [
        ("an empty body", ""),
        ("a body of blanks", "  \r\n \n"),
        ("a page of login", "<!DOCTYPE html><html><form action=\"/login\">Log in</form></html>"),
        ("a body of text", "upstream connect error or disconnect/reset before headers"),
        ("half a JSON text", "{\"id\": \"x\", \"choices\": [{"),
        ("a body of null", "null"),
        ("a body of true", "true"),
        ("a body of a number", "1e999"),
        ("a body of a list", "[1, 2]"),
        ("a body of an empty object", "{}"),
        ("deep nesting", &"[".repeat(200_000)),
        ("only an end mark", "data: [DONE]\n\n"),
        ("only comments", ": hi\n\n: hi\n\n"),
        ("an event that is no JSON", "data: {oops\n\n"),
        ("an event of text", "data: hello\n\n"),
    ] {
        rows.push(Row::new(name, response(200, "", text), unreadable.clone()));
    }
    let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    rows.push(Row::new("a body of bytes", response(200, "", bytes), unreadable));
    rows
}

/// Texts whose characters take one to four bytes each.
fn wide() -> Say {
    Say::text(&["né ", "\u{20ac}\u{1f600}", " \u{2028}\"\\\u{7}"])
}

fn pieces(protocol: &dyn Protocol) -> Vec<Row> {
    let events = stream(protocol, &wide()).unwrap_or_default();
    let given = answered(text(&wide().text.concat()));
    let one_by_one: Vec<u8> = events.as_bytes().chunks(1).flat_map(chunk).collect();
    let chunked = |body: &[u8]| Act::Write([CHUNKED.as_bytes(), body].concat());
    let whole = [&chunk(events.as_bytes()), &b"0\r\n\r\n"[..]].concat();
    let escaped: String =
        events.chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c) }).collect();
    let halves = [&events.as_bytes()[..events.len() / 2], &events.as_bytes()[events.len() / 2..]];
    let paused = |size| dripped(protocol, &wide(), size, Duration::from_millis(1));
    vec![
        Row::new("wide characters", open(&events), given.clone()),
        Row::new("characters as escapes", open(&escaped), given.clone()),
        Row::new("one chunk", chunked(&whole), given.clone()),
        Row::new("chunks of one byte", chunked(&[&one_by_one, &b"0\r\n\r\n"[..]].concat()), given.clone()),
        Row::new("chunks of one byte without the last", chunked(&one_by_one), given.clone()),
        Row::new("two chunks", chunked(&[&chunk(halves[0])[..], &chunk(halves[1])].concat()), given.clone()),
        Row::new("packets of seven bytes", paused(7), given.clone()),
        Row::new("packets of a hundred bytes", paused(100), given),
    ]
}

/// A character as JSON's escapes, a pair of them beyond the basic plane.
fn escape(c: char) -> String {
    let units = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>();
    units.concat()
}
