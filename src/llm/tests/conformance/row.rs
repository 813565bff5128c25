//! One row of the table: what the server does, and what must come of it.

use std::time::Duration;

use podium_types::chat::{ChatRequest, FinishReason, Message, Speaker, Tool};
use serde_json::json;

use super::super::server::{Act, STREAM, Step};
use super::speech::{Place, Protocol, Say, before, stream, through};
use crate::{ServiceFailure, Settings};

pub(super) struct Row {
    pub(super) name: String,
    /// Served in order, one request each; the good answer follows them.
    pub(super) acts: Vec<Act>,
    pub(super) expect: Expect,
    pub(super) request: ChatRequest,
    pub(super) settings: fn(&mut Settings),
    /// Goes here instead of to the server, whose tries are then not counted.
    pub(super) url: Option<String>,
}

impl Row {
    pub(super) fn new(name: impl Into<String>, act: Act, expect: Expect) -> Self {
        let request = ChatRequest {
            messages: vec![Message::text(Speaker::User, "hello")],
            tools: ["bash", "done"].map(tool).to_vec(),
            ..ChatRequest::default()
        };
        Self { name: name.into(), acts: vec![act], expect, request, settings: |_| (), url: None }
    }

    pub(super) fn with(mut self, settings: fn(&mut Settings)) -> Self {
        self.settings = settings;
        self
    }
}

fn tool(name: &str) -> Tool {
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    Tool { name: name.to_owned(), description: "a tool".to_owned(), parameters }
}

/// What comes of the first try, as the caller, the ledger and the observer see it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expect {
    /// It is answered.
    Answer(Given),
    /// It fails so, is waited out, and the next one is answered with the good answer.
    Retried(ServiceFailure, Billed),
    /// As above, after a wait of at least this long.
    Waited(ServiceFailure, Duration),
    /// It ends the chat as a failure of the service.
    Ends(ServiceFailure, Billed),
    /// The request is refused for good.
    Refused,
    /// The prompt is too long, with these counts of prompt and window.
    TooLong(u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Billed {
    No,
    Unknown,
    Used,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    pub(super) content: String,
    /// Name and arguments of each call.
    pub(super) calls: Vec<(String, String)>,
    pub(super) finish: FinishReason,
    /// Tokens of prompt and answer; `None` where they must be estimated.
    pub(super) usage: Option<(u64, u64)>,
    pub(super) model: String,
}

/// The good answer.
pub(super) fn fine() -> Given {
    text("fine")
}

pub(super) fn text(content: &str) -> Given {
    Given {
        content: content.to_owned(),
        calls: Vec::new(),
        finish: FinishReason::Stop,
        usage: Some((10, 5)),
        model: "served-model".to_owned(),
    }
}

pub(super) fn answered(given: Given) -> Expect {
    Expect::Answer(given)
}

/// A stream whose end is the end of the connection.
pub(super) fn open(events: &str) -> Act {
    Act::Write(format!("{STREAM}{events}").into_bytes())
}

/// The good answer as a stream.
pub(super) fn good(protocol: &dyn Protocol) -> Act {
    open(&good_events(protocol))
}

pub(super) fn good_events(protocol: &dyn Protocol) -> String {
    stream(protocol, &Say::fine()).unwrap_or_default()
}

/// An answer whose text comes in pieces of so many bytes with a pause after each. What stands before the text and behind the
/// reason of the end comes at once: a pause is as long as a busy machine makes it, so that there must not be many, and a
/// finished answer waits for its usage for a time only.
pub(super) fn dripped(protocol: &dyn Protocol, say: &Say, size: usize, pause: Duration) -> Act {
    const PIECES: usize = 60;
    let whole = stream(protocol, say).unwrap_or_default().into_bytes();
    let text = before(protocol, say, Place::Text).len();
    let told = through(protocol, say, Place::Finish).len();
    let (slow, rest) = whole.split_at(told.min(text + PIECES * size));
    Act::Steps(vec![
        Step::Write([STREAM.as_bytes(), &slow[..text]].concat()),
        Step::Drip(slow[text..].to_vec(), size, pause),
        Step::Write(rest.to_vec()),
    ])
}

/// A response with a body of known length, and its end told: a try goes out at once, and must not meet a connection
/// that the client may still take for open.
pub(super) fn response(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Act {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
        body.len()
    );
    Act::Write([head.as_bytes(), body].concat())
}
