//! The protocol, case by case: what is read of a request, what is refused, and what an answer looks like.

use std::collections::BTreeMap;

use podium_types::chat::{
    ChatAnswer, ChatRequest, Effort, FinishReason, Message, OutputSchema, Speaker, Tool, ToolCall, ToolChoice,
};
use podium_types::usage::Usage;
use serde_json::{Value, json};

use super::{Wanted, answer, question, responses};

fn models() -> BTreeMap<String, String> {
    [("code", "code"), ("gpt-4o", "fast")].map(|(name, role)| (name.to_owned(), role.to_owned())).into()
}

fn read(body: &Value) -> Result<Wanted, String> {
    question::read(body.to_string().as_bytes(), &models()).map_err(|refusal| refusal.message)
}

fn respond(body: &Value) -> Result<Wanted, String> {
    responses::read(body.to_string().as_bytes(), &models()).map_err(|refusal| refusal.message)
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "bash".to_owned(), arguments: "{\"command\":\"ls\"}".to_owned() }
}

/// The conversation that both protocols tell in the tests: a call, and what came of it.
fn conversation() -> Vec<Message> {
    let assistant = Message { tool_calls: vec![call("c1")], ..Message::text(Speaker::Assistant, "I look.") };
    let result = Message { tool_call_id: Some("c1".to_owned()), ..Message::text(Speaker::Tool, "a.csv") };
    vec![
        Message::text(Speaker::System, "Be brief."),
        Message::text(Speaker::User, "one two"),
        assistant,
        result,
    ]
}

fn tool() -> Tool {
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    Tool { name: "bash".to_owned(), description: "runs".to_owned(), parameters }
}

#[test]
fn a_whole_request_is_read_in_either_protocol() {
    let schema = json!({"type": "object", "properties": {"x": {"type": "number"}}});
    let wanted = ChatRequest {
        messages: conversation(),
        tools: vec![tool()],
        tool_choice: ToolChoice::Named("bash".to_owned()),
        one_tool_call: true,
        output: Some(OutputSchema { name: "o".to_owned(), schema: schema.clone(), strict: true }),
        temperature: Some(0.5),
        max_output_tokens: Some(100),
        effort: Some(Effort::Low),
        ..ChatRequest::default()
    };
    let tool = tool();
    let function =
        json!({"name": "bash", "description": "runs", "parameters": tool.parameters, "strict": false});
    let body = json!({
        "model": "gpt-4o", "stream": true, "stream_options": {"include_usage": true}, "user": "u", "seed": 7,
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "name": "n", "content": [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]},
            {"role": "assistant", "content": "I look.", "refusal": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "a.csv"},
        ],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "bash"}}, "parallel_tool_calls": false,
        "response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": schema, "strict": true}},
        "stop": null, "temperature": 0.5, "max_tokens": 100, "reasoning_effort": "low", "n": 1, "logprobs": false,
    });
    let got = read(&body).unwrap();
    assert_eq!((&got.question.request, got.question.role.as_str()), (&wanted, "fast"));
    assert!(got.form.stream && got.form.usage && got.form.model == "gpt-4o");

    let body = json!({
        "model": "code", "instructions": "Be brief.", "store": false, "include": ["reasoning.encrypted_content"],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "one two"}]},
            {"type": "reasoning", "id": "r", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{\"command\":\"ls\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "a.csv"},
        ],
        "tools": [{"type": "function", "name": "bash", "description": "runs", "parameters": tool.parameters}],
        "tool_choice": {"type": "function", "name": "bash"}, "parallel_tool_calls": false,
        "text": {"format": {"type": "json_schema", "name": "o", "schema": schema, "strict": true}},
        "temperature": 0.5, "max_output_tokens": 100, "reasoning": {"effort": "low"},
    });
    assert_eq!(respond(&body).unwrap().question.request, wanted);
    let plain = respond(&json!({"model": "code", "input": "hello"})).unwrap().question.request;
    assert_eq!(plain.messages, [Message::text(Speaker::User, "hello")]);
}

