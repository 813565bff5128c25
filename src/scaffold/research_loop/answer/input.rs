//! The arguments of an action: JSON as models write it.
//!
//! First strictly; then with fences stripped, backslashes doubled and raw line breaks escaped, as models need who quote
//! code; then by position, each value being all that stands between one argument's name and the next. The last takes
//! what no parser of JSON would, inner quotes that are not escaped above all.

use serde_json::{Map, Value};

/// Arguments by their names.
pub type Input = Map<String, Value>;

/// Why arguments cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputFault {
    /// Nothing stands there.
    #[error("there is no input")]
    Empty,
    /// No reading gives an object.
    #[error("the input is not valid JSON: {message}")]
    NotJson {
        /// The parser's words.
        message: String,
    },
    /// JSON, but no object.
    #[error("the input is no JSON object")]
    NotAnObject,
    /// Arguments that are missing.
    #[error("arguments are missing: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// Arguments that the action does not have.
    #[error("arguments that the action does not have: {}", .0.join(", "))]
    Unexpected(Vec<String>),
}

/// Reads the arguments named in `names`.
pub fn read(text: &str, names: &[String]) -> Result<Input, InputFault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(InputFault::Empty);
    }
    let strict = serde_json::from_str::<Value>(text);
    let value = match &strict {
        Ok(value) => Some(value.clone()),
        Err(_) => serde_json::from_str(&sanitised(text)).ok(),
    };
    if let Some(value) = value {
        return exactly(value, names);
    }
    // An object with prose around it tells its names: one too many is not swallowed.
    if let Some(Value::Object(object)) =
        braced(text).and_then(|inner| serde_json::from_str(&format!("{{{inner}}}")).ok())
        && let Some(unexpected) = unexpected(&object, names)
    {
        return Err(InputFault::Unexpected(unexpected));
    }
    by_position(text, names).ok_or_else(|| InputFault::NotJson {
        message: strict.err().map(|error| error.to_string()).unwrap_or_default(),
    })
}

/// An object with these names and no others.
fn exactly(value: Value, names: &[String]) -> Result<Input, InputFault> {
    let Value::Object(object) = value else { return Err(InputFault::NotAnObject) };
    let missing: Vec<String> = names.iter().filter(|name| !object.contains_key(*name)).cloned().collect();
    if !missing.is_empty() {
        return Err(InputFault::Missing(missing));
    }
    match unexpected(&object, names) {
        Some(unexpected) => Err(InputFault::Unexpected(unexpected)),
        None => Ok(object),
    }
}

fn unexpected(object: &Input, names: &[String]) -> Option<Vec<String>> {
    let found: Vec<String> = object.keys().filter(|key| !names.contains(key)).cloned().collect();
    (!found.is_empty()).then_some(found)
}

/// Without fences, with every backslash meant as one, and with raw control characters escaped.
fn sanitised(text: &str) -> String {
    let fence = |c: char| matches!(c, '`' | 'j' | 's' | 'o' | 'n');
    let bare = text.trim_matches(fence).trim_matches('`');
    let mut clean = String::with_capacity(bare.len());
    let mut quoted = false;
    for c in bare.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                clean.push(c);
            }
            '\\' => clean.push_str("\\\\"),
            '\u{8}' => clean.push_str("\\b"),
            '\u{c}' => clean.push_str("\\f"),
            '\r' => clean.push_str("\\r"),
            '\t' => clean.push_str("\\t"),
            '\n' if quoted => clean.push_str("\\n"),
            c => clean.push(c),
        }
    }
    clean
}

/// What stands between the first opening and the last closing brace.
fn braced(text: &str) -> Option<&str> {
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    text.get(from + 1..to)
}

/// Each value is what stands between its name and the next one's.
fn by_position(text: &str, names: &[String]) -> Option<Input> {
    let inner = braced(text)?.trim_end();
    // A comma behind the last value is no part of it.
    let mut rest = inner.strip_suffix(',').unwrap_or(inner);
    let mut values: Vec<(String, Value)> = Vec::new();
    let (first, others) = names.split_first()?;
    for name in others.iter().rev() {
        let at = rest.rfind(&key(name))?;
        let (before, value) = (rest.get(..at)?, rest.get(at + key(name).len()..)?);
        values.push((name.clone(), bare(value)));
        rest = before.trim_end().strip_suffix(',')?;
    }
    let at = rest.find(&key(first))?;
    values.push((first.clone(), bare(rest.get(at + key(first).len()..)?)));
    Some(values.into_iter().rev().collect())
}

fn key(name: &str) -> String {
    format!("\"{name}\":")
}

fn bare(value: &str) -> Value {
    Value::String(value.trim().trim_matches('"').to_owned())
}
