//! How tools, calls and results are written for a model without tools. `read` reads the same form.

use std::collections::BTreeMap;

use podium_types::chat::{ChatRequest, Message, Speaker, Tool, ToolCall, ToolChoice};
use serde_json::{Map, Value, json};

use crate::wording::ToolWording;

/// Begins a call.
pub(super) const OPEN: &str = "<tool_call>";
/// Ends a call.
pub(super) const CLOSE: &str = "</tool_call>";

/// Most stop texts that every server takes.
const STOPS: usize = 4;

/// Takes the tools out of `request` and writes them into its messages. True when calls may come as text.
pub(crate) fn as_text(request: &mut ChatRequest, wording: &ToolWording) -> bool {
    request.messages = messages(std::mem::take(&mut request.messages));
    let choice = std::mem::take(&mut request.tool_choice);
    let one_call = std::mem::take(&mut request.one_tool_call);
    let tools = std::mem::take(&mut request.tools);
    if tools.is_empty() || choice == ToolChoice::None {
        return false;
    }
    let mut told = wording.tools_as_text.trim_end().replace("{{ tools }}", &definitions(&tools));
    if one_call {
        told.extend(["\n\n", wording.one_call.trim_end()]);
        if request.stop.len() < STOPS {
            request.stop.push(CLOSE.to_owned());
        }
    }
    tell_at_the_head(&mut request.messages, told);
    if choice.demands_call() {
        demand(&mut request.messages, &allowed(&tools, &choice), wording);
    }
    true
}

/// Demands a call of one of `tools` in words.
pub(crate) fn demand(messages: &mut Vec<Message>, tools: &[&Tool], wording: &ToolWording) {
    let text = wording.demand.trim_end().replace("{{ names }}", &names(tools));
    tell_at_the_end(messages, &text);
}

/// The tools that `choice` lets be called.
pub(crate) fn allowed<'a>(tools: &'a [Tool], choice: &ToolChoice) -> Vec<&'a Tool> {
    match choice {
        ToolChoice::None => Vec::new(),
        ToolChoice::Auto | ToolChoice::Required => tools.iter().collect(),
        ToolChoice::Named(name) => tools.iter().filter(|tool| tool.name == *name).collect(),
    }
}

/// Their names, in a row.
pub(super) fn names(tools: &[&Tool]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    names.join(", ")
}

/// One line of JSON for each tool.
pub(super) fn definitions<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> String {
    let line = |tool: &Tool| {
        json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}).to_string()
    };
    let lines: Vec<String> = tools.into_iter().map(line).collect();
    lines.join("\n")
}

/// A call as text. Arguments that are no JSON object stand in it as a JSON string, so that `read` finds them unchanged.
pub(super) fn call(call: &ToolCall) -> String {
    let name = Value::from(call.name.as_str());
    let arguments = match serde_json::from_str::<Map<String, Value>>(&call.arguments) {
        Ok(arguments) => Value::Object(arguments),
        Err(_) => Value::from(call.arguments.as_str()),
    };
    format!("{OPEN}\n{{\"name\": {name}, \"arguments\": {arguments}}}\n{CLOSE}")
}

fn result(name: &str, content: &str) -> String {
    format!("<tool_result name=\"{name}\">\n{content}\n</tool_result>")
}

/// The conversation with its calls and results as text. What comes to the model in a row is one message: many
/// templates of models without tools let user and assistant only take turns.
pub(super) fn messages(messages: Vec<Message>) -> Vec<Message> {
    let mut called: BTreeMap<String, String> = BTreeMap::new();
    let mut shown: Vec<Message> = Vec::new();
    let mut after_result = false;
    for mut message in messages {
        // It speaks of calls that the provider no longer sees as such.
        message.provider_state = None;
        let is_result = message.role == Speaker::Tool;
        for made in std::mem::take(&mut message.tool_calls) {
            let separator = if message.content.is_empty() { "" } else { "\n\n" };
            message.content.extend([separator, &call(&made)]);
            called.insert(made.id, made.name);
        }
        if is_result {
            let name = message.tool_call_id.take().and_then(|id| called.get(&id).cloned());
            message.role = Speaker::User;
            message.content = result(&name.unwrap_or_default(), &message.content);
        }
        match shown.last_mut().filter(|_| after_result && message.role == Speaker::User) {
            Some(last) => last.content.extend(["\n\n", &message.content]),
            None => shown.push(message),
        }
        after_result = is_result;
    }
    shown
}

