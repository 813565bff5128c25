//! A demanded call as a JSON document, for a model that ignores tools but whose decoder enforces a schema: then even
//! a tiny model gives a typed call.

use podium_types::chat::{ChatRequest, OutputSchema, Tool, ToolChoice};
use serde_json::{Map, Value, json};

use super::form;
use crate::wording::ToolWording;

/// `request` as a request for the document; `None` where no one schema can say it.
pub(super) fn request(request: &ChatRequest, wording: &ToolWording) -> Option<ChatRequest> {
    let tools = form::allowed(&request.tools, &request.tool_choice);
    let schema = schema(&tools)?;
    let instruction = wording.document.trim_end();
    let instruction = instruction.replace("{{ tools }}", &form::definitions(tools.iter().copied()));
    let mut messages = form::messages(request.messages.clone());
    form::tell_at_the_end(&mut messages, &instruction);
    Some(ChatRequest {
        messages,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        one_tool_call: false,
        stop: Vec::new(),
        // The parameters of tools seldom keep to what strict modes demand.
        output: Some(OutputSchema { name: "tool_call".into(), schema, strict: false }),
        ..request.clone()
    })
}

/// One object for each tool, so that no name comes with the arguments of another tool.
fn schema(tools: &[&Tool]) -> Option<Value> {
    let mut shared = Map::new();
    let mut calls = Vec::new();
    for tool in tools {
        calls.push(json!({
            "type": "object",
            "properties": {"name": {"type": "string", "enum": [tool.name]}, "arguments": parameters(tool, &mut shared)?},
            "required": ["name", "arguments"],
            "additionalProperties": false,
        }));
    }
    let mut schema = match calls.len() {
        0 => return None,
        1 => calls.pop()?,
        _ => json!({"anyOf": calls}),
    };
    let root = schema.as_object_mut()?;
    root.extend(shared);
    Some(schema)
}

/// The tool's schema of parameters. Definitions move to the root, where references to them point; two tools that mean
/// different things by one name cannot share it.
fn parameters(tool: &Tool, shared: &mut Map<String, Value>) -> Option<Value> {
    let mut parameters = tool.parameters.clone();
    let Some(object) = parameters.as_object_mut() else { return Some(json!({"type": "object"})) };
    object.entry("type").or_insert_with(|| json!("object"));
    for key in ["$defs", "definitions"] {
        let Some(Value::Object(definitions)) = object.remove(key) else { continue };
        let all = shared.entry(key).or_insert_with(|| json!({})).as_object_mut()?;
        for (name, definition) in definitions {
            if *all.entry(name).or_insert_with(|| definition.clone()) != definition {
                return None;
            }
        }
    }
    Some(parameters)
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Message, Speaker};

    use super::*;

    fn tool(name: &str, parameters: Value) -> Tool {
        Tool { name: name.into(), description: "d".into(), parameters }
    }

    #[test]
    fn each_tool_has_its_own_object_and_references_still_hold() {
        let path = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"type": "string"}}});
        let given = ChatRequest {
            messages: vec![Message::text(Speaker::User, "go")],
            tools: vec![tool("ls", path), tool("stop", json!({}))],
            tool_choice: ToolChoice::Required,
            one_tool_call: true,
            stop: vec!["}".into()],
            seed: Some(3),
            ..ChatRequest::default()
        };
        let wording = ToolWording { document: "as {{ tools }}\n".into(), ..ToolWording::default() };
        let forced = request(&given, &wording).unwrap();
        let schema = forced.output.clone().unwrap().schema;
        let valid = |document: Value| jsonschema::validator_for(&schema).unwrap().is_valid(&document);
        assert!(valid(json!({"name": "ls", "arguments": {"p": "x"}})));
        assert!(valid(json!({"name": "stop", "arguments": {}})));
        assert!(!valid(json!({"name": "ls", "arguments": {"p": 1}})));
        assert!(!valid(json!({"name": "rm", "arguments": {}})));
        let expected = ChatRequest {
            messages: forced.messages.clone(),
            output: forced.output.clone(),
            seed: Some(3),
            ..ChatRequest::default()
        };
        assert_eq!(forced, expected);
        assert!(forced.messages[0].content.starts_with("go\n\nas {"));
        let named = ChatRequest { tool_choice: ToolChoice::Named("stop".into()), ..given.clone() };
        let schema = request(&named, &wording).unwrap().output.unwrap().schema;
        assert_eq!(schema["properties"]["name"]["enum"], json!(["stop"]));
        let unknown = ChatRequest { tool_choice: ToolChoice::Named("rm".into()), ..given };
        assert_eq!(request(&unknown, &wording), None);
    }

    #[test]
    fn two_meanings_of_one_name_have_no_common_schema() {
        let with = |kind: &str| json!({"$defs": {"p": {"type": kind}}});
        let (one, same, other) =
            (tool("a", with("string")), tool("b", with("string")), tool("c", with("number")));
        assert!(schema(&[&one, &same]).is_some());
        assert_eq!(schema(&[&one, &other]), None);
    }
}
