//! Cuts a request to what a model takes: by the catalog, and by what its server has refused before.
//!
//! Each missing ability has one known substitute: no schema → the schema in the prompt; no system role → its text in
//! the first user message; no tools → calls and results as plain text; the rest is left out. The answer's checks
//! (document, stop texts) do not depend on it, so the caller gets the same typed result.

use podium_types::chat::{ChatRequest, Message, OutputSchema, Speaker, ToolChoice};

use crate::catalog::ModelFacts;
use crate::provider::{Parameter, Without};

/// A request as a model takes it.
pub(crate) struct Shaped {
    pub(crate) request: ChatRequest,
    pub(crate) without: Without,
}

impl Shaped {
    pub(crate) fn new(
        request: &ChatRequest,
        facts: &ModelFacts,
        missing: Without,
        schema_instruction: &str,
    ) -> Self {
        let without = all_missing(facts, missing);
        let lacks = |parameter| without.contains(&parameter);
        let mut request = request.clone();
        request.temperature = request.temperature.filter(|_| !lacks(Parameter::Temperature));
        request.seed = request.seed.filter(|_| !lacks(Parameter::Seed));
        let effort = request.effort.filter(|_| !lacks(Parameter::Effort));
        request.effort = effort.map(|effort| effort.max(facts.least_effort));
        request.top_logprobs = request.top_logprobs.filter(|_| !lacks(Parameter::Logprobs));
        request.one_tool_call &= !lacks(Parameter::OneToolCall);
        if lacks(Parameter::ToolChoice) {
            request.tool_choice = ToolChoice::Auto;
        }
        if lacks(Parameter::Stop) {
            request.stop.clear();
        }
        if lacks(Parameter::Tools) {
            request.tools.clear();
            request.tool_choice = ToolChoice::Auto;
            request.one_tool_call = false;
            request.messages.iter_mut().for_each(tools_as_text);
        }
        if lacks(Parameter::Schema)
            && let Some(output) = request.output.take()
        {
            append_to_last_user(&mut request.messages, &with_schema(schema_instruction, &output));
        }
        if !facts.system_role {
            request.messages = without_system(request.messages);
        }
        Self { request, without }
    }
}

fn all_missing(facts: &ModelFacts, mut without: Without) -> Without {
    let abilities = [
        (facts.temperature, Parameter::Temperature),
        (facts.seed, Parameter::Seed),
        (facts.stop, Parameter::Stop),
        (facts.reasoning, Parameter::Effort),
        (facts.strict_schema, Parameter::Schema),
        (facts.tools, Parameter::Tools),
        (facts.tool_choice, Parameter::ToolChoice),
        (facts.parallel_tool_calls, Parameter::OneToolCall),
        (facts.logprobs, Parameter::Logprobs),
    ];
    without.extend(abilities.into_iter().filter(|(able, _)| !able).map(|(_, parameter)| parameter));
    without
}

/// The template with the schema filled in.
pub(crate) fn with_schema(template: &str, output: &OutputSchema) -> String {
    let schema = serde_json::to_string_pretty(&output.schema).unwrap_or_else(|_| output.schema.to_string());
    template.trim_end().replace("{{ schema }}", &schema)
}

fn append_to_last_user(messages: &mut Vec<Message>, text: &str) {
    match messages.iter_mut().rfind(|message| message.role == Speaker::User) {
        Some(message) => {
            message.content.push_str("\n\n");
            message.content.push_str(text);
        }
        None => messages.push(Message::text(Speaker::User, text)),
    }
}

fn without_system(messages: Vec<Message>) -> Vec<Message> {
    let (system, mut others): (Vec<_>, Vec<_>) =
        messages.into_iter().partition(|message| message.role == Speaker::System);
    let instructions: Vec<String> = system.into_iter().map(|message| message.content).collect();
    let instructions = instructions.join("\n\n");
    if instructions.is_empty() {
        return others;
    }
    match others.first_mut().filter(|message| message.role == Speaker::User) {
        Some(first) => first.content = format!("{instructions}\n\n{}", first.content),
        None => others.insert(0, Message::text(Speaker::User, instructions)),
    }
    others
}

fn tools_as_text(message: &mut Message) {
    // It speaks of calls that the provider no longer sees as such.
    message.provider_state = None;
    for call in std::mem::take(&mut message.tool_calls) {
        let separator = if message.content.is_empty() { "" } else { "\n\n" };
        message.content.extend([separator, &call.name, "(", &call.arguments, ")"]);
    }
    if message.role == Speaker::Tool {
        message.role = Speaker::User;
        message.tool_call_id = None;
    }
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Tool, ToolCall};
    use serde_json::json;

    use super::*;

    fn request() -> ChatRequest {
        let mut call = Message::text(Speaker::Assistant, "");
        call.tool_calls =
            vec![ToolCall { id: "1".into(), name: "ls".into(), arguments: r#"{"path":"."}"#.into() }];
        let mut result = Message::text(Speaker::Tool, "train.csv");
        result.tool_call_id = Some("1".into());
        ChatRequest {
            messages: vec![
                Message::text(Speaker::System, "be brief"),
                Message::text(Speaker::User, "look"),
                call,
                result,
            ],
            tools: vec![Tool { name: "ls".into(), description: String::new(), parameters: json!({}) }],
            output: Some(OutputSchema { name: "o".into(), schema: json!({"type": "object"}), strict: true }),
            stop: vec!["END".into()],
            temperature: Some(0.5),
            seed: Some(1),
            ..ChatRequest::default()
        }
    }

    #[test]
    fn a_model_that_takes_all_gets_all() {
        let shaped = Shaped::new(&request(), &ModelFacts::default(), Without::new(), "{{ schema }}");
        assert_eq!(shaped.request, request());
    }

    #[test]
    fn what_is_missing_has_a_substitute() {
        let facts = ModelFacts {
            temperature: false,
            seed: false,
            stop: false,
            system_role: false,
            strict_schema: false,
            tools: false,
            ..ModelFacts::default()
        };
        let shaped = Shaped::new(&request(), &facts, Without::new(), "as {{ schema }}\n").request;
        let expected = ChatRequest {
            messages: vec![
                Message::text(Speaker::User, "be brief\n\nlook"),
                Message::text(Speaker::Assistant, r#"ls({"path":"."})"#),
                Message::text(Speaker::User, "train.csv\n\nas {\n  \"type\": \"object\"\n}"),
            ],
            ..ChatRequest::default()
        };
        assert_eq!(shaped, expected);
    }

    #[test]
    fn what_a_server_refused_is_left_out() {
        let learnt = Without::from([Parameter::Temperature]);
        let shaped = Shaped::new(&request(), &ModelFacts::default(), learnt, "").request;
        assert_eq!(shaped, ChatRequest { temperature: None, ..request() });
    }
}
