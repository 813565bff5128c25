//! What no table foresees: random bytes, random JSON in the words of a protocol, and good streams that were cut,
//! doubled, swapped or flipped. Nothing panics or hangs, each try is settled once, and no answer holds what was not
//! sent.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use podium_types::chat::{ChatAnswer, ChatRequest, Message, Speaker};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::super::server::{Act, STREAM, Server};
use super::super::setup::{Record, Witness};
use super::run::client;
use super::speech::{Call, Event, PROTOCOLS, Place, Protocol, Say, stream, through, written};
use crate::{Call as Chat, Client, Error};

/// Cases of each property and protocol.
const CASES: u32 = 150;

/// A server whose answer changes from case to case, and a client of it.
struct Bench {
    runtime: tokio::runtime::Runtime,
    answer: Arc<Mutex<Vec<u8>>>,
    server: Server,
    client: Client,
    protocol: &'static dyn Protocol,
}

impl Bench {
    fn new(protocol: &'static dyn Protocol) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = Arc::new(Mutex::new(Vec::new()));
        let server = runtime.block_on(Server::start(vec![Act::Shared(Arc::clone(&answer))]));
        let client = client(&server.url, |settings| settings.max_tries = 1);
        Self { runtime, answer, server, client, protocol }
    }

    /// What the client makes of `body`.
    fn chat(&self, body: &[u8]) -> Result<ChatAnswer, Error> {
        *self.answer.lock().unwrap() = [STREAM.as_bytes(), body].concat();
        let record = Record::default();
        let request =
            ChatRequest { messages: vec![Message::text(Speaker::User, "hello")], ..ChatRequest::default() };
        let model = self.protocol.model().parse().unwrap();
        let ledger = Witness { record: &record, server: &self.server };
        let call =
            Chat { model: &model, request: &request, ledger: &ledger, observer: &record, purpose: "test" };
        let chat = async { tokio::time::timeout(Duration::from_mins(1), self.client.chat(&call)).await };
        let result = self.runtime.block_on(chat).expect("it ends");
        let attempts =
            |numbers: Vec<u32>| assert_eq!(numbers, [1], "one try, {:?}", String::from_utf8_lossy(body));
        attempts(record.reserved.lock().unwrap().iter().map(|(attempt, _)| *attempt).collect());
        attempts(record.settled.lock().unwrap().iter().map(|(attempt, _)| *attempt).collect());
        result
    }
}

