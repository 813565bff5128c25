//! What goes into a chat by hand: a prompt from the command line, a file or standard input; OpenAI-style messages and
//! tools from files. Each fault names the file and what it should hold.

use std::io::Read as _;
use std::path::Path;

use podium_types::chat::{Effort, Message, OutputSchema, Speaker, Tool, ToolCall, ToolChoice};
use serde_json::Value;

use crate::cli::failure::Failure;

/// The text of a prompt: `-` reads standard input, `@FILE` a file, and anything else is the prompt itself.
pub(super) fn prompt(argument: &str) -> Result<String, Failure> {
    let text = match argument.strip_prefix('@') {
        _ if argument == "-" => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::usage(format!("could not read standard input: {error}")))?;
            text
        }
        Some(file) => {
            read(Path::new(file), "write a prompt that begins with @ into a file, or on standard input")?
        }
        None => argument.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty")
            .hint("give it as TEXT, as @FILE, or as - on standard input"));
    }
    Ok(text)
}

/// A schema that an answer must fit.
pub(super) fn schema(file: &Path) -> Result<OutputSchema, Failure> {
    const HINT: &str =
        "--schema names a file with one JSON schema, such as {\"type\": \"object\", \"properties\": {}}";
    let schema = json(file, HINT)?;
    Ok(OutputSchema { name: "answer".to_owned(), schema, strict: true })
}

/// OpenAI-style messages: a list, or an object that holds it as `messages`.
pub(super) fn messages(file: &Path) -> Result<Vec<Message>, Failure> {
    const HINT: &str = "--messages names a file such as [{\"role\": \"user\", \"content\": \"hello\"}]";
    let value = json(file, HINT)?;
    let list = value.get("messages").unwrap_or(&value);
    let list = list.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| wrong(file, "no list of messages", HINT))?;
    let read = |(item, number)| {
        message(item).ok_or_else(|| wrong(file, &format!("no message in place {number}"), HINT))
    };
    list.iter().zip(1..).map(read).collect()
}

fn message(value: &Value) -> Option<Message> {
    let speaker = match value.get("role")?.as_str()? {
        "system" | "developer" => Speaker::System,
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        "tool" => Speaker::Tool,
        _ => return None,
    };
    let calls = value.get("tool_calls").filter(|calls| !calls.is_null());
    let calls = calls.map(|calls| calls.as_array()?.iter().map(call).collect::<Option<Vec<_>>>());
    let content = value.get("content").unwrap_or(&Value::Null);
    let content = match content {
        // An assistant's turn that only calls tools.
        Value::Null if calls.is_some() => String::new(),
        content => text(content)?,
    };
    let mut message = Message::text(speaker, content);
    message.tool_calls = match calls {
        Some(calls) => calls?,
        None => Vec::new(),
    };
    message.tool_call_id = value.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
    (speaker != Speaker::Tool || message.tool_call_id.is_some()).then_some(message)
}

/// A text, or a list of text parts.
fn text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            parts.iter().map(|part| part.get("text")?.as_str()).collect::<Option<String>>()
        }
        _ => None,
    }
}

fn call(value: &Value) -> Option<ToolCall> {
    let function = value.get("function").unwrap_or(value);
    Some(ToolCall {
        id: value.get("id")?.as_str()?.to_owned(),
        name: function.get("name")?.as_str()?.to_owned(),
        arguments: match function.get("arguments")? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
    })
}

/// Tools: a list of OpenAI's, or of bare ones with `name`, `description` and `parameters`.
pub(super) fn tools(file: &Path) -> Result<Vec<Tool>, Failure> {
    const HINT: &str = "--tools names a file such as [{\"name\": \"ls\", \"description\": \"list files\", \"parameters\": \
        {\"type\": \"object\", \"properties\": {}}}]";
    let value = json(file, HINT)?;
    let list = value.get("tools").unwrap_or(&value).as_array().filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| wrong(file, "no list of tools", HINT))?;
    let read =
        |(item, number)| tool(item).ok_or_else(|| wrong(file, &format!("no tool in place {number}"), HINT));
    list.iter().zip(1..).map(read).collect()
}

