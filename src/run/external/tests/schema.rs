//! `docs/protocol.schema.json` and the examples of `docs/protocol.md` against the code: what is said on a tour of all
//! methods, and the names of all parameters.

use std::collections::{BTreeMap, BTreeSet};

use podium_types::sha256::Sha256;
use serde_json::{Value, json};

use super::super::Stage;
use super::super::calls::{METHODS, Terms};
use super::super::message;
use super::{end_of, read, stage};

fn schema() -> Value {
    serde_json::from_str(&read("docs/protocol.schema.json")).unwrap()
}

/// The part of the schema under `name`, as a schema of its own.
fn part(name: &str) -> jsonschema::Validator {
    let mut whole = schema();
    whole.as_object_mut().unwrap().remove("oneOf");
    whole["$ref"] = json!(format!("#/$defs/{name}"));
    jsonschema::validator_for(&whole).unwrap()
}

#[track_caller]
fn fits(validator: &jsonschema::Validator, value: &Value) {
    let wrong: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{value}\n{wrong:?}");
}

#[tokio::test]
async fn all_that_is_said_fits_the_written_schema() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("strategy.log");
    let stage = Stage { log: Some(log.clone()), ..stage() };
    assert_eq!(end_of("tour", stage).await, Ok("all was seen".to_owned()));
    let said = std::fs::read_to_string(log).unwrap();
    let (request, answer) = (part("request"), part("answer"));
    let mut asked = BTreeMap::new();
    let (mut methods, mut results, mut codes) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for line in said.lines() {
        let message: Value = serde_json::from_str(line.get(2..).unwrap()).unwrap();
        let id = message["id"].as_u64().unwrap();
        if line.starts_with('>') {
            let method = message["method"].as_str().unwrap().to_owned();
            if method != "chatt" {
                fits(&request, &message);
                methods.insert(method.clone());
            }
            asked.insert(id, method);
            continue;
        }
        fits(&answer, &message);
        match message["error"]["code"].as_i64() {
            Some(code) => drop(codes.insert(code)),
            None => {
                fits(&part(&format!("result.{}", asked[&id])), &message["result"]);
                results.insert(asked[&id].clone());
            }
        }
    }
    let known: BTreeSet<String> = METHODS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(methods, known, "the tour sees all");
    // A session is busy there, and what ends has no answer.
    assert_eq!(&known - &results, BTreeSet::from(["finish".to_owned(), "session".to_owned()]));
    let seen = [message::CHAT_FAILED, message::INTERRUPTED, message::FAULT, message::UNKNOWN_METHOD];
    assert!(seen.iter().all(|code| codes.contains(code)), "{codes:?}");
}

#[test]
fn methods_and_their_parameters_are_those_of_the_schema() {
    let whole = schema();
    let defs = whole["$defs"].as_object().unwrap();
    let mut terms = Terms {
        roles: BTreeSet::new(),
        models: BTreeMap::new(),
        execution_ms: 1,
        nodes: BTreeSet::new(),
        collected: BTreeSet::from([Sha256::of(b"")]),
    };
    let named = |prefix: &str| -> BTreeSet<String> {
        defs.keys().filter_map(|name| name.strip_prefix(prefix)).map(str::to_owned).collect()
    };
    let known: BTreeSet<String> = METHODS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(named("params."), known);
    assert_eq!(&known - &named("result."), BTreeSet::from(["finish".to_owned()]));
    for (method, _) in METHODS.iter().filter(|(method, _)| *method != "files") {
        let params = json!({ "no such": 1 }).as_object().unwrap().clone();
        let fault = terms.call(method, params).unwrap_err();
        // serde says: unknown field `no such`, expected `a` or `b`; there is none to expect: there are no fields
        let names: BTreeSet<&str> = fault.message.split('`').skip(3).step_by(2).collect();
        let mut written: BTreeSet<&str> = defs[&format!("params.{method}")]["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        written.remove("key");
        assert_eq!(written, names, "{method}: {}", fault.message);
    }
}

#[test]
fn the_specification_names_every_method_and_code_and_its_examples_are_right() {
    let text = read("docs/protocol.md");
    for (method, _) in METHODS {
        assert!(text.contains(&format!("`{method}`")), "{method}");
    }
    let whole = schema();
    for code in whole["$defs"]["error"]["properties"]["code"]["enum"].as_array().unwrap() {
        assert!(text.contains(&code.to_string()), "{code}");
    }
    let any = jsonschema::validator_for(&whole).unwrap();
    let mut examples = 0;
    for block in text.split("```json\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            fits(&any, &serde_json::from_str(line).unwrap());
            examples += 1;
        }
    }
    assert!(examples >= 6, "{examples} examples");
}