#[test]
fn what_cannot_be_had_is_refused_with_what_to_mend() {
    let message = json!([{"role": "user", "content": "x"}]);
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "code", "messages": message});
        body[name] = value;
        body
    };
    for (body, words) in [
        (json!({"messages": message}), "`model` must be a text"),
        (
            with("model", json!("o3")),
            "there is no model `o3` here; names are code, gpt-4o; see agent.aliases",
        ),
        (json!({"model": "code"}), "at least one message"),
        (with("messages", json!(["x"])), "each of `messages` must be an object"),
        (with("messages", json!([{"role": "user", "content": 3}])), "must be a text, or a list of parts"),
        (with("messages", json!([{"role": "tool", "content": "x"}])), "`tool_call_id`"),
        (with("messages", json!([{"role": "assistant", "tool_calls": [{"id": "c"}]}])), "`function`"),
        (with("n", json!(2)), "`n` must be 1"),
        (with("functions", json!([])), "use `tools`"),
        (with("logprobs", json!(true)), "`logprobs`"),
        (with("stop", json!(vec!["x"; 17])), "`stop`"),
        (with("stream", json!("yes")), "`stream` must be true or false"),
        (with("temperature", json!(3)), "`temperature`"),
        (with("max_tokens", json!(0)), "`max_tokens`"),
        (with("tools", json!([{"type": "web_search"}])), "must be a function"),
        (with("tool_choice", json!("any")), "`tool_choice`"),
        (with("response_format", json!({"type": "xml"})), "the format of the answer"),
        (with("reasoning_effort", json!("huge")), "effort"),
    ] {
        let refused = read(&body).unwrap_err();
        assert!(refused.contains(words), "{refused}: {body}");
    }
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "code", "input": "x"});
        body[name] = value;
        body
    };
    for (body, words) in [
        (with("input", json!([])), "`input`"),
        (with("input", json!([{"type": "item_reference", "id": "x"}])), "item_reference"),
        (with("previous_response_id", json!("r")), "send the whole conversation"),
        (with("background", json!(true)), "`background`"),
        (with("tools", json!([{"type": "web_search"}])), "must be a function"),
    ] {
        let refused = respond(&body).unwrap_err();
        assert!(refused.contains(words), "{refused}: {body}");
    }
}

fn with_calls() -> ChatAnswer {
    ChatAnswer {
        content: "I look.".to_owned(),
        reasoning: None,
        tool_calls: vec![call("c1"), call("c2")],
        document: None,
        logprobs: Vec::new(),
        finish: FinishReason::ToolCalls,
        usage: Usage { input_tokens: 5, output_tokens: 3, ..Usage::NOTHING },
        model: "m".to_owned(),
        provider_state: None,
    }
}

fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[test]
fn an_answer_says_the_same_whole_and_in_pieces() {
    let body = |stream: bool| {
        let options = json!({"include_usage": true});
        json!({"model": "code", "messages": [{"role": "user", "content": "x"}], "stream": stream, "stream_options": options})
    };
    let told = with_calls();
    let write = |stream| answer::write(&read(&body(stream)).unwrap().form, 4, &told);
    let whole: Value = serde_json::from_str(&write(false).body).unwrap();
    let message = &whole["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &whole["choices"][0]["finish_reason"]),
        (&json!("I look."), &json!("tool_calls"))
    );
    assert_eq!((&whole["model"], &whole["usage"]["total_tokens"]), (&json!("code"), &json!(8)));
    let streamed = write(true);
    assert_eq!(streamed.kind, "text/event-stream");
    assert!(streamed.body.ends_with("data: [DONE]\n\n"));
    let chunks = events(&streamed.body);
    let deltas = chunks.iter().filter_map(|chunk| chunk["choices"].get(0)).map(|choice| &choice["delta"]);
    let words: String = deltas.clone().filter_map(|delta| delta["content"].as_str()).collect();
    let calls: Vec<Value> = deltas.filter_map(|delta| delta["tool_calls"].get(0)).cloned().collect();
    assert_eq!(words, "I look.");
    assert_eq!((calls.len(), &calls[1]["index"], &calls[1]["id"]), (2, &json!(1), &json!("c2")));
    assert_eq!(calls[0]["function"], message["tool_calls"][0]["function"]);
    assert_eq!(chunks.last().unwrap()["usage"], whole["usage"]);

    let body = |stream: bool| json!({"model": "code", "input": "x", "stream": stream});
    let write = |stream| answer::write(&respond(&body(stream)).unwrap().form, 4, &told).body;
    let whole: Value = serde_json::from_str(&write(false)).unwrap();
    assert_eq!(whole["output"].as_array().unwrap().len(), 3);
    assert_eq!((&whole["status"], &whole["output"][2]["call_id"]), (&json!("completed"), &json!("c2")));
    let events = events(&write(true));
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["response"]), (&json!("response.completed"), &whole));
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    assert_eq!(
        done.map(|event| event["item"].clone()).collect::<Vec<_>>(),
        *whole["output"].as_array().unwrap()
    );
    assert!(events.iter().enumerate().all(|(place, event)| event["sequence_number"] == place));

    let silent =
        ChatAnswer { content: String::new(), finish: FinishReason::Length, tool_calls: Vec::new(), ..told };
    let text = answer::write(
        &read(&json!({"model": "code", "messages": [{"role": "user"}]})).unwrap().form,
        0,
        &silent,
    );
    let whole: Value = serde_json::from_str(&text.body).unwrap();
    assert_eq!(whole["choices"][0]["message"]["content"], "");
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
}
