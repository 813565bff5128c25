//! How answers are read: committed cases of every kind, and real answers where the folder is at hand.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use podium_scaffold::{AnswerStatus, ParsedAnswer};
use serde_json::{Value, json};

use super::{NATIVE, load};

fn parse(text: &str, format: &str) -> ParsedAnswer {
    load(NATIVE, &[]).parse_answer(text, Some(format))
}

macro_rules! cases {
    ($format:literal: $($name:literal),* $(,)?) => {
        [$(($format, $name, include_str!(concat!("cases/", $format, "/", $name)))),*]
    };
}

#[test]
fn cases_of_every_kind() {
    let tags = cases!["codeact-tags":
        "bash.md", "bash_wins.md", "browse.md", "cut_in_closing.md", "escaped.md", "exit.md", "finish.md",
        "finish_with_code.md", "heredoc.md", "indented.md", "message.md", "python_fence.md", "thinking.md",
        "two_blocks.md", "unclosed_finish.md", "upper_case.md",
    ];
    let functions = cases!["fncall-text":
        "bad_list.md", "closing_in_value.md", "glued_name.md", "message.md", "missing.md", "multi_line.md",
        "no_end.md", "no_parameter_end.md", "only_mentioned.md", "repaired_mark.md", "text_behind.md", "two_calls.md",
        "twice.md", "unknown_tool.md",
    ];
    let native = cases!["fncall-json":
        "booleans.json", "broken.json", "many.json", "message.json", "no_json.json", "null_arguments.json",
        "unknown_argument.json", "unknown_editor_argument.json", "unknown_tool.json",
    ];
    let mut text = String::new();
    for (format, name, answer) in tags.into_iter().chain(functions).chain(native) {
        let read = serde_json::to_string_pretty(&parse(answer, format)).unwrap();
        write!(text, "== {format} {name}\n{answer}\n-- read as\n{read}\n\n").unwrap();
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!("answers", text) });
}

#[test]
fn a_format_that_is_none_is_said() {
    let read = parse("x", "fncall");
    assert_eq!(
        read.why.as_deref(),
        Some("there is no format `fncall`; there are codeact-tags, fncall-text, fncall-json")
    );
    assert_eq!(read.status, AnswerStatus::Invalid);
}

/// The folder of real answers: below `PODIUM_TRANSCRIPTS`, or beside the repository.
#[expect(clippy::disallowed_methods, reason = "a test looks for its data")]
fn transcripts(format: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    std::env::var_os("PODIUM_TRANSCRIPTS").map_or_else(beside, PathBuf::from).join(format)
}

/// What the original's result is in our words: status, text, and calls.
fn expected(record: &Value) -> (Value, String, Value) {
    let expected = &record["expected"];
    let text = |key: &str| expected[key].as_str().unwrap_or_default().to_owned();
    if let Some(calls) = expected.get("tool_calls") {
        return (expected["status"].clone(), text("content"), calls.clone());
    }
    if expected["status"] != "ok" {
        return (expected["status"].clone(), String::new(), json!([]));
    }
    let native = expected.get("actions").and_then(Value::as_array);
    let actions: Vec<&Value> = native.map_or_else(|| vec![expected], |actions| actions.iter().collect());
    let mut said = String::new();
    let calls: Vec<Value> = actions
        .into_iter()
        .filter_map(|action| {
            let of = |key: &str| action.get(key).cloned();
            let thought = of("thought").and_then(|thought| thought.as_str().map(str::to_owned));
            // A delegation to the browsing agent holds what was said in its task.
            let task =
                action["inputs"]["task"].as_str().and_then(|task| task.split_once(". I should start with: "));
            let delegated = task.map(|(said, _)| said.to_owned());
            let content = || of("content")?.as_str().map(str::to_owned);
            said = thought.or_else(content).or(delegated).unwrap_or_default();
            let (name, keys): (&str, &[(&str, &str)]) = match action["action_type"].as_str().unwrap() {
                "MessageAction" => return None,
                "CmdRunAction" => ("execute_bash", &[("command", "command"), ("is_input", "is_input")]),
                "IPythonRunCellAction" => ("execute_ipython_cell", &[("code", "code")]),
                "AgentFinishAction" => ("finish", &[("final_thought", "message")]),
                "AgentDelegateAction" => ("execute_browse", &[]),
                "AgentThinkAction" => ("think", &[]),
                "FileReadAction" => ("str_replace_editor", &[("path", "path"), ("view_range", "view_range")]),
                "FileEditAction" => (
                    "str_replace_editor",
                    &[
                        ("command", "command"),
                        ("path", "path"),
                        ("file_text", "file_text"),
                        ("old_str", "old_str"),
                        ("new_str", "new_str"),
                        ("insert_line", "insert_line"),
                    ],
                ),
                other => panic!("{other}"),
            };
            let arguments: serde_json::Map<String, Value> =
                keys.iter().filter_map(|(theirs, ours)| Some(((*ours).to_owned(), of(theirs)?))).collect();
            Some(json!({"name": name, "arguments": arguments}))
        })
        .collect();
    (expected["status"].clone(), said, Value::from(calls))
}

/// Whether a call of ours says what the original's says. What the original leaves out may be there.
fn agrees(ours: &Value, theirs: &Value) -> bool {
    let all = theirs["arguments"].as_object().unwrap().iter().all(|(name, value)| {
        // An `is_input` that was not given is false for the original.
        let given = ours["arguments"].get(name);
        given == Some(value)
            || (given.is_none() && [json!(false), json!("")].contains(value))
            || (name == "security_risk" && given.is_none())
    });
    ours["name"] == theirs["name"] && all
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its data")]
fn real_answers_read_as_the_original_reads_them() {
    for format in ["codeact-tags", "fncall-text", "fncall-json"] {
        let folder = transcripts(format);
        let Ok(entries) = std::fs::read_dir(&folder) else {
            println!("SKIP: no transcripts in {}; set PODIUM_TRANSCRIPTS", folder.display());
            continue;
        };
        let mut count = 0;
        for entry in entries {
            let path = entry.unwrap().path();
            let record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let answer = &record["completion"];
            let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
            let read = serde_json::to_value(parse(&text, format)).unwrap();
            let (status, said, calls) = expected(&record);
            let place = path.display();
            assert_eq!(read["status"], status, "{place}: {read}");
            let ours = read["actions"].as_array().unwrap();
            assert_eq!(ours.len(), calls.as_array().unwrap().len(), "{place}: {read}");
            for (ours, theirs) in ours.iter().zip(calls.as_array().unwrap()) {
                assert!(agrees(ours, theirs), "{place}: {ours} is not {theirs}");
            }
            // The original adds a thinking tool's thought to what was said.
            let thinks = ours.iter().any(|call| call["name"] == "think");
            let plan = read["plan"].as_str().unwrap_or_default();
            if status == "ok" {
                assert!(
                    plan == said || (thinks && said.starts_with(plan)),
                    "{place}: {plan:?} is not {said:?}"
                );
            }
            count += 1;
        }
        println!("{count} transcripts of {format}");
        assert!(count > 0, "an empty folder of transcripts: {}", folder.display());
    }
}
