//! Answers that are whole, though odd: empty, refused, cut by the limit, with fields and events that nobody knows.

use podium_types::chat::FinishReason;
use serde_json::{Value, json};

use super::super::row::{Billed, Expect, Given, Row, answered, fine, good_events, open, response, text};
use super::super::speech::{End, Event, Place, Protocol, Say, stream, through, written};
use crate::ServiceFailure as Kind;

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let mut rows = said(protocol);
    rows.extend(surrounded(protocol));
    rows.extend(after_the_end(protocol));
    rows
}

/// A row for the stream and one for the whole body.
fn both(protocol: &dyn Protocol, name: &str, say: &Say, expect: &Expect) -> Vec<Row> {
    let body = protocol.whole(say).map(|body| response(200, "", body.to_string()));
    let rows = [
        stream(protocol, say).map(|events| Row::new(name, open(&events), expect.clone())),
        body.map(|act| Row::new(format!("{name}, in a whole body"), act, expect.clone())),
    ];
    rows.into_iter().flatten().collect()
}

fn said(protocol: &dyn Protocol) -> Vec<Row> {
    let ended = |end, finish| (Say { end, ..Say::fine() }, answered(Given { finish, ..fine() }));
    let unknown = if protocol.name() == "gemini" { "BANANA" } else { "banana" };
    let (length, cut) = ended(End::Length, FinishReason::Length);
    let (refusal, refused) = ended(End::Refusal, FinishReason::Refusal);
    let (odd, other) = ended(End::Unknown, FinishReason::Other(unknown.to_owned()));
    let empty = Expect::Retried(Kind::BadAnswer, Billed::Used);
    let nothing = Say { end: End::Length, ..Say::text(&[]) };
    let only_limit = answered(Given { finish: FinishReason::Length, ..text("") });
    let renamed = Say { model: "another-model", ..Say::fine() };
    let another = answered(Given { model: "another-model".to_owned(), ..fine() });
    let table = [
        ("the good answer", Say::fine(), answered(fine())),
        ("finish reason of the length", length, cut),
        ("a refusal", refusal, refused),
        ("an unknown finish reason", odd, other),
        ("an empty answer", Say::text(&[]), empty.clone()),
        ("an answer of empty pieces", Say::text(&["", ""]), empty.clone()),
        ("an answer of blanks", Say::text(&[" \n", "\t"]), empty),
        ("nothing within the limit", nothing, only_limit),
        ("another model's name", renamed, another),
        (
            "text like an event",
            Say::text(&["data: {\"a\": 1}\n\n", "event: x\n\ndata: [DONE]\n\n"]),
            answered(text("data: {\"a\": 1}\n\nevent: x\n\ndata: [DONE]\n\n")),
        ),
        (
            "text of line ends",
            Say::text(&["a\r\n", "\r", "\n\n", "b\0c\u{85}\u{2029}"]),
            answered(text("a\r\n\r\n\nb\0c\u{85}\u{2029}")),
        ),
        ("text like a surrogate", Say::text(&["\\ud83d", " \\\\u"]), answered(text("\\ud83d \\\\u"))),
    ];
    table.iter().flat_map(|(name, say, expect)| both(protocol, name, say, expect)).collect()
}

fn events(protocol: &dyn Protocol) -> Vec<Event> {
    protocol.events(&Say::fine()).unwrap_or_default()
}

/// Adds a field that nobody knows to every object.
fn grown(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: serde_json::Map<String, Value> =
                fields.iter().map(|(key, value)| (key.clone(), grown(value))).collect();
            fields.insert("x_unknown".to_owned(), json!({"ripe": [true, null, {"text": 7}]}));
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(grown).collect(),
        other => other.clone(),
    }
}

