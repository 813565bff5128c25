//! How an agent's calls are written and read back: as native calls, as functions in text, or between tags. Which, is
//! said by what the request offers.

use podium_types::chat::{ChatRequest, Message, Speaker};
use serde_json::{Map, Value};

use super::{Made, Reply};

/// A way to call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    Native,
    Functions,
    Tags,
}

/// A call and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Exchange {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) result: String,
}

impl Exchange {
    /// The command of a shell.
    pub(super) fn command(&self) -> Option<&str> {
        self.arguments.get("command").and_then(Value::as_str).filter(|_| self.name == "execute_bash")
    }
}

/// Tags, and the tools and parameters that they stand for.
const TAGS: [(&str, &str, &str, &str); 2] = [
    ("<execute_bash>", "</execute_bash>", "execute_bash", "command"),
    ("<finish>", "</finish>", "finish", "message"),
];

impl Speech {
    /// What the request asks for; `None`: it is none of an agent that has a shell.
    pub(super) fn of(request: &ChatRequest) -> Option<Self> {
        if request.tools.iter().any(|tool| tool.name == "execute_bash") {
            return Some(Self::Native);
        }
        let rules = request.messages.first().filter(|message| message.role == Speaker::System)?;
        let says = |text: &str| rules.content.contains(text);
        match () {
            () if says("<function=NAME>") && says("execute_bash") => Some(Self::Functions),
            () if says("<execute_bash>") => Some(Self::Tags),
            () => None,
        }
    }

    /// An answer.
    pub(super) fn write(self, said: &str, calls: &[Made]) -> Reply {
        if self == Self::Native {
            let call =
                |call: &Made| (call.name.to_owned(), Value::Object(call.arguments.clone()).to_string());
            return Reply::Calls(said.to_owned(), calls.iter().map(call).collect());
        }
        let Some(call) = calls.first() else { return Reply::Text(said.to_owned()) };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut written = if said.is_empty() { String::new() } else { format!("{said}\n\n") };
        if self == Self::Tags {
            if let Some((open, close, _, parameter)) = TAGS.iter().find(|(_, _, name, _)| *name == call.name)
            {
                let value = call.arguments.get(*parameter).map(text).unwrap_or_default();
                written.extend([open, "\n", &value, "\n", close]);
            }
            return Reply::Text(written);
        }
        written.extend(["<function=", call.name, ">\n"]);
        for (name, value) in &call.arguments {
            let value = text(value);
            let feed = if value.contains('\n') { "\n" } else { "" };
            written.extend(["<parameter=", name, ">", feed, &value, feed, "</parameter>\n"]);
        }
        written.push_str("</function>");
        Reply::Text(written)
    }
}

/// The calls of a conversation, in order.
pub(super) fn exchanges(request: &ChatRequest, speech: Speech) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    // Calls of the answer that is being read which have no result yet.
    let mut open = 0;
    for message in request.messages.iter().skip(2) {
        match message.role {
            Speaker::Assistant => {
                let calls = calls(message, speech);
                open = calls.len();
                found.extend(calls);
            }
            Speaker::Tool | Speaker::User if open > 0 => {
                let place = found.len().saturating_sub(open);
                if let Some(exchange) = found.get_mut(place) {
                    exchange.result.clone_from(&message.content);
                }
                open -= 1;
            }
            _ => {}
        }
    }
    found
}

fn calls(message: &Message, speech: Speech) -> Vec<Exchange> {
    let call = |name: &str, arguments| Exchange { name: name.to_owned(), arguments, result: String::new() };
    let text = message.content.as_str();
    match speech {
        Speech::Native => {
            let calls = message.tool_calls.iter();
            calls
                .map(|made| call(&made.name, serde_json::from_str(&made.arguments).unwrap_or_default()))
                .collect()
        }
        Speech::Tags => {
            let read = TAGS.iter().find_map(|(open, close, name, parameter)| {
                let (_, rest) = text.split_once(open)?;
                let value = rest.split_once(close).map_or(rest, |(value, _)| value).trim_matches('\n');
                Some(call(name, [((*parameter).to_owned(), Value::from(value))].into_iter().collect()))
            });
            read.into_iter().collect()
        }
        Speech::Functions => {
            let Some((name, rest)) =
                text.split_once("<function=").and_then(|(_, rest)| rest.split_once(">\n"))
            else {
                return Vec::new();
            };
            let parameter = |part: &str| {
                let (name, value) = part.split_once('>')?;
                let value = value.split_once("</parameter>").map_or(value, |(value, _)| value);
                Some((name.to_owned(), Value::from(value.trim_matches('\n'))))
            };
            vec![call(name, rest.split("<parameter=").skip(1).filter_map(parameter).collect())]
        }
    }
}
