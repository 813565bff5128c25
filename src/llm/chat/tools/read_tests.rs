//! Answers as models write them, and as nobody would.

use podium_types::chat::ToolCall;
use proptest::prelude::*;
use serde_json::json;

use super::super::form;
use super::*;

fn written(name: &str, arguments: &str) -> Written {
    Written { name: name.into(), arguments: arguments.into() }
}

#[test]
fn calls_are_found_in_every_manner_of_writing() {
    let ls = || written("ls", r#"{"path":"."}"#);
    let table = [
        ("<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}\n</tool_call>", "", vec![ls()]),
        (
            "I look.\n<tool_call>{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}</tool_call> Done.",
            "I look.\n Done.",
            vec![ls()],
        ),
        ("<tool_call>{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}", "", vec![ls()]),
        (
            "<tool_call>{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}} and so on",
            "and so on",
            vec![ls()],
        ),
        (
            "See:\n```json\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}\n</tool_call>\n```",
            "See:",
            vec![ls()],
        ),
        (
            "<tool_call>\n```json\n{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}\n```\n</tool_call>",
            "",
            vec![ls()],
        ),
        ("<tool_call>{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}}</tool_call>", "", vec![ls()]),
        (
            "<tool_call>{\"name\": \"ls\", \"parameters\": \"{\\\"path\\\":\\\".\\\"}\"}</tool_call>",
            "",
            vec![ls()],
        ),
        (
            "<tool_call>{\"type\": \"function\", \"function\": {\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}}</tool_call>",
            "",
            vec![ls()],
        ),
        ("<tool_call>{\"tool\": \"ls\", \"path\": \".\"}</tool_call>", "", vec![ls()]),
        (
            "<tool_call>[{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}, {\"name\": \"nobody\"}]</tool_call>",
            "",
            vec![ls(), written("nobody", "{}")],
        ),
        (
            "<tool_call>{\"name\": \"a\"}\n{\"name\": \"b\"}</tool_call><tool_call>{\"name\": \"c\"}</tool_call>",
            "",
            vec![written("a", "{}"), written("b", "{}"), written("c", "{}")],
        ),
        (
            "<tool_call>{\"name\": \"say\", \"arguments\": {\"text\": \"</tool_call> <tool_call>\"}}</tool_call>!",
            "!",
            vec![written("say", r#"{"text":"</tool_call> <tool_call>"}"#)],
        ),
        (
            "<tool_call>{\"name\": \"run\", \"arguments\": {\"code\": \"a\n\tb\"}}</tool_call>",
            "",
            vec![written("run", r#"{"code":"a\n\tb"}"#)],
        ),
        (
            "<tool_call>{\"name\": \"ls\", \"arguments\": {\"path\": }}</tool_call> on",
            "on",
            vec![written("ls", "{\"path\": }")],
        ),
        (
            "<tool_call>{\"name\": \"ls\", \"arguments\": {\"path\": \"/da",
            "",
            vec![written("ls", "{\"path\": \"/da")],
        ),
        (
            "Write <tool_call> tags! <tool_call>{\"name\": \"a\"}</tool_call>",
            "Write <tool_call> tags!",
            vec![written("a", "{}")],
        ),
    ];
    for (content, text, calls) in table {
        assert_eq!(tagged(content), Some(Found { text: text.into(), calls }), "{content}");
    }
}

#[test]
fn what_is_no_call_stays_text() {
    for content in [
        "",
        "no tools here",
        "a call begins with <tool_call> and ends with </tool_call>",
        "print(\"<tool_call>\")",
        "<tool_call>{\"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": 3}</tool_call>",
        "<tool_call>[1, 2]</tool_call>",
        "{\"name\": \"ls\", \"arguments\": {}}",
    ] {
        assert_eq!(tagged(content), None, "{content}");
    }
}

#[test]
fn plain_json_counts_where_a_call_was_demanded() {
    let tool = |name: &str| Tool {
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    };
    let (ls, rm) = (tool("ls"), tool("rm"));
    let call = vec![written("ls", r#"{"path":"."}"#)];
    let table = [
        (r#"{"name": "ls", "arguments": {"path": "."}}"#, vec![&ls, &rm], call.clone()),
        (
            "Sure:\n```json\n{\"tool\": \"ls\", \"args\": {\"path\": \".\"}}\n```",
            vec![&ls, &rm],
            call.clone(),
        ),
        (r#"{"path": "."}"#, vec![&ls], call),
        (r#"{"path": "."}"#, vec![&ls, &rm], Vec::new()),
        (r#"{"path": 3}"#, vec![&ls], Vec::new()),
        (r#"{"path": ".", "more": 1}"#, vec![&ls], Vec::new()),
        (r#"{"name": "nobody", "arguments": {}}"#, vec![&ls, &rm], Vec::new()),
        ("ls(path)", vec![&ls], Vec::new()),
    ];
    for (content, tools, calls) in table {
        assert_eq!(plain(content, &tools), calls, "{content}");
    }
}

/// Each opening looks at the rest of the text: that must end.
#[test]
fn endless_openings_take_no_endless_time() {
    let content = "<tool_call>{\"a".repeat(100_000);
    assert_eq!(tagged(&content), None);
    assert_eq!(plain(&content, &[]), Vec::new());
}

fn any_answer() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<tool_call>".to_owned()),
        Just("</tool_call>".to_owned()),
        Just("```json\n".to_owned()),
        Just("```".to_owned()),
        Just("{\"name\": \"ls\"".to_owned()),
        Just(", \"arguments\": {".to_owned()),
        Just("}".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("é\n".to_owned()),
        ".{0,6}",
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_panics(content in any_answer()) {
        let _ = (tagged(&content), plain(&content, &[]));
    }

    #[test]
    fn what_is_written_is_read_again(name in "[a-z_]{1,8}", path in any::<String>(), broken in any_answer()) {
        for arguments in [json!({"path": path, "n": [1, null]}).to_string(), broken] {
            let call = ToolCall { id: "1".into(), name: name.clone(), arguments: arguments.clone() };
            let read = tagged(&format!("{}{}", form::call(&call), form::call(&call)));
            let written = match serde_json::from_str::<serde_json::Map<String, Value>>(&arguments) {
                Ok(object) => Value::Object(object).to_string(),
                Err(_) => arguments,
            };
            let call = Written { name: name.clone(), arguments: written };
            prop_assert_eq!(read, Some(Found { text: String::new(), calls: vec![call.clone(), call] }));
        }
    }
}
