//! Finds calls in the text of an answer: in tags, or as plain JSON where a call was demanded.
//!
//! Models write calls in every manner: several in one tag, in code fences, without an end tag, with raw line breaks in
//! strings, cut short. What has a name is a call; arguments that are no JSON are kept as they were written, as a
//! provider with tools of its own would hand them on. No text panics here or takes quadratic time.

use podium_types::chat::Tool;
use serde_json::Value;

use super::form::{CLOSE, OPEN};
use crate::chat::document;

/// A call without an id yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) arguments: String,
}

/// Calls and the text around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) text: String,
    pub(super) calls: Vec<Written>,
}

/// Most tags without a call that are looked at.
const MISSES: usize = 100;

/// The calls in tags; `None` when there is none.
pub(super) fn tagged(content: &str) -> Option<Found> {
    let (mut text, mut calls) = (String::new(), Vec::new());
    let (mut rest, mut misses) = (content, 0);
    while let Some((before, behind)) = rest.split_once(OPEN).filter(|_| misses < MISSES) {
        if let Some((found, after)) = body(behind) {
            let (before, after) = without_fence(before, after);
            text.push_str(before);
            calls.extend(found);
            rest = after;
        } else {
            text.extend([before, OPEN]);
            rest = behind;
            misses += 1;
        }
    }
    text.push_str(rest);
    (!calls.is_empty()).then(|| Found { text: text.trim().to_owned(), calls })
}

/// A call of one of `tools` that stands as plain JSON in `content`: with its name, or its arguments alone where there
/// is only one tool they can be of.
pub(super) fn plain(content: &str, tools: &[&Tool]) -> Vec<Written> {
    let known = |call: &Written| tools.iter().any(|tool| tool.name == call.name);
    for value in document::candidates(content) {
        let mut calls = Vec::new();
        collect(&value, &mut calls);
        if !calls.is_empty() && calls.iter().all(known) {
            return calls;
        }
        if let [tool] = tools
            && is_arguments(&value, tool)
        {
            return vec![Written { name: tool.name.clone(), arguments: value.to_string() }];
        }
    }
    Vec::new()
}

/// Whether `value` holds parameters of `tool` and nothing else.
fn is_arguments(value: &Value, tool: &Tool) -> bool {
    let Some(object) = value.as_object().filter(|object| !object.is_empty()) else { return false };
    let parameter = |key: &String| tool.parameters.get("properties").and_then(|all| all.get(key)).is_some();
    object.keys().all(parameter)
        && jsonschema::validator_for(&tool.parameters).is_ok_and(|validator| validator.is_valid(value))
}

/// The calls that begin right behind an opening tag, and what follows their end.
fn body(text: &str) -> Option<(Vec<Written>, &str)> {
    let start = behind_fence(text.trim_start());
    let mut calls = Vec::new();
    let mut rest = start;
    while let Some((value, after)) = value(rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',')) {
        let before = calls.len();
        collect(&value, &mut calls);
        if calls.len() == before {
            break;
        }
        rest = after;
    }
    if !calls.is_empty() {
        let garbage = |c: char| c.is_whitespace() || matches!(c, '}' | ']' | '`' | ',' | ';');
        let after = rest.trim_start_matches(garbage).strip_prefix(CLOSE);
        return Some((calls, after.unwrap_or(rest)));
    }
    broken(start).map(|(call, after)| (vec![call], after))
}

/// The JSON object or list at the head of `text`, and what follows it. Raw control characters in strings are let pass.
fn value(text: &str) -> Option<(Value, &str)> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = stream.next() {
        return Some((value, text.get(stream.byte_offset()..).unwrap_or_default()));
    }
    let (escaped, end) = escaped(text)?;
    let value = serde_json::from_str(&escaped).ok()?;
    Some((value, text.get(end..).unwrap_or_default()))
}

/// The JSON at the head of `text` with control characters in strings escaped, and where it ends; `None` when it does
/// not end.
fn escaped(text: &str) -> Option<(String, usize)> {
    let mut copy = String::new();
    let (mut depth, mut in_string, mut escape) = (0_u32, false, false);
    for (at, c) in text.char_indices() {
        match c {
            '\n' if in_string => copy.push_str(if escape { "n" } else { "\\n" }),
            '\t' if in_string => copy.push_str(if escape { "t" } else { "\\t" }),
            c if in_string && c.is_control() => {}
            c => copy.push(c),
        }
        if in_string {
            in_string = escape || c != '"';
            escape = !escape && c == '\\';
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some((copy, at + c.len_utf8()));
        }
    }
    None
}

/// A call that is no JSON: its name, and its arguments as they stand.
fn broken(text: &str) -> Option<(Written, &str)> {
    let end = text.find(CLOSE).or_else(|| text.find(OPEN)).unwrap_or(text.len());
    let (call, behind) = text.split_at_checked(end)?;
    let call = call.trim().trim_end_matches("```").trim_end();
    let name = value_of(call, "\"name\"").filter(|_| call.starts_with('{'))?.strip_prefix('"')?;
    let name = name.split_once('"')?.0;
    if name.is_empty() || name.contains('\n') {
        return None;
    }
    let written = ["\"arguments\"", "\"parameters\""].iter().find_map(|key| value_of(call, key));
    let arguments = written.map_or(call, |written| written.strip_suffix('}').unwrap_or(written).trim_end());
    let call = Written { name: name.to_owned(), arguments: arguments.to_owned() };
    Some((call, behind.strip_prefix(CLOSE).unwrap_or(behind)))
}

fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(key)?;
    Some(behind.trim_start().strip_prefix(':')?.trim_start())
}

/// The calls that `value` is, under the names that models use.
fn collect(value: &Value, calls: &mut Vec<Written>) {
    let object = match value {
        Value::Array(items) => return items.iter().for_each(|item| collect(item, calls)),
        Value::Object(object) => object,
        _ => return,
    };
    if let Some(inner @ (Value::Object(_) | Value::Array(_))) =
        object.get("function").or_else(|| object.get("tool_calls")).or_else(|| object.get("tool_call"))
    {
        return collect(inner, calls);
    }
    let name = ["name", "tool", "tool_name", "function"]
        .iter()
        .find_map(|key| Some((key, object.get(*key)?.as_str()?)));
    let Some((name_key, name)) = name.filter(|(_, name)| !name.is_empty()) else { return };
    let arguments = ["arguments", "parameters", "args", "input"].iter().find_map(|key| object.get(*key));
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => "{}".to_owned(),
        Some(other) => other.to_string(),
        None => {
            let mut beside = object.clone();
            beside.remove(*name_key);
            Value::Object(beside).to_string()
        }
    };
    calls.push(Written { name: name.to_owned(), arguments });
}

/// `text` behind the first line of a code fence, if one begins it.
fn behind_fence(text: &str) -> &str {
    let Some(behind) = text.strip_prefix("```") else { return text };
    behind.trim_start_matches(char::is_alphanumeric).trim_start()
}

/// Takes away a code fence that held nothing but the call.
fn without_fence<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let fence =
        before.trim_end().rsplit_once("```").filter(|(_, tag)| tag.chars().all(char::is_alphanumeric));
    match (fence, after.trim_start().strip_prefix("```")) {
        (Some((before, _)), Some(after)) => (before, after),
        _ => (before, after),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
