//! A conversation in the form that the API demands: system text apart, turns of user and assistant in alternation, a
//! user's first, no blank text, every call answered in the turn behind it.
//!
//! What does not fit is mended in a known way, for the API would refuse the whole request: turns of one side are
//! joined; a call without a result gets an empty one; a result without its call becomes text; ids that the API would
//! refuse, or that come twice, are replaced; where a user's turn is missing at the head, the system text becomes it;
//! where there is none either, and behind a last assistant turn, a short one is put there.

use std::collections::BTreeSet;

use podium_types::chat::{Message, Speaker, ToolCall};
use serde_json::{Map, Value, json};

use super::prefix::Prefix;
use super::state::{self, Place};
use crate::model::ModelName;

/// The user's turn that stands where one is missing.
const OPENING: &str = include_str!("../../../../prompts/common/opening.md.tera");

/// The conversation so far, as it is sent.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Dialogue {
    /// Blocks of system text.
    pub(super) system: Vec<Value>,
    /// Turns, a user's first.
    pub(super) turns: Vec<Turn>,
    /// Of all of it, where thinking is bound to it.
    pub(super) prefix: Option<Prefix>,
}

/// One side's turn.
#[derive(Debug, PartialEq)]
pub(super) struct Turn {
    /// The user's or the assistant's.
    pub(super) user: bool,
    /// Its content blocks.
    pub(super) blocks: Vec<Value>,
}

impl Turn {
    pub(super) fn message(self) -> Value {
        json!({"role": if self.user { "user" } else { "assistant" }, "content": self.blocks})
    }
}

/// Whose thinking goes back with the turns that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Thinker<'a> {
    /// The model, if it takes thinking back at all.
    pub(super) model: Option<&'a ModelName>,
    /// It takes it back only behind an unchanged prefix, to which these tools belong.
    pub(super) bound_to: Option<&'a [Value]>,
}

/// The turns of `messages`. With `prefill` the model goes on with an assistant turn at the end.
pub(super) fn turns(messages: &[Message], thinker: Thinker<'_>, prefill: bool) -> Dialogue {
    let system_text = messages.iter().filter(|message| message.role == Speaker::System);
    let mut system: Vec<Value> = system_text.flat_map(|message| text(&message.content)).collect();
    let opening = || Turn { user: true, blocks: text(OPENING.trim()).collect() };
    let mut turns = Vec::new();
    if headless(messages) {
        let system = std::mem::take(&mut system);
        turns.push(if system.is_empty() { opening() } else { Turn { user: true, blocks: system } });
    }
    let mut builder = Builder {
        prefix: thinker.bound_to.map(|tools| Prefix::new(&system, tools)),
        hashed: 0,
        model: thinker.model,
        turns,
        open: Vec::new(),
        ids: BTreeSet::new(),
    };
    for message in messages {
        match message.role {
            Speaker::System => {}
            Speaker::User => builder.push(true, text(&message.content)),
            Speaker::Assistant => builder.assistant(message),
            Speaker::Tool => builder.result(message),
        }
    }
    builder.close();
    if builder.turns.last().is_some_and(|turn| !turn.user) {
        if prefill {
            trim_end(builder.turns.last_mut());
        } else {
            builder.turns.push(opening());
        }
    }
    builder.hash();
    Dialogue { system, turns: builder.turns, prefix: builder.prefix }
}

/// No user's turn stands at the head.
fn headless(messages: &[Message]) -> bool {
    let mut spoken = messages.iter().filter(|message| {
        message.role != Speaker::System
            && (!message.content.trim().is_empty() || !message.tool_calls.is_empty())
    });
    spoken.next().is_none_or(|first| first.role == Speaker::Assistant)
}

/// The API refuses white space at the end of a last assistant turn.
fn trim_end(last: Option<&mut Turn>) {
    if let Some(Value::Object(block)) = last.and_then(|turn| turn.blocks.last_mut())
        && let Some(Value::String(text)) = block.get_mut("text")
    {
        text.truncate(text.trim_end().len());
    }
}

/// A text block; none for blank text.
fn text(text: &str) -> impl Iterator<Item = Value> + use<> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text})).into_iter()
}

struct Builder<'a> {
    model: Option<&'a ModelName>,
    /// Of the first `hashed` turns.
    prefix: Option<Prefix>,
    hashed: usize,
    turns: Vec<Turn>,
    /// Calls of the last assistant turn that have no result yet: their ids as told and as sent.
    open: Vec<(String, String)>,
    /// Ids sent so far.
    ids: BTreeSet<String>,
}