fn tool(value: &Value) -> Option<Tool> {
    let function = value.get("function").unwrap_or(value);
    let description = function.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let parameters = function.get("parameters").or_else(|| function.get("input_schema"));
    let empty = || serde_json::json!({"type": "object", "properties": {}});
    Some(Tool {
        name: function.get("name")?.as_str()?.to_owned(),
        description,
        parameters: parameters.cloned().filter(Value::is_object).unwrap_or_else(empty),
    })
}

/// `auto`, `none`, `required`, or the name of a tool.
pub(super) fn tool_choice(text: &str, tools: &[Tool]) -> Result<ToolChoice, Failure> {
    Ok(match text {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "required" => ToolChoice::Required,
        name if tools.iter().any(|tool| tool.name == name) => ToolChoice::Named(name.to_owned()),
        name => {
            let names = tools.iter().map(|tool| tool.name.as_str()).chain(["auto", "none", "required"]);
            let nearest = podium_types::nearest::nearest(name, names);
            let hint = nearest.map_or_else(
                || "write auto, none, required, or the name of a tool of --tools".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            return Err(Failure::usage(format!("there is no tool `{name}` to be chosen")).hint(hint));
        }
    })
}

/// A temperature: what JSON cannot write, nobody can be asked for.
pub(super) fn temperature(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "write a number such as 0.7".to_owned())
}

/// A reasoning effort.
pub(super) fn effort(text: &str) -> Result<Effort, String> {
    serde_json::from_value(Value::String(text.to_owned()))
        .map_err(|_| "write minimal, low, medium or high".to_owned())
}

fn json(file: &Path, hint: &str) -> Result<Value, Failure> {
    let text = read(file, hint)?;
    serde_json::from_str(&text).map_err(|error| wrong(file, &format!("no JSON: {error}"), hint))
}

fn read(file: &Path, hint: &str) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("could not read {}: {error}", file.display())).hint(hint))
}

fn wrong(file: &Path, what: &str, hint: &str) -> Failure {
    Failure::usage(format!("{} holds {what}", file.display())).hint(hint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_in_openais_shape() {
        let call = json!({"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}});
        let mut turn = Message::text(Speaker::Assistant, "");
        turn.tool_calls = vec![ToolCall { id: "a".into(), name: "ls".into(), arguments: "{}".into() }];
        let mut result = Message::text(Speaker::Tool, "x.csv");
        result.tool_call_id = Some("a".into());
        for (value, expected) in [
            (json!({"role": "developer", "content": "brief"}), Some(Message::text(Speaker::System, "brief"))),
            (
                json!({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
                Some(Message::text(Speaker::User, "ab")),
            ),
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), Some(turn)),
            (json!({"role": "tool", "content": "x.csv", "tool_call_id": "a"}), Some(result)),
            (json!({"role": "tool", "content": "x.csv"}), None),
            (json!({"role": "user", "content": [{"type": "image_url"}]}), None),
            (json!({"role": "user", "content": null}), None),
            (json!({"role": "king", "content": "x"}), None),
            (json!({"content": "x"}), None),
            (json!(7), None),
        ] {
            assert_eq!(message(&value), expected, "{value}");
        }
    }

    #[test]
    fn tools_in_both_shapes() {
        let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        let bare = json!({"name": "ls", "description": "list", "parameters": parameters});
        let expected = Tool { name: "ls".into(), description: "list".into(), parameters };
        assert_eq!(tool(&bare), Some(expected.clone()));
        assert_eq!(tool(&json!({"type": "function", "function": bare})), Some(expected.clone()));
        assert_eq!(tool(&json!({"description": "nameless"})), None);
        assert_eq!(
            tool_choice("ls", std::slice::from_ref(&expected)).unwrap(),
            ToolChoice::Named("ls".into())
        );
        assert_eq!(tool_choice("required", &[]).unwrap(), ToolChoice::Required);
        assert!(tool_choice("rm", &[]).is_err());
        for text in ["nan", "inf", "-1", "1e999", "hot"] {
            assert!(temperature(text).is_err(), "{text}");
        }
        assert_eq!(temperature("0.7"), Ok(0.7));
    }
}
