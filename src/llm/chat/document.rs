//! Digs the JSON document out of an answer and checks it against its schema, whoever was meant to enforce it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use podium_types::chat::{ChatError, OutputSchema};
use serde_json::Value;

use crate::provider::http::cut;

/// Schemas that are kept compiled: a run has a few, and each would be compiled twice in every chat.
const KEPT: usize = 8;

/// Compiled schemas.
#[derive(Debug, Default)]
pub(crate) struct Schemas(Mutex<VecDeque<(Value, Arc<Validator>)>>);

impl Schemas {
    /// What documents of `output` are held to. A schema that is none is an error: no document can satisfy it, and an
    /// answer and its repair would be paid for nothing.
    pub(crate) fn form(&self, output: &OutputSchema) -> Result<Form, ChatError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept.iter().find(|(schema, _)| *schema == output.schema) {
            return Ok(Form(Arc::clone(known)));
        }
        let compiled = jsonschema::validator_for(&output.schema)
            .map_err(|error| ChatError::InvalidSchema { problem: cut(&error.to_string()) })?;
        let compiled = Arc::new(compiled);
        kept.truncate(KEPT - 1);
        kept.push_front((output.schema.clone(), Arc::clone(&compiled)));
        Ok(Form(compiled))
    }
}

/// What a document must be like.
#[derive(Debug)]
pub(crate) struct Form(Arc<Validator>);

impl Form {
    /// The document in `content`, or what is wrong with it, in words that a model can act on.
    pub(crate) fn read(&self, content: &str) -> Result<Value, String> {
        let mut problem = "it holds no JSON object".to_owned();
        for candidate in candidates(content) {
            match self.check(&candidate) {
                Ok(()) => return Ok(candidate),
                Err(found) => problem = found,
            }
        }
        Err(problem)
    }

    fn check(&self, document: &Value) -> Result<(), String> {
        let problems: Vec<String> = self
            .0
            .iter_errors(document)
            .take(NAMED)
            .map(|error| {
                let place = error.instance_path().to_string();
                if place.is_empty() { error.to_string() } else { format!("at {place}: {error}") }
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }
}

/// Most problems named in one repair turn.
const NAMED: usize = 5;

/// JSON values in `content`, the likeliest first: the whole text, then what stands in fences or prose, last first
/// (models think aloud before they answer).
pub(crate) fn candidates(content: &str) -> impl Iterator<Item = Value> + '_ {
    let whole = serde_json::from_str::<Value>(content.trim()).ok();
    let inner = if whole.is_some() { Vec::new() } else { embedded(content) };
    whole.into_iter().chain(inner.into_iter().rev())
}

/// Most openings tried: a text of braces alone must not take quadratic time for ever.
const OPENINGS: usize = 200;

fn embedded(content: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = content;
    for _ in 0..OPENINGS {
        let Some(start) = rest.find(['{', '[']) else { break };
        let tail = rest.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(tail).into_iter::<Value>();
        let used = match stream.next() {
            Some(Ok(value)) => {
                found.push(value);
                stream.byte_offset()
            }
            _ => 1,
        };
        rest = tail.get(used..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn review() -> OutputSchema {
        let schema = json!({
            "type": "object",
            "properties": {"is_bug": {"type": "boolean"}, "metric": {"type": ["number", "null"]}},
            "required": ["is_bug", "metric"],
            "additionalProperties": false,
        });
        OutputSchema { name: "review".into(), schema, strict: true }
    }

    fn read(content: &str, output: &OutputSchema) -> Result<Value, String> {
        Schemas::default().form(output).unwrap().read(content)
    }

    #[test]
    fn documents_are_found_wherever_they_stand() {
        let document = json!({"is_bug": false, "metric": 0.5});
        for content in [
            r#" {"is_bug": false, "metric": 0.5} "#,
            "```json\n{\"is_bug\": false,\n \"metric\": 0.5}\n```",
            "<think>maybe {\"is_bug\": true}?</think> Here: {\"is_bug\": false, \"metric\": 0.5}. Done {}",
            "a set {1, 2} and [3, 4], then {\"is_bug\": false, \"metric\": 0.5}",
        ] {
            assert_eq!(read(content, &review()), Ok(document.clone()), "{content}");
        }
    }

    #[test]
    fn problems_are_named() {
        let problem = |content| read(content, &review()).unwrap_err();
        assert_eq!(problem("no idea"), "it holds no JSON object");
        assert!(problem(r#"{"is_bug": "no", "metric": 1}"#).contains("is_bug"));
        assert!(problem(r#"{"is_bug": true}"#).contains("metric"));
        assert!(problem(r#"{"is_bug": true, "metric": null"#).contains("no JSON"));
        assert!(problem(&"{".repeat(100_000)).contains("no JSON"));
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        let output = OutputSchema { name: "o".into(), schema: json!({"type": 3}), strict: true };
        let refused = Schemas::default().form(&output).unwrap_err();
        assert!(matches!(refused, ChatError::InvalidSchema { .. }));
    }

    #[test]
    fn each_schema_keeps_its_own_form_however_many_there_are() {
        let schemas = Schemas::default();
        let output = |number: usize| OutputSchema {
            name: "o".into(),
            schema: json!({"type": "object", "required": [format!("field_{number}")]}),
            strict: true,
        };
        for number in (0..2 * KEPT).chain(0..2 * KEPT) {
            let form = schemas.form(&output(number)).unwrap();
            let document = |field: usize| format!("{{\"field_{field}\": 1}}");
            assert!(form.read(&document(number)).is_ok() && form.read(&document(number + 1)).is_err());
        }
        assert_eq!(schemas.0.lock().unwrap().len(), KEPT);
    }
}