impl Builder<'_> {
    fn push(&mut self, user: bool, blocks: impl Iterator<Item = Value>) {
        let mut blocks = blocks.peekable();
        if blocks.peek().is_none() {
            return;
        }
        match self.turns.last_mut().filter(|turn| turn.user == user) {
            Some(turn) => turn.blocks.extend(blocks),
            None => self.turns.push(Turn { user, blocks: blocks.collect() }),
        }
    }

    /// Brings the prefix up to date.
    fn hash(&mut self) {
        if let Some(prefix) = &mut self.prefix {
            self.turns.iter().skip(self.hashed).for_each(|turn| prefix.add(turn));
            self.hashed = self.turns.len();
        }
    }

    fn assistant(&mut self, message: &Message) {
        self.close();
        self.hash();
        let mut blocks = Vec::new();
        let mut rest = message.content.as_str();
        let mut calls = message.tool_calls.iter();
        for place in state::places(message, self.model, self.prefix.as_ref()) {
            match place {
                Place::Thinking(block) => blocks.push(block),
                Place::Text(bytes) => {
                    let (piece, behind) = rest.split_at_checked(bytes).unwrap_or((rest, ""));
                    rest = behind;
                    blocks.extend(text(piece));
                }
                Place::Call => blocks.extend(calls.next().map(|call| self.call(call))),
            }
        }
        // Thinking alone is no turn.
        if blocks.iter().any(|block| block.get("text").is_some() || block.get("input").is_some()) {
            self.push(false, blocks.into_iter());
        }
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let mut id: String =
            call.id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        if id.is_empty() || self.ids.contains(&id) {
            id = format!("{id}_{}", self.ids.len());
        }
        self.ids.insert(id.clone());
        self.open.push((call.id.clone(), id.clone()));
        json!({"type": "tool_use", "id": id, "name": call.name, "input": input(&call.arguments)})
    }

    fn result(&mut self, message: &Message) {
        let told = message.tool_call_id.as_ref();
        match self.open.iter().position(|(id, _)| Some(id) == told) {
            Some(position) => {
                let (_, id) = self.open.remove(position);
                self.answer(&id, &message.content);
            }
            None => self.push(true, text(&message.content)),
        }
    }

    /// Results stand before any text of their turn.
    fn answer(&mut self, id: &str, content: &str) {
        let mut block = Map::from_iter([
            ("type".to_owned(), json!("tool_result")),
            ("tool_use_id".to_owned(), json!(id)),
        ]);
        if !content.trim().is_empty() {
            block.insert("content".to_owned(), json!(content));
        }
        let block = Value::Object(block);
        match self.turns.last_mut().filter(|turn| turn.user) {
            Some(turn) => {
                let results = turn.blocks.iter().take_while(|block| block.get("tool_use_id").is_some());
                turn.blocks.insert(results.count(), block);
            }
            None => self.turns.push(Turn { user: true, blocks: vec![block] }),
        }
    }

    /// Answers the calls that are still open.
    fn close(&mut self) {
        for (_, id) in std::mem::take(&mut self.open) {
            self.answer(&id, "");
        }
    }
}

