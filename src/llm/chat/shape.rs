//! Cuts a request to what a model takes: by the catalog, and by what its server has refused before.
//!
//! Each missing ability has one known substitute: no schema → the schema in the prompt; a schema that is
//! refused → the same without strictness, then in the prompt; no system role → its text in the first user message; no
//! tools → definitions, calls and results as text; no tool choice → a demand in words; the rest is left out. The answer's checks
//! (document, stop texts) do not depend on it, so the caller gets the same typed result.

use podium_types::chat::{ChatRequest, Message, OutputSchema, Speaker, ToolChoice};

use super::tools;
use crate::catalog::{ModelFacts, Thinking};
use crate::provider::{Parameter, Without};
use crate::settings::Settings;
use crate::wording::ToolWording;

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
        settings: &Settings,
    ) -> Self {
        let without = all_missing(facts, missing);
        let lacks = |parameter| without.contains(&parameter);
        let mut request = request.clone();
        request.temperature = request.temperature.filter(|_| !lacks(Parameter::Temperature));
        request.seed = request.seed.filter(|_| !lacks(Parameter::Seed));
        let effort = request.effort.filter(|_| !lacks(Parameter::Effort));
        request.effort = effort.map(|effort| effort.max(facts.least_effort));
        request.top_logprobs = request.top_logprobs.filter(|_| !lacks(Parameter::Logprobs));
        let calls_as_text = shape_tools(&mut request, facts, &without, &settings.tool_wording);
        if lacks(Parameter::Stop) {
            request.stop.clear();
        }
        // An enforced schema leaves no room for a call in the text.
        if (lacks(Parameter::Schema) || calls_as_text)
            && let Some(output) = request.output.take()
        {
            let text = with_schema(&settings.schema_instruction, &output);
            tools::tell_at_the_end(&mut request.messages, &text);
        }
        if let Some(output) = &mut request.output {
            output.strict &= !lacks(Parameter::StrictSchema);
        }
        if !facts.system_role {
            request.messages = without_system(request.messages);
        }
        Self { request, without }
    }
}

/// True when the model writes its calls as text.
fn shape_tools(
    request: &mut ChatRequest,
    facts: &ModelFacts,
    without: &Without,
    wording: &ToolWording,
) -> bool {
    let no_choice = without.contains(&Parameter::ToolChoice);
    let forbidden = no_choice && request.tool_choice == ToolChoice::None;
    if forbidden || without.contains(&Parameter::Tools) {
        return tools::as_text(request, wording);
    }
    request.one_tool_call &= !without.contains(&Parameter::OneToolCall);
    // A model that cannot be told not to think takes every choice but a demand.
    if no_choice || facts.thinking == Thinking::Always && request.tool_choice.demands_call() {
        let choice = std::mem::take(&mut request.tool_choice);
        if choice.demands_call() && !request.tools.is_empty() {
            let ChatRequest { messages, tools, .. } = request;
            tools::demand(messages, &tools::allowed(tools, &choice), wording);
        }
    }
    false
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
        let shaped = Shaped::new(&request(), &ModelFacts::default(), Without::new(), &Settings::default());
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
        let wording = ToolWording { tools_as_text: "use {{ tools }}".into(), ..ToolWording::default() };
        let settings = Settings {
            schema_instruction: "as {{ schema }}\n".into(),
            tool_wording: wording,
            ..Settings::default()
        };
        let shaped = Shaped::new(&request(), &facts, Without::new(), &settings).request;
        let call = "<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\":\".\"}}\n</tool_call>";
        let result = "<tool_result name=\"ls\">\ntrain.csv\n</tool_result>";
        let expected = ChatRequest {
            messages: vec![
                Message::text(
                    Speaker::User,
                    "be brief\n\nuse {\"description\":\"\",\"name\":\"ls\",\"parameters\":{}}\n\nlook",
                ),
                Message::text(Speaker::Assistant, call),
                Message::text(Speaker::User, format!("{result}\n\nas {{\n  \"type\": \"object\"\n}}")),
            ],
            ..ChatRequest::default()
        };
        assert_eq!(shaped, expected);
    }

    #[test]
    fn what_a_server_refused_is_left_out() {
        let learnt = Without::from([Parameter::Temperature]);
        let shaped = Shaped::new(&request(), &ModelFacts::default(), learnt, &Settings::default());
        assert_eq!(shaped.request, ChatRequest { temperature: None, ..request() });
    }

    #[test]
    fn a_tool_choice_that_is_not_taken_becomes_words() {
        let facts = ModelFacts { tool_choice: false, ..ModelFacts::default() };
        let shaped = |tool_choice| {
            let request = ChatRequest { tool_choice, ..request() };
            Shaped::new(&request, &facts, Without::new(), &Settings::default()).request
        };
        let demanded = shaped(ToolChoice::Required);
        assert_eq!((&demanded.tools, &demanded.tool_choice), (&request().tools, &ToolChoice::Auto));
        assert!(demanded.messages[1].content.contains("`ls`"), "{:?}", demanded.messages);
        assert!(shaped(ToolChoice::None).tools.is_empty());
    }

    #[test]
    fn a_model_that_always_thinks_takes_every_choice_but_a_demand() {
        let facts = ModelFacts { thinking: Thinking::Always, ..ModelFacts::default() };
        for (choice, sent) in [
            (ToolChoice::Auto, ToolChoice::Auto),
            (ToolChoice::None, ToolChoice::None),
            (ToolChoice::Required, ToolChoice::Auto),
            (ToolChoice::Named("ls".into()), ToolChoice::Auto),
        ] {
            let request = ChatRequest { tool_choice: choice.clone(), ..request() };
            let shaped = Shaped::new(&request, &facts, Without::new(), &Settings::default()).request;
            assert_eq!((&shaped.tools, shaped.tool_choice), (&request.tools, sent), "{choice:?}");
            assert_eq!(shaped.messages[1].content.contains("`ls`"), choice.demands_call(), "{choice:?}");
        }
    }

    #[test]
    fn a_refused_schema_loses_its_strictness_first() {
        let strict = |missing: Without| {
            let shaped = Shaped::new(&request(), &ModelFacts::default(), missing, &Settings::default());
            shaped.request.output.map(|output| output.strict)
        };
        assert_eq!(strict(Without::new()), Some(true));
        assert_eq!(strict(Without::from([Parameter::StrictSchema])), Some(false));
        assert_eq!(strict(Without::from([Parameter::StrictSchema, Parameter::Schema])), None);
    }
}
