//! The shape of JSON: names and types, merged over the elements of an array or the lines of a file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::preview::head::Head;

const DEPTH: usize = 4;
const NAMES: usize = 25;
const ELEMENTS: usize = 1000;

/// Types seen at one place.
#[derive(Debug, Default)]
struct Shape {
    scalars: BTreeSet<&'static str>,
    fields: Option<BTreeMap<String, Shape>>,
    elements: Option<Box<Shape>>,
}

/// Describes a JSON document, or JSON lines, also where a file of one kind bears the name of the other.
pub(crate) fn describe(head: &Head) -> String {
    let mut shape = Shape::default();
    if let Some(document) = head.whole.then(|| serde_json::from_str::<Value>(&head.text).ok()).flatten() {
        shape.see(&document, 0);
        return format!("JSON of the shape\n{}\n", shape.words());
    }
    let mut lines: Vec<&str> = head.text.lines().collect();
    if !head.whole {
        lines.pop();
    }
    let mut seen = 0;
    for line in lines.into_iter().filter(|line| !line.trim().is_empty()).take(ELEMENTS) {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => shape.see(&value, 0),
            Err(_) => return beginning(head),
        }
        seen += 1;
    }
    match seen {
        0 if !head.whole => beginning(head),
        0 => "no JSON\n".to_owned(),
        _ => format!("JSON lines, the first {seen} of the shape\n{}\n", shape.words()),
    }
}

/// A document of which only the beginning was read, or that is damaged further on: the values that are whole.
fn beginning(head: &Head) -> String {
    match closed(&head.text).and_then(|text| serde_json::from_str::<Value>(&text).ok()) {
        Some(document) => {
            let mut shape = Shape::default();
            shape.see(&document, 0);
            format!("JSON that begins with the shape\n{}\n", shape.words())
        }
        None => "JSON that cannot be read from its beginning\n".to_owned(),
    }
}

/// The text up to its last comma in a bracket that is still open, with all that are open there closed.
fn closed(text: &str) -> Option<String> {
    // Each open bracket's other half, and where its last comma is.
    let mut open: Vec<(char, Option<usize>)> = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' => open.push((']', None)),
            b'{' => open.push(('}', None)),
            b']' | b'}' => drop(open.pop()?),
            b',' => open.last_mut()?.1 = Some(position),
            _ => {}
        }
    }
    let depth = open.iter().rposition(|(_, comma)| comma.is_some())?;
    let end = open.get(depth)?.1?;
    let brackets = open.get(..=depth)?.iter().rev().map(|(bracket, _)| *bracket);
    Some(text.get(..end)?.chars().chain(brackets).collect())
}

impl Shape {
    fn see(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => drop(self.scalars.insert("null")),
            Value::Bool(_) => drop(self.scalars.insert("boolean")),
            Value::Number(number) if number.is_f64() => drop(self.scalars.insert("number")),
            Value::Number(_) => drop(self.scalars.insert("integer")),
            Value::String(_) => drop(self.scalars.insert("string")),
            _ if depth == DEPTH => drop(self.scalars.insert("...")),
            Value::Array(values) => {
                let elements = self.elements.get_or_insert_default();
                values.iter().take(ELEMENTS).for_each(|value| elements.see(value, depth + 1));
            }
            Value::Object(fields) => {
                let known = self.fields.get_or_insert_default();
                for (name, value) in fields {
                    if known.len() <= NAMES || known.contains_key(name) {
                        known.entry(name.clone()).or_default().see(value, depth + 1);
                    }
                }
            }
        }
    }

    fn words(&self) -> String {
        let mut kinds: Vec<String> = self.scalars.iter().map(|scalar| (*scalar).to_owned()).collect();
        if let Some(elements) = &self.elements {
            kinds.push(format!("[{}]", elements.words()));
        }
        if let Some(fields) = &self.fields {
            let mut names: Vec<String> = fields
                .iter()
                .take(NAMES)
                .map(|(name, shape)| format!("{name:?}: {}", shape.words()))
                .collect();
            if fields.len() > NAMES {
                names.push("...".to_owned());
            }
            kinds.push(format!("{{{}}}", names.join(", ")));
        }
        kinds.join(" | ")
    }
}