/// Adds `text` to the first system message, where it stays in place from turn to turn and can be cached.
fn tell_at_the_head(messages: &mut Vec<Message>, text: String) {
    match messages.iter_mut().find(|message| message.role == Speaker::System) {
        Some(system) => system.content.extend(["\n\n", &text]),
        None => messages.insert(0, Message::text(Speaker::System, text)),
    }
}

/// Adds `text` to the last message of the user.
pub(crate) fn tell_at_the_end(messages: &mut Vec<Message>, text: &str) {
    match messages.iter_mut().rfind(|message| message.role == Speaker::User) {
        Some(message) => message.content.extend(["\n\n", text]),
        None => messages.push(Message::text(Speaker::User, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn calls_and_results_are_shown_in_one_form() {
        let mut turn = Message::text(Speaker::Assistant, "I look.");
        turn.provider_state = Some(Box::new(json!("signed")));
        turn.tool_calls = vec![made("a", "ls", r#"{"path":"."}"#), made("b", "ls", "{broken")];
        let result = |id: &str, content: &str| Message {
            tool_call_id: Some(id.into()),
            ..Message::text(Speaker::Tool, content)
        };
        let conversation =
            vec![turn, result("a", "x.csv"), result("?", "no"), Message::text(Speaker::User, "on")];
        let expected = vec![
            Message::text(
                Speaker::Assistant,
                "I look.\n\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\":\".\"}}\n</tool_call>\n\n\
                 <tool_call>\n{\"name\": \"ls\", \"arguments\": \"{broken\"}\n</tool_call>",
            ),
            Message::text(
                Speaker::User,
                "<tool_result name=\"ls\">\nx.csv\n</tool_result>\n\n<tool_result name=\"\">\nno\n</tool_result>\n\non",
            ),
        ];
        assert_eq!(messages(conversation), expected);
    }

    #[test]
    fn definitions_and_demands_stand_where_they_are_read() {
        let tool =
            Tool { name: "ls".into(), description: "lists".into(), parameters: json!({"type": "object"}) };
        let wording = ToolWording {
            tools_as_text: "T {{ tools }}\n".into(),
            one_call: "one\n".into(),
            demand: "D {{ names }}\n".into(),
            ..ToolWording::default()
        };
        let given = ChatRequest {
            messages: vec![Message::text(Speaker::System, "s"), Message::text(Speaker::User, "u")],
            tools: vec![tool.clone(), Tool { name: "rm".into(), ..tool }],
            tool_choice: ToolChoice::Named("rm".into()),
            one_tool_call: true,
            ..ChatRequest::default()
        };
        let mut request = given.clone();
        assert!(as_text(&mut request, &wording));
        let line =
            |name| format!(r#"{{"description":"lists","name":"{name}","parameters":{{"type":"object"}}}}"#);
        let system = format!("s\n\nT {}\n{}\n\none", line("ls"), line("rm"));
        let messages =
            vec![Message::text(Speaker::System, system), Message::text(Speaker::User, "u\n\nD `rm`")];
        assert_eq!(request, ChatRequest { messages, stop: vec![CLOSE.into()], ..ChatRequest::default() });
        let mut none = ChatRequest { tool_choice: ToolChoice::None, ..given.clone() };
        assert!(!as_text(&mut none, &wording));
        assert_eq!(none, ChatRequest { messages: given.messages, ..ChatRequest::default() });
    }
}
