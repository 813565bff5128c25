//! What requests of both protocols have: the model, texts in parts, tools, numbers.

use std::collections::BTreeMap;

use podium_types::chat::{ChatRequest, Effort, OutputSchema, Tool, ToolChoice};
use serde_json::{Map, Value, json};

use super::refusal::Refusal;

/// The object that a body must be.
pub(super) fn object(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Refusal::invalid("the body must be a JSON object")),
        Err(error) => Err(Refusal::invalid(format!("the body is not JSON: {error}"))),
    }
}

/// A field that is there; `null` is as good as none.
pub(super) fn given<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// A field that must be a text.
pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, Refusal> {
    given(object, name)
        .and_then(Value::as_str)
        .ok_or_else(|| Refusal::invalid(format!("`{name}` must be a text")))
}

/// A switch, off where it is not there.
pub(super) fn switch(object: &Map<String, Value>, name: &str) -> Result<bool, Refusal> {
    match given(object, name) {
        None => Ok(false),
        Some(value) => {
            value.as_bool().ok_or_else(|| Refusal::invalid(format!("`{name}` must be true or false")))
        }
    }
}

/// The role behind the model's name.
pub(super) fn role(
    object: &Map<String, Value>,
    models: &BTreeMap<String, String>,
) -> Result<(String, String), Refusal> {
    let name = text(object, "model")?;
    let Some(role) = models.get(name) else {
        let known: Vec<&str> = models.keys().map(String::as_str).collect();
        return Err(Refusal::unknown_model(name, &known));
    };
    Ok((name.to_owned(), role.clone()))
}

/// A text, whole or in parts.
pub(super) fn content(value: Option<&Value>) -> Result<String, Refusal> {
    match value {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let mut whole = String::new();
            for part in parts {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
                let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
                match (kind, text) {
                    ("text" | "input_text" | "output_text" | "refusal", Some(text)) => whole.push_str(text),
                    _ => {
                        return Err(Refusal::invalid(format!(
                            "a part of a message is of type `{kind}`: only texts can be read here"
                        )));
                    }
                }
            }
            Ok(whole)
        }
        Some(_) => Err(Refusal::invalid("the `content` of a message must be a text, or a list of parts")),
    }
}

/// A field that is an array, empty where it is not there.
pub(super) fn list<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], Refusal> {
    match given(object, name) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(Refusal::invalid(format!("`{name}` must be a list"))),
    }
}

/// An object in a list.
pub(super) fn item<'a>(value: &'a Value, of: &str) -> Result<&'a Map<String, Value>, Refusal> {
    value.as_object().ok_or_else(|| Refusal::invalid(format!("each of `{of}` must be an object")))
}

/// A function, which stands at `function` in one protocol and is the tool itself in the other.
pub(super) fn tool(function: &Map<String, Value>) -> Result<Tool, Refusal> {
    let parameters = given(function, "parameters").cloned();
    let description = given(function, "description").and_then(Value::as_str);
    Ok(Tool {
        name: text(function, "name")?.to_owned(),
        description: description.unwrap_or_default().to_owned(),
        parameters: parameters.unwrap_or_else(|| json!({"type": "object", "properties": {}})),
    })
}

/// Whether tools are called; a named function stands at `function` or is there itself.
pub(super) fn tool_choice(object: &Map<String, Value>) -> Result<ToolChoice, Refusal> {
    let wrong = || Refusal::invalid("`tool_choice` must be auto, none, required or a function");
    match given(object, "tool_choice") {
        None => Ok(ToolChoice::Auto),
        Some(Value::String(word)) => match word.as_str() {
            "auto" => Ok(ToolChoice::Auto),
            "none" => Ok(ToolChoice::None),
            "required" => Ok(ToolChoice::Required),
            _ => Err(wrong()),
        },
        Some(Value::Object(choice)) => {
            let function = choice.get("function").and_then(Value::as_object).unwrap_or(choice);
            let name = function.get("name").and_then(Value::as_str).ok_or_else(wrong)?;
            Ok(ToolChoice::Named(name.to_owned()))
        }
        Some(_) => Err(wrong()),
    }
}

/// The form that the answer must have, from `response_format` or `text.format`; the schema stands at `json_schema` in one
/// protocol and is there itself in the other.
pub(super) fn output(format: Option<&Value>) -> Result<Option<OutputSchema>, Refusal> {
    let Some(format) = format else { return Ok(None) };
    let wrong = || Refusal::invalid("the format of the answer must be text, json_object or json_schema");
    let format = format.as_object().ok_or_else(wrong)?;
    match text(format, "type").map_err(|_| wrong())? {
        "text" => Ok(None),
        "json_object" => Ok(Some(OutputSchema {
            name: "answer".to_owned(),
            schema: json!({"type": "object"}),
            strict: false,
        })),
        "json_schema" => {
            let inner = format.get("json_schema").and_then(Value::as_object).unwrap_or(format);
            let schema = given(inner, "schema").cloned().ok_or_else(wrong)?;
            let name = given(inner, "name").and_then(Value::as_str).unwrap_or("answer").to_owned();
            Ok(Some(OutputSchema { name, schema, strict: switch(inner, "strict")? }))
        }
        _ => Err(wrong()),
    }
}

/// A whole number of tokens from 1, under the first of these names that is there.
fn tokens(object: &Map<String, Value>, names: &[&str]) -> Result<Option<u32>, Refusal> {
    let Some((name, value)) = names.iter().find_map(|name| Some((name, given(object, name)?))) else {
        return Ok(None);
    };
    let number = value.as_u64().filter(|number| *number > 0);
    let number = number.ok_or_else(|| Refusal::invalid(format!("`{name}` must be a whole number from 1")))?;
    Ok(Some(u32::try_from(number).unwrap_or(u32::MAX)))
}

/// The settings that both protocols have, put into `request`; the names of the output limit differ.
pub(super) fn settings(
    object: &Map<String, Value>,
    output_limit: &[&str],
    request: &mut ChatRequest,
) -> Result<(), Refusal> {
    request.max_output_tokens = tokens(object, output_limit)?;
    if let Some(value) = given(object, "temperature") {
        let number = value.as_f64().filter(|number| (0.0..=2.0).contains(number));
        let wrong = || Refusal::invalid("`temperature` must be a number from 0 to 2");
        request.temperature = Some(number.ok_or_else(wrong)?);
    }
    request.tool_choice = tool_choice(object)?;
    if given(object, "parallel_tool_calls").and_then(Value::as_bool) == Some(false) {
        request.one_tool_call = !request.tools.is_empty();
    }
    Ok(())
}

/// How hard to think.
pub(super) fn effort(value: Option<&Value>) -> Result<Option<Effort>, Refusal> {
    let Some(value) = value else { return Ok(None) };
    match value.as_str().unwrap_or_default() {
        "none" => Ok(None),
        "minimal" => Ok(Some(Effort::Minimal)),
        "low" => Ok(Some(Effort::Low)),
        "medium" => Ok(Some(Effort::Medium)),
        "high" | "xhigh" => Ok(Some(Effort::High)),
        _ => Err(Refusal::invalid("the reasoning effort must be minimal, low, medium or high")),
    }
}
