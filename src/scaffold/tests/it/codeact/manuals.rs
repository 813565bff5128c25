//! What tools say of themselves: every parameter of every tool is explained, and nothing else is; the schemas and the
//! first messages of each scaffold are snapshots.

use serde_json::{Value, json};

use super::{NATIVE, TAGS, TEXT, load};
use crate::support::{budget, task};

#[test]
fn every_parameter_is_explained() {
    let (_, request) = load(NATIVE, &[]).first_call(&task(), &budget(), "x").unwrap().unwrap();
    assert_eq!(request.tools.len(), 6);
    for tool in &request.tools {
        assert!(!tool.description.is_empty() && !tool.description.contains("Parameters:"), "{}", tool.name);
        for (name, property) in tool.parameters["properties"].as_object().unwrap() {
            assert!(
                property["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{} {name}",
                tool.name
            );
        }
    }
    let tools: Vec<Value> = request.tools.iter().map(|tool| json!(tool)).collect();
    insta::with_settings!({omit_expression => true}, { insta::assert_json_snapshot!("tools", tools) });
}

#[test]
fn the_first_messages_of_each_scaffold() {
    for (name, file) in [("native", NATIVE), ("text", TEXT), ("tags", TAGS)] {
        let (role, request) =
            load(file, &[]).first_call(&task(), &budget(), "input/\n  train.csv (90 rows)").unwrap().unwrap();
        assert_eq!(role, "code");
        insta::with_settings!({omit_expression => true}, {
            insta::assert_snapshot!(format!("opening_{name}"), super::world::shown(&request));
        });
    }
}

#[test]
fn wrong_tables_say_where_and_what() {
    let error = |from: &str, to: &str| {
        assert!(NATIVE.contains(from), "{from}");
        let file = NATIVE.replacen(from, to, 1);
        let loaded = podium_scaffold::Scaffold::load(&file, crate::support::prompts(), &[]);
        loaded.map(|_| ()).unwrap_err().to_string()
    };
    let tool = "[[tool]]\nname = \"think\"";
    let messages = [
        error("name = \"think\"", "name = \"thnk\""),
        error("name = \"think\"", "name = \"finish\""),
        error("name = \"finish\"", "name = \"think\""),
        error("name = \"think\"", "name = \"a b\""),
        error("tools/think", "tools/thinks"),
        error("format = \"native\"", "format = \"codeact-tags\""),
        error("format = \"native\"", "format = \"xml\""),
        error("keep_first = 2", "keep_first = 120"),
        error("keep_recent = 0.5", "keep_recent = 1.5"),
        error("alternating = 6", "alternating = 2"),
        error("role = \"fast\"", "role = \"slow\""),
        error("undo = 10", "undos = 10"),
        error(tool, &format!("{tool}\ncommand = {{ argv = [\"ls\"] }}")),
        error(tool, "[[tool]]\nname = \"mine\"\ncommand = { argv = [] }"),
    ];
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(messages.join("\n")) });
}
