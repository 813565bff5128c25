//! Tool calls: arguments in pieces, calls that alternate, ids that are missing or the same.

use podium_types::chat::FinishReason;

use super::super::row::{Given, Row, answered, open, response, text};
use super::super::speech::{Call, Protocol, Say, stream};

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let call = |id: &'static str, name: &'static str, pieces: &[&'static str]| Call {
        id,
        name,
        pieces: pieces.to_vec(),
    };
    let ls = || call("call_a", "bash", &["{\"command\": \"ls\"}"]);
    let done = |id| call(id, "done", &["{\"answer\"", ": 42}"]);
    let interleaved = Say {
        interleaved: true,
        ..Say::calls(vec![call("call_a", "bash", &["{\"comm", "and\": ", "\"ls\"}"]), done("call_b")])
    };
    let told = Say { text: vec!["I look ", "first."], ..Say::calls(vec![ls()]) };
    let table = [
        ("a call", Say::calls(vec![ls()])),
        (
            "arguments in pieces",
            Say::calls(vec![call("call_a", "bash", &["", "{\"comm", "and\"", ": \"l", "s\"", "}", ""])]),
        ),
        (
            "arguments split inside an escape",
            Say::calls(vec![call(
                "call_a",
                "bash",
                &["{\"command\": \"a\\", "nb\\u00", "e9\\ud83d", "\\ude00 \\", "\\ \\", "\"\"}"],
            )]),
        ),
        (
            "arguments of wide characters",
            Say::calls(vec![call("call_a", "bash", &["{\"command\": \"n\u{e9}\u{20ac}", "\u{1f600}\"}"])]),
        ),
        ("two calls", Say::calls(vec![ls(), done("call_b")])),
        ("two calls interleaved", interleaved),
        (
            "two calls of one tool",
            Say::calls(vec![ls(), call("call_b", "bash", &["{\"command\": \"pwd\"}"])]),
        ),
        ("two calls with one id", Say::calls(vec![ls(), done("call_a")])),
        ("calls without ids", Say::calls(vec![call("", "bash", &["{\"command\": \"ls\"}"]), done("")])),
        (
            "an id like those that are made up",
            Say::calls(vec![call("call_1", "bash", &["{\"command\": \"ls\"}"]), done("")]),
        ),
        ("arguments that are no JSON", Say::calls(vec![call("call_a", "bash", &["not ", "json"])])),
        ("arguments that break off", Say::calls(vec![call("call_a", "bash", &["{\"command\": \"l"])])),
        ("arguments that are a list", Say::calls(vec![call("call_a", "bash", &["[1, 2]"])])),
        ("a tool that nobody offered", Say::calls(vec![call("call_a", "rm", &["{\"a\": 1}"])])),
        ("text before a call", told),
        ("many calls", Say::calls((0..64).map(|_| done("")).collect())),
    ];
    let mut rows = Vec::new();
    for (name, say) in table {
        let given = answered(given(&say));
        if let Some(events) = stream(protocol, &say) {
            rows.push(Row::new(name, open(&events), given.clone()));
            rows.push(Row::new(format!("{name}, unfinished end"), open(events.trim_end()), given.clone()));
        }
        if let Some(body) = protocol.whole(&say) {
            rows.push(Row::new(
                format!("{name}, in a whole body"),
                response(200, "", body.to_string()),
                given,
            ));
        }
    }
    rows
}

fn given(say: &Say) -> Given {
    let calls = say.calls.iter().map(|call| (call.name.to_owned(), call.pieces.concat()));
    Given { calls: calls.collect(), finish: FinishReason::ToolCalls, ..text(&say.text.concat()) }
}
