//! From what a model wrote to what the tool's type reads. Models write `"true"` for `true` and `"3"` for `3`, and text
//! formats know nothing but text; what plainly means the right thing is taken for it, and the rest is a fault with a name.

use podium_types::nearest::nearest;
use serde_json::{Map, Value};

use super::{ArgumentFault, Kind, Parameter, Schema};

/// An argument that newer agents of this family send with every call, and that nothing here reads.
const NOT_OURS: &str = "security_risk";
/// Characters of a wrong value that are shown.
const SHOWN: usize = 60;

/// Arguments that fit, and the names of those that the tool does not know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fitted {
    /// All that the schema has a parameter for.
    pub arguments: Map<String, Value>,
    /// What it has none for.
    pub unknown: Vec<String>,
}

/// Reads the arguments of a native call: JSON text. Models leave it empty where there are none.
pub fn parse(text: &str) -> Result<Map<String, Value>, ArgumentFault> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(ArgumentFault::NotAnObject { found: kind_of(&other) }),
        Err(error) => Err(ArgumentFault::NotJson { problem: error.to_string() }),
    }
}

/// Fits arguments to a schema. Unknown ones are an error where `strict`.
pub fn fit(schema: &Schema, arguments: &Map<String, Value>, strict: bool) -> Result<Fitted, ArgumentFault> {
    let mut fitted = Fitted::default();
    for (name, value) in arguments {
        match schema.get(name) {
            Some(parameter) => {
                if let Some(value) = value_of(parameter, value)? {
                    fitted.arguments.insert(name.clone(), value);
                }
            }
            None if name == NOT_OURS => {}
            None => fitted.unknown.push(name.clone()),
        }
    }
    let missing = |parameter: &&Parameter| {
        parameter.required && !fitted.arguments.contains_key(parameter.name.as_str())
    };
    let missing = schema.0.iter().find(missing);
    if let Some(name) = fitted.unknown.first().filter(|_| strict || missing.is_some()) {
        let names = schema.0.iter().map(|parameter| parameter.name.as_str());
        return Err(ArgumentFault::Unknown { parameter: name.clone(), nearest: nearest(name, names) });
    }
    match missing {
        Some(parameter) => Err(ArgumentFault::Missing { parameter: parameter.name.clone() }),
        None => Ok(fitted),
    }
}

/// `None` for null, which stands for what is not given.
fn value_of(parameter: &Parameter, value: &Value) -> Result<Option<Value>, ArgumentFault> {
    if value.is_null() {
        return Ok(None);
    }
    match fitting(&parameter.kind, value) {
        Some(value) => Ok(Some(value)),
        // An empty text is how models leave out what is no text.
        None if !parameter.required && value.as_str().is_some_and(|text| text.trim().is_empty()) => Ok(None),
        None => Err(ArgumentFault::Wrong {
            parameter: parameter.name.clone(),
            expected: parameter.kind.word(),
            found: shown(value),
        }),
    }
}