/// A call's arguments as the object that they must be.
fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(input)) => Value::Object(input),
        _ if arguments.trim().is_empty() => json!({}),
        Ok(other) => json!({"arguments": other}),
        Err(_) => json!({"arguments": arguments}),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn anyone() -> Thinker<'static> {
        Thinker { model: None, bound_to: None }
    }

    fn say(role: Speaker, content: &str) -> Message {
        Message::text(role, content)
    }

    fn calls(content: &str, ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).into(), name: "ls".into(), arguments: "{}".into() };
        Message { tool_calls: ids.iter().map(call).collect(), ..Message::text(Speaker::Assistant, content) }
    }

    fn result(id: &str, content: &str) -> Message {
        Message { tool_call_id: Some(id.into()), ..Message::text(Speaker::Tool, content) }
    }

    fn sent(messages: &[Message], prefill: bool) -> Value {
        let turns = turns(messages, anyone(), prefill);
        let messages: Vec<Value> = turns.turns.into_iter().map(Turn::message).collect();
        json!({"system": turns.system, "messages": messages})
    }

    fn words(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn user(blocks: &[Value]) -> Value {
        json!({"role": "user", "content": blocks})
    }

    fn assistant(blocks: &[Value]) -> Value {
        json!({"role": "assistant", "content": blocks})
    }

    fn used(id: &str) -> Value {
        json!({"type": "tool_use", "id": id, "name": "ls", "input": {}})
    }

    fn answered(id: &str) -> Value {
        json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
    }

    fn unanswered(id: &str) -> Value {
        json!({"type": "tool_result", "tool_use_id": id})
    }

    #[test]
    fn conversations_are_brought_into_form() {
        use Speaker::{Assistant, System, User};
        let go = || user(&[words("Go on.")]);
        let table = [
            (
                "turns of one side are joined, blank ones left out",
                vec![say(User, "a"), say(User, " \n"), say(User, "b"), say(Assistant, ""), say(User, "c")],
                vec![user(&[words("a"), words("b"), words("c")])],
            ),
            (
                "system text alone",
                vec![say(System, "a"), say(System, "b")],
                vec![user(&[words("a"), words("b")])],
            ),
            (
                "system text and an assistant's turn",
                vec![say(System, "a"), say(Assistant, "b"), say(User, "c")],
                vec![user(&[words("a")]), assistant(&[words("b")]), user(&[words("c")])],
            ),
            ("nothing", vec![say(User, "")], vec![go()]),
            (
                "an assistant's turn at both ends",
                vec![say(Assistant, "a")],
                vec![go(), assistant(&[words("a")]), go()],
            ),
            (
                "results first, in their order",
                vec![
                    say(User, "a"),
                    calls("b", &["1", "2"]),
                    say(User, "c"),
                    result("2", "x"),
                    result("1", "x"),
                ],
                vec![
                    user(&[words("a")]),
                    assistant(&[words("b"), used("1"), used("2")]),
                    user(&[answered("2"), answered("1"), words("c")]),
                ],
            ),
            (
                "missing and stray results",
                vec![
                    say(User, "a"),
                    result("0", "x"),
                    calls("", &["1"]),
                    say(Assistant, "b"),
                    calls("", &["2"]),
                ],
                vec![
                    user(&[words("a"), words("x")]),
                    assistant(&[used("1")]),
                    user(&[unanswered("1")]),
                    assistant(&[words("b"), used("2")]),
                    user(&[unanswered("2")]),
                ],
            ),
            (
                "ids that the API refuses",
                vec![
                    say(User, "a"),
                    calls("", &["a.b", ""]),
                    result("", "x"),
                    result("a.b", "x"),
                    calls("", &["a.b"]),
                    result("a.b", ""),
                ],
                vec![
                    user(&[words("a")]),
                    assistant(&[used("a_b"), used("_1")]),
                    user(&[answered("_1"), answered("a_b")]),
                    assistant(&[used("a_b_2")]),
                    user(&[unanswered("a_b_2")]),
                ],
            ),
        ];
        for (name, messages, expected) in table {
            assert_eq!(sent(&messages, false), json!({"system": [], "messages": expected}), "{name}");
        }
        let prefilled = [say(System, "s"), say(User, "a"), say(Assistant, "b \n")];
        let expected =
            json!({"system": [words("s")], "messages": [user(&[words("a")]), assistant(&[words("b")])]});
        assert_eq!(sent(&prefilled, true), expected);
    }

    #[test]
    fn arguments_become_an_object_whatever_they_are() {
        for (arguments, expected) in [
            (r#"{"a":1}"#, json!({"a": 1})),
            ("", json!({})),
            ("[1]", json!({"arguments": [1]})),
            ("{oops", json!({"arguments": "{oops"})),
        ] {
            assert_eq!(input(arguments), expected, "{arguments}");
        }
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let id = || prop_oneof![Just("a"), Just("b"), Just(""), Just("a.b")];
        let text = || prop_oneof![Just(""), Just(" "), Just("words ")];
        prop_oneof![
            (prop_oneof![Just(Speaker::User), Just(Speaker::System)], text())
                .prop_map(|(role, text)| say(role, text)),
            (text(), proptest::collection::vec(id(), 0..3)).prop_map(|(text, ids)| calls(text, &ids)),
            (id(), text()).prop_map(|(id, text)| result(id, text)),
        ]
    }

    proptest! {
        #[test]
        fn whatever_was_said_the_form_holds(
            messages in proptest::collection::vec(any_message(), 0..10),
            prefill: bool,
        ) {
            let Dialogue { system, turns, .. } = turns(&messages, anyone(), prefill);
            let ids = |turn: &Turn, key: &str| -> Vec<String> {
                turn.blocks.iter().filter_map(|block| Some(block.get(key)?.as_str()?.to_owned())).collect()
            };
            let blocks = turns.iter().flat_map(|turn| &turn.blocks).chain(&system);
            for text in blocks.filter_map(|block| block.get("text")?.as_str()) {
                prop_assert!(!text.trim().is_empty());
            }
            prop_assert!(turns.first().is_some_and(|turn| turn.user));
            prop_assert!(prefill || turns.last().is_some_and(|turn| turn.user));
            prop_assert!(turns.iter().all(|turn| !turn.blocks.is_empty()));
            let mut before = Vec::new();
            let mut seen = BTreeSet::new();
            for (position, turn) in turns.iter().enumerate() {
                prop_assert_eq!(turn.user, position % 2 == 0);
                let (mut results, used) = (ids(turn, "tool_use_id"), ids(turn, "id"));
                results.sort();
                prop_assert_eq!(&results, &before, "every call is answered in the next turn");
                prop_assert!(used.iter().all(|id| seen.insert(id.clone())));
                before = used;
                before.sort();
            }
            prop_assert!(before.is_empty());
        }
    }
}