fn surrounded(protocol: &dyn Protocol) -> Vec<Row> {
    let end = protocol.end_mark();
    let events = events(protocol);
    let with = |event: &Event, data: Value| Event { data, ..event.clone() };
    let more: Vec<Event> = events.iter().map(|event| with(event, grown(&event.data))).collect();
    let among: Vec<Event> = events
        .iter()
        .flat_map(|event| [protocol.unknown_event(), event.clone(), protocol.unknown_event()])
        .collect();
    let nulls =
        |event: &Event| protocol.nothing().into_iter().map(|data| with(event, data)).collect::<Vec<_>>();
    let nameless = |event: &Event| Event { name: None, ..event.clone() };
    let mut rows = vec![
        Row::new("unknown fields everywhere", open(&(written(&more) + end)), answered(fine())),
        Row::new("unknown events", open(&(written(&among) + end)), answered(fine())),
    ];
    for (number, data) in protocol.nothing().into_iter().enumerate() {
        let odd = nameless(&with(&events[0], data));
        let name = format!("null, of kind {number}, before the answer");
        rows.push(Row::new(name, open(&(written(&[odd]) + &good_events(protocol))), answered(fine())));
    }
    let before_end = events.iter().position(|event| event.place == Place::Finish).unwrap_or_default();
    let mut mixed: Vec<Event> = events[..before_end].to_vec();
    mixed.extend(nulls(&events[0]).iter().map(nameless));
    mixed.extend_from_slice(&events[before_end..]);
    rows.push(Row::new("nulls before the end", open(&(written(&mixed) + end)), answered(fine())));
    if let Some(body) = protocol.whole(&Say::fine()) {
        let act = response(200, "", grown(&body).to_string());
        rows.push(Row::new("unknown fields everywhere, in a whole body", act, answered(fine())));
    }
    rows.extend(surrogates(protocol));
    rows
}

/// Models write half a pair, and servers pass it on as an escape that strict parsers refuse.
fn surrogates(protocol: &dyn Protocol) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, escape, mended) in [
        ("a lone high surrogate", "\\ud83d", "\u{fffd}"),
        ("a lone low surrogate", "\\uDE00", "\u{fffd}"),
        ("a pair in the wrong order", "\\ude00\\ud83d", "\u{fffd}\u{fffd}"),
        ("a high surrogate before an escape", "\\ud83d\\n", "\u{fffd}\n"),
        ("a whole pair", "\\ud83d\\ude00", "\u{1f600}"),
    ] {
        let given = answered(text(&format!("a{mended}b")));
        let put = |text: String| text.replace("aMARKb", &format!("a{escape}b"));
        let say = Say::text(&["aMARKb"]);
        if let Some(events) = stream(protocol, &say) {
            rows.push(Row::new(name, open(&put(events)), given.clone()));
        }
        if let Some(body) = protocol.whole(&say) {
            rows.push(Row::new(
                format!("{name}, in a whole body"),
                response(200, "", put(body.to_string())),
                given,
            ));
        }
    }
    rows
}

/// What comes after the reason of the end neither spoils the answer nor doubles it.
fn after_the_end(protocol: &dyn Protocol) -> Vec<Row> {
    let told = through(protocol, &Say::fine(), Place::Finish);
    let events = events(protocol);
    let of = |place: Place| events.iter().filter(|event| event.place == place).cloned().collect::<Vec<_>>();
    let (finish, after) = (written(&of(Place::Finish)), written(&of(Place::After)) + protocol.end_mark());
    let error = protocol.overloaded().written();
    let rest = Expect::Answer(fine());
    let mut rows = vec![
        Row::new("the finish reason twice", open(&format!("{told}{finish}{after}")), rest.clone()),
        Row::new("the answer's end twice", open(&format!("{told}{after}{finish}{after}")), rest.clone()),
        Row::new("an error after the finish reason", open(&format!("{told}{error}{after}")), rest.clone()),
        Row::new("an error after the end", open(&format!("{told}{after}{error}")), rest.clone()),
    ];
    // Gemini marks no end, and may send parts behind the reason of the end.
    if !after.is_empty() {
        let twice = open(&format!("{told}{after}{}", good_events(protocol)));
        rows.push(Row::new("the whole answer twice", twice, rest));
    }
    rows
}
