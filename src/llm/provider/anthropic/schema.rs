//! Output schemas as the API enforces them: objects closed, and none of the keywords that it refuses.
//!
//! A dropped keyword only allows more; the document is checked against the whole schema when it has come.

use serde_json::{Value, json};

/// Keywords that the API refuses.
const REFUSED: [&str; 13] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "$schema",
    "$id",
];

/// Keywords whose value is a map from names to schemas, so that its keys are no keywords.
const MAPS: [&str; 3] = ["properties", "$defs", "definitions"];

/// Keywords whose value is data, not a schema.
const DATA: [&str; 5] = ["enum", "const", "default", "examples", "required"];

/// `schema` as it is sent.
pub(super) fn enforceable(schema: &Value) -> Value {
    match schema {
        Value::Array(parts) => parts.iter().map(enforceable).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| !refused(key, value));
            let mut fitted: serde_json::Map<String, Value> =
                kept.map(|(key, value)| (key.clone(), member(key, value))).collect();
            // An object without any properties is a map of its own making: that it is refused is the truth.
            if fitted.contains_key("properties") {
                fitted.insert("additionalProperties".to_owned(), json!(false));
            }
            Value::Object(fitted)
        }
        other => other.clone(),
    }
}

fn refused(key: &str, value: &Value) -> bool {
    REFUSED.contains(&key) || (key == "minItems" && value.as_u64().is_none_or(|least| least > 1))
}

fn member(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(members) if MAPS.contains(&key) => {
            members.iter().map(|(name, schema)| (name.clone(), enforceable(schema))).collect()
        }
        value if DATA.contains(&key) => value.clone(),
        value => enforceable(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_closed_and_bounds_dropped() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "minimum": {"type": "number", "minimum": 0, "maximum": 1},
                "names": {"type": "array", "minItems": 3, "items": {"type": "string", "minLength": 1}},
                "some": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/one"}},
                "kind": {"enum": ["minLength", {"properties": 1}]},
                "any": {"type": "object"},
            },
            "$defs": {"one": {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]}},
            "required": ["minimum"],
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "minimum": {"type": "number"},
                "names": {"type": "array", "items": {"type": "string"}},
                "some": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/one"}},
                "kind": {"enum": ["minLength", {"properties": 1}]},
                "any": {"type": "object"},
            },
            "$defs": {"one": {"anyOf": [
                {"type": "object", "properties": {}, "additionalProperties": false},
                {"type": "null"},
            ]}},
            "required": ["minimum"],
            "additionalProperties": false,
        });
        assert_eq!(enforceable(&schema), expected);
    }
}
