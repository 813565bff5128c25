//! Digs the JSON document out of an answer and checks it against its schema, whoever was meant to enforce it.

use podium_types::chat::{ChatError, OutputSchema};
use serde_json::Value;

use crate::provider::http::cut;

/// Whether any document can satisfy `output`. Where none can, an answer and its repair would be paid for nothing.
pub(crate) fn can_be(output: &OutputSchema) -> Result<(), ChatError> {
    let invalid = |error: jsonschema::ValidationError<'_>| ChatError::InvalidSchema {
        problem: cut(&error.to_string()),
    };
    jsonschema::validator_for(&output.schema).map(drop).map_err(invalid)
}

/// The document in `content`, or what is wrong with it, in words that a model can act on.
pub(crate) fn read(content: &str, output: &OutputSchema) -> Result<Value, String> {
    let mut problem = "it holds no JSON object".to_owned();
    for candidate in candidates(content) {
        match check(&candidate, output) {
            Ok(()) => return Ok(candidate),
            Err(found) => problem = found,
        }
    }
    Err(problem)
}

/// Most problems named in one repair turn.
const NAMED: usize = 5;

fn check(document: &Value, output: &OutputSchema) -> Result<(), String> {
    let validator = match jsonschema::validator_for(&output.schema) {
        Ok(validator) => validator,
        Err(error) => return Err(format!("the schema itself is not valid: {error}")),
    };
    let problems: Vec<String> = validator
        .iter_errors(document)
        .take(NAMED)
        .map(|error| {
            let place = error.instance_path().to_string();
            if place.is_empty() { error.to_string() } else { format!("at {place}: {error}") }
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

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
    fn a_schema_that_is_none_fails_the_document() {
        let output = OutputSchema { name: "o".into(), schema: json!({"type": 3}), strict: true };
        assert!(read("{}", &output).unwrap_err().contains("schema itself"));
        assert!(matches!(can_be(&output), Err(ChatError::InvalidSchema { .. })));
        assert_eq!(can_be(&review()), Ok(()));
    }
}