fn fitting(kind: &Kind, value: &Value) -> Option<Value> {
    let text = value.as_str().map(str::trim);
    match kind {
        Kind::Text => match value {
            Value::String(_) => Some(value.clone()),
            Value::Number(_) | Value::Bool(_) => Some(Value::from(value.to_string())),
            _ => None,
        },
        Kind::Flag => match text {
            _ if value.is_boolean() => Some(value.clone()),
            Some(word) if word.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
            Some(word) if word.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::Whole => {
            let number = value.as_i64().or_else(|| text?.parse().ok()).or_else(|| whole(value.as_f64()?));
            number.map(Value::from)
        }
        Kind::Number => {
            let number = value.as_f64().or_else(|| text?.parse().ok()).filter(|number| number.is_finite());
            number.map(Value::from)
        }
        Kind::Choice(words) => {
            let found = words.iter().find(|word| text == Some(word.as_str()));
            found.map(|word| Value::from(word.as_str()))
        }
        Kind::List(item) => {
            let read: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
            let items = read.as_ref().unwrap_or(value).as_array()?;
            items.iter().map(|value| fitting(item, value)).collect::<Option<Vec<Value>>>().map(Value::from)
        }
    }
}

/// The integer that a float is, as some models write them.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and far below 2^53")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let parameter = |name: &str, kind, required| Parameter { name: name.to_owned(), kind, required };
        Schema(vec![
            parameter("command", Kind::Text, true),
            parameter("is_input", Kind::Flag, false),
            parameter("line", Kind::Whole, false),
            parameter("timeout", Kind::Number, false),
            parameter("view_range", Kind::List(Box::new(Kind::Whole)), false),
            parameter("act", Kind::Choice(vec!["view".into(), "undo".into()]), false),
        ])
    }

    #[test]
    fn what_plainly_means_the_right_thing_is_taken_for_it() {
        for (name, given, fitted) in [
            ("is_input", json!("true"), json!(true)),
            ("is_input", json!(" False "), json!(false)),
            ("is_input", json!(true), json!(true)),
            ("line", json!("12"), json!(12)),
            ("line", json!(12.0), json!(12)),
            ("line", json!(-1), json!(-1)),
            ("timeout", json!("2.5"), json!(2.5)),
            ("timeout", json!(30), json!(30.0)),
            ("view_range", json!("[1, \"20\"]"), json!([1, 20])),
            ("view_range", json!([1, -1]), json!([1, -1])),
            ("act", json!("view"), json!("view")),
            ("command", json!(3), json!("3")),
        ] {
            let arguments = json!({"command": "ls", name: given});
            let found = fit(&schema(), arguments.as_object().unwrap(), true).unwrap().arguments;
            assert_eq!(found[name], fitted, "{name} {given}");
        }
        let empty = json!({"command": "", "line": "", "is_input": null, "security_risk": "LOW"});
        let found = fit(&schema(), empty.as_object().unwrap(), true).unwrap();
        assert_eq!(
            found,
            Fitted { arguments: json!({"command": ""}).as_object().unwrap().clone(), unknown: vec![] }
        );
    }

    #[test]
    fn faults_name_what_is_wrong() {
        let fault = |arguments: Value, strict| {
            fit(&schema(), arguments.as_object().unwrap(), strict).unwrap_err().to_string()
        };
        assert_eq!(fault(json!({}), false), "the argument `command` is missing");
        assert_eq!(fault(json!({"command": null}), false), "the argument `command` is missing");
        assert_eq!(
            fault(json!({"comand": "ls"}), false),
            "there is no argument `comand`; nearest: `command`"
        );
        assert_eq!(fault(json!({"command": "ls", "x": 1}), true), "there is no argument `x`");
        assert_eq!(
            fault(json!({"command": "ls", "line": "first"}), false),
            "the argument `line` must be whole number, not \"first\""
        );
        assert_eq!(
            fault(json!({"command": ["ls"], "act": "view"}), false),
            "the argument `command` must be text, not [\"ls\"]"
        );
        assert!(fault(json!({"command": "ls", "act": "x".repeat(99)}), false).ends_with("xx…"));
        let loose = json!({"command": "ls", "x": 1});
        assert_eq!(fit(&schema(), loose.as_object().unwrap(), false).unwrap().unknown, ["x"]);
        for (text, found) in [
            ("null", "the arguments are null, not a JSON object"),
            ("[1]", "the arguments are a list, not a JSON object"),
            ("{\"a\": ", "the arguments are not valid JSON: EOF while parsing a value at line 1 column 6"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), found);
        }
        assert_eq!(parse(" \n"), Ok(Map::new()));
    }

    proptest! {
        #[test]
        fn what_fits_fits_again_unchanged(
            command in "\\PC{0,20}", line in any::<i64>(), timeout in any::<f64>(), flag in any::<bool>(),
        ) {
            prop_assume!(timeout.is_finite());
            let given = json!({"command": command, "line": line.to_string(), "timeout": timeout, "is_input": flag});
            let once = fit(&schema(), given.as_object().unwrap(), true).unwrap().arguments;
            prop_assert_eq!(&fit(&schema(), &once, true).unwrap().arguments, &once);
        }
    }
}
