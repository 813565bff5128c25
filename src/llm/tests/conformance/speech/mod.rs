//! What a model says, and how each protocol writes it. Written from the providers' documentation and not from the
//! client's code, so that two readings meet: a renderer that shares a mistake with the client would hide it.

mod anthropic;
mod gemini;
mod openai_chat;
mod responses;

use serde_json::Value;

/// The protocols, under the name of a model that is reached by each.
pub(super) const PROTOCOLS: [&dyn Protocol; 6] = [
    &openai_chat::OpenAiChat { model: "openai/any" },
    &openai_chat::OpenAiChat { model: "router/any" },
    &openai_chat::OpenAiChat { model: "azure/any" },
    &responses::Responses { model: "openai/responding" },
    &anthropic::Anthropic { model: "anthropic/any" },
    &gemini::Gemini { model: "google/any" },
];

/// An answer of a model.
#[derive(Clone)]
pub(super) struct Say {
    pub(super) text: Vec<&'static str>,
    pub(super) calls: Vec<Call>,
    /// Pieces of the calls' arguments alternate.
    pub(super) interleaved: bool,
    pub(super) end: End,
    /// Tokens of the prompt and of the answer, as the server writes them; `None` leaves them out.
    pub(super) usage: Option<(Value, Value)>,
    pub(super) model: &'static str,
}

/// A call of a tool; its arguments in the pieces in which a server sends them.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) pieces: Vec<&'static str>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    Stop,
    Length,
    Refusal,
    /// A reason that no documentation names.
    Unknown,
}

impl Say {
    /// This text for 10 + 5 tokens.
    pub(super) fn text(text: &[&'static str]) -> Self {
        Self {
            text: text.to_vec(),
            calls: Vec::new(),
            interleaved: false,
            end: End::Stop,
            usage: Some((10.into(), 5.into())),
            model: "served-model",
        }
    }

    /// The good answer.
    pub(super) fn fine() -> Self {
        Self::text(&["fi", "ne"])
    }

    pub(super) fn calls(calls: Vec<Call>) -> Self {
        Self { calls, ..Self::text(&[]) }
    }

    /// Which call each piece of arguments belongs to, in the order of sending.
    fn pieces(&self) -> Vec<(usize, &'static str)> {
        let longest = self.calls.iter().map(|call| call.pieces.len()).max().unwrap_or_default();
        let mut pieces: Vec<(usize, usize, &'static str)> = Vec::new();
        for (number, call) in self.calls.iter().enumerate() {
            for (order, piece) in call.pieces.iter().enumerate() {
                let rank = if self.interleaved { order } else { number * longest + order };
                pieces.push((rank, number, piece));
            }
        }
        pieces.sort_by_key(|(rank, number, _)| (*rank, *number));
        pieces.into_iter().map(|(_, number, piece)| (number, piece)).collect()
    }
}

/// Where in an answer an event stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Before,
    Text,
    Call,
    /// The reason of the end; what was told before is whole with it.
    Finish,
    After,
}

#[derive(Clone)]
pub(super) struct Event {
    /// Its `event:` line, in protocols that have one.
    pub(super) name: Option<&'static str>,
    pub(super) data: Value,
    pub(super) place: Place,
}

impl Event {
    pub(super) fn written(&self) -> String {
        let name = self.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data)
    }
}

pub(super) trait Protocol: Sync {
    /// The model, as the client names it.
    fn model(&self) -> &'static str;

    /// The name in the table.
    fn name(&self) -> &'static str {
        self.model()
    }

    /// How the address of a request ends.
    fn path(&self) -> &'static str;

    /// The line that carries the key, in lower case, up to the key.
    fn key_header(&self) -> &'static str;

    /// The answer as a stream; `None` where the protocol cannot say it.
    fn events(&self, say: &Say) -> Option<Vec<Event>>;

    /// What follows the last event.
    fn end_mark(&self) -> &'static str {
        ""
    }

    /// The answer as one body.
    fn whole(&self, say: &Say) -> Option<Value>;

    /// An error's body.
    fn error(&self, status: u16, message: &str) -> Value;

    /// An error in the midst of a stream: the server is overloaded.
    fn overloaded(&self) -> Event;

    /// An event of a kind that does not exist.
    fn unknown_event(&self) -> Event;

    /// Events that say nothing: null in every place where a piece of an answer may stand.
    fn nothing(&self) -> Vec<Value>;

    /// Whether the usage follows the reason of the end in an event of its own.
    fn usage_comes_last(&self) -> bool {
        false
    }
}

/// The events of `say`, with the mark of the end.
pub(super) fn stream(protocol: &dyn Protocol, say: &Say) -> Option<String> {
    Some(written(&protocol.events(say)?) + protocol.end_mark())
}

pub(super) fn written(events: &[Event]) -> String {
    events.iter().map(Event::written).collect()
}

/// The events of `say` before the first in `place`.
pub(super) fn before(protocol: &dyn Protocol, say: &Say, place: Place) -> String {
    let events = protocol.events(say).unwrap_or_default();
    let count = events.iter().position(|event| event.place == place).unwrap_or(events.len());
    written(&events[..count])
}

/// The events of `say` through the last in `place`.
pub(super) fn through(protocol: &dyn Protocol, say: &Say, place: Place) -> String {
    let events = protocol.events(say).unwrap_or_default();
    let count = events.iter().rposition(|event| event.place == place).map_or(0, |at| at + 1);
    written(&events[..count])
}