fn everywhere<S: Strategy>(strategy: impl Fn(&'static dyn Protocol) -> S, check: impl Fn(&Bench, S::Value)) {
    for protocol in PROTOCOLS {
        let bench = Bench::new(protocol);
        let mut runner =
            TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
        let result = runner.run(&strategy(protocol), |value| {
            check(&bench, value);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{}: {error}", protocol.name()));
    }
}

fn say() -> Say {
    let call = Call { id: "call_a", name: "bash", pieces: vec!["{\"command\"", ": \"ls\"}"] };
    Say { calls: vec![call], ..Say::text(&["let me ", "l\u{f6}\u{f6}k ", "at \"it\""]) }
}

/// Every character of an answer was in the bytes, written plainly or as an escape.
fn sent(answer: &ChatAnswer, body: &[u8]) {
    let text = String::from_utf8_lossy(body);
    let known: BTreeSet<char> = text.chars().chain("\u{fffd}\n\r\t\u{8}\u{c}".chars()).collect();
    let escapes = text.contains("\\u");
    let calls = answer.tool_calls.iter().flat_map(|call| [call.name.as_str(), call.arguments.as_str()]);
    for said in calls.chain([answer.content.as_str(), answer.reasoning.as_deref().unwrap_or_default()]) {
        let unknown: Vec<char> = said.chars().filter(|c| !known.contains(c) && !escapes).collect();
        assert!(unknown.is_empty(), "{unknown:?} in {said:?} was not sent: {text:?}");
    }
}

#[test]
fn a_stream_cut_anywhere_is_no_answer_before_its_end() {
    everywhere(
        |_| any::<Index>(),
        |bench, at| {
            let whole = stream(bench.protocol, &say()).unwrap();
            let least = through(bench.protocol, &say(), Place::Finish).trim_end().len();
            let at = at.index(whole.len());
            match bench.chat(&whole.as_bytes()[..at]) {
                Ok(answer) => {
                    assert!(at >= least, "an answer after {at} of {least} bytes");
                    assert_eq!(answer.content, say().text.concat());
                }
                Err(error) => assert!(at < least, "{error} after {at} of {least} bytes"),
            }
        },
    );
}

#[test]
fn a_stream_with_a_few_bytes_changed_never_says_what_was_not_sent() {
    everywhere(
        |_| proptest::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        |bench, changes| {
            let mut body = stream(bench.protocol, &say()).unwrap().into_bytes();
            for (at, byte) in changes {
                let at = at.index(body.len());
                body[at] = byte;
            }
            if let Ok(answer) = bench.chat(&body) {
                sent(&answer, &body);
            }
        },
    );
}

#[test]
fn events_that_are_doubled_swapped_or_lost_never_say_what_was_not_sent() {
    everywhere(
        |_| proptest::collection::vec((0..3_u8, any::<Index>(), any::<Index>()), 1..5),
        |bench, changes| {
            let mut events = bench.protocol.events(&say()).unwrap();
            for (kind, one, other) in changes {
                if events.is_empty() {
                    break;
                }
                let (one, other) = (one.index(events.len()), other.index(events.len()));
                match kind {
                    0 => events.insert(other, events[one].clone()),
                    1 => events.swap(one, other),
                    _ => drop(events.remove(one)),
                }
            }
            let body = written(&events).into_bytes();
            if let Ok(answer) = bench.chat(&body) {
                sent(&answer, &body);
                assert!(events.iter().any(|event| event.place == Place::Finish), "an answer without an end");
            }
        },
    );
}

#[test]
fn random_bytes_are_no_answer() {
    everywhere(
        |_| proptest::collection::vec(any::<u8>(), 0..2_000),
        |bench, body| {
            assert!(bench.chat(&body).is_err(), "{:?}", String::from_utf8_lossy(&body));
        },
    );
}

/// The keys and the plain values of good events.
fn words(value: &Value, keys: &mut Vec<String>, leaves: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.push(key.clone());
                words(value, keys, leaves);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, keys, leaves)),
        leaf => leaves.push(leaf.clone()),
    }
}

/// Values made of a protocol's own words in a random order.
fn jumbled(protocol: &'static dyn Protocol) -> impl Strategy<Value = Vec<Value>> {
    let (mut keys, mut leaves) =
        (Vec::new(), vec![Value::Null, Value::from(-1), Value::from(1e300), Value::from("")]);
    for Event { data, .. } in protocol.events(&say()).unwrap() {
        words(&data, &mut keys, &mut leaves);
    }
    words(&protocol.whole(&say()).unwrap(), &mut keys, &mut leaves);
    keys.sort_unstable();
    keys.dedup();
    let leaf = select(leaves);
    let value = leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            3 => proptest::collection::btree_map(select(keys.clone()), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    proptest::collection::vec(value, 1..6)
}

#[test]
fn jumbled_json_neither_panics_nor_invents() {
    everywhere(jumbled, |bench, values| {
        let events: String =
            values.iter().flat_map(|value| ["data: ".into(), value.to_string(), "\n\n".into()]).collect();
        let body = values[0].to_string();
        for body in [events.as_bytes(), body.as_bytes()] {
            if let Ok(answer) = bench.chat(body) {
                sent(&answer, body);
            }
        }
    });
}

/// One place of a good event replaced by a value from elsewhere.
#[test]
fn grafted_json_neither_panics_nor_invents() {
    everywhere(
        |protocol| proptest::collection::vec((any::<Index>(), any::<Index>(), jumbled(protocol)), 1..4),
        |bench, grafts| {
            let mut events = bench.protocol.events(&say()).unwrap();
            for (event, place, values) in grafts {
                let event = event.index(events.len());
                let mut paths = Vec::new();
                pointers(&events[event].data, String::new(), &mut paths);
                let path = &paths[place.index(paths.len())];
                if let Some(place) = events[event].data.pointer_mut(path) {
                    *place = values[0].clone();
                }
            }
            let body = written(&events).into_bytes();
            if let Ok(answer) = bench.chat(&body) {
                sent(&answer, &body);
            }
        },
    );
}

fn pointers(value: &Value, at: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| pointers(value, format!("{at}/{key}"), paths));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| pointers(value, format!("{at}/{index}"), paths));
        }
        _ => {}
    }
    paths.push(at);
}
