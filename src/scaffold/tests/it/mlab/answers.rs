//! How MLAB reads answers: real ones as the official parser does, its named defects mended, any text in linear time.

use std::path::{Path, PathBuf};

use podium_scaffold::{AnswerStatus, ParsedAnswer, Scaffold};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::MLAB;
use crate::support::prompts;

fn parse(text: &str) -> ParsedAnswer {
    mlab().parse_answer(text, None)
}

fn mlab() -> &'static Scaffold {
    static LOADED: std::sync::OnceLock<Scaffold> = std::sync::OnceLock::new();
    LOADED.get_or_init(|| Scaffold::load(MLAB, prompts(), &[]).unwrap())
}

fn turn(action: &str, input: &str) -> String {
    format!(
        "Reflection: r\nResearch Plan and Status: p\nFact Check: f\nThought: t\nAction: {action}\nAction Input: {input}"
    )
}

/// The folder of real answers: below `PODIUM_TRANSCRIPTS`, or beside the repository.
#[expect(clippy::disallowed_methods, reason = "a test looks for its data")]
fn transcripts() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    std::env::var_os("PODIUM_TRANSCRIPTS").map_or_else(beside, PathBuf::from).join("mlab")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its data")]
fn real_answers_read_as_the_official_parser_reads_them() {
    let folder = transcripts();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("SKIP: no transcripts in {}; set PODIUM_TRANSCRIPTS", folder.display());
        return;
    };
    let (mut count, mut mended) = (0, 0);
    for entry in entries {
        let path = entry.unwrap().path();
        let case: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let expected = &case["expected"];
        let read = parse(case["completion"].as_str().unwrap());
        count += 1;
        // An argument that the action does not have was swallowed with the value before it.
        let swallowed = |value: &Value| value.as_str().is_some_and(|text| text.contains("\",\n    \""));
        if expected["input"].as_object().is_some_and(|input| input.values().any(swallowed)) {
            assert_eq!(read.status, AnswerStatus::InputError, "{}", path.display());
            mended += 1;
            continue;
        }
        assert_eq!(serde_json::to_value(read.status).unwrap(), expected["status"], "{}", path.display());
        assert_eq!(read.why.is_none(), read.status == AnswerStatus::Ok);
        if read.status == AnswerStatus::Invalid {
            continue;
        }
        assert_eq!(read.actions[0].name, expected["action"].as_str().unwrap(), "{}", path.display());
        if read.status == AnswerStatus::Ok {
            assert_eq!(
                Value::Object(read.actions[0].arguments.clone()),
                expected["input"],
                "{}",
                path.display()
            );
        }
    }
    println!("{count} transcripts, {mended} read better");
    assert!(count > 0, "an empty folder of transcripts");
}

#[test]
fn inputs_of_every_kind() {
    let ok = |input: &str| {
        let read = parse(&turn("Execute Script", input));
        assert_eq!(read.status, AnswerStatus::Ok, "{input}: {:?}", read.why);
        read.actions[0].arguments["script_name"].clone()
    };
    for input in [
        r#"{"script_name": "a.py"}"#,
        "```json\n{\"script_name\": \"a.py\"}\n```",
        "{\"script_name\": \"a.py\"}\nI hope that this helps.",
        // The comma behind the last value is no part of it: the official parser takes it for one.
        r#"{"script_name": "a.py",}"#,
        "{\n  \"script_name\": a.py\n}",
    ] {
        assert_eq!(ok(input), json!("a.py"), "{input}");
    }
    assert_eq!(ok(r#"{"script_name": "say "hi" twice"}"#), json!(r#"say "hi" twice"#));
    assert_eq!(ok("{\"script_name\": \"two\nlines\"}"), json!("two\nlines"));
    assert_eq!(ok(r#"{"script_name": 7}"#), json!(7));
    for (input, why) in [
        ("", "there is no input"),
        ("train.py", "not valid JSON"),
        ("{'script_name': 'a.py'}", "not valid JSON"),
        (r#"["a.py"]"#, "no JSON object"),
        (r#""a.py""#, "no JSON object"),
        ("{}", "arguments are missing: script_name"),
        // The official parser swallows it with the value.
        (r#"{"script_name": "a.py", "x": 1}"#, "arguments that the action does not have: x"),
        (
            "```json\n{\"script_name\": \"a.py\", \"x\": 1}\n```\nDone.",
            "arguments that the action does not have: x",
        ),
    ] {
        let read = parse(&turn("Execute Script", input));
        assert_eq!(read.status, AnswerStatus::InputError, "{input}");
        assert!(read.why.unwrap().contains(why), "{input}");
    }
}

#[test]
fn fields_of_every_kind() {
    let good = turn("Execute Script", r#"{"script_name": "a.py"}"#);
    assert_eq!(parse(&format!("Well.\n{good}")).status, AnswerStatus::Ok);
    assert_eq!(parse(&good.replace("Thought: t", "Thought: the Action: is clear")).status, AnswerStatus::Ok);
    let two = format!("{}\n{good}", turn("List Files", r#"{"dir_path": "."}"#));
    assert_eq!(parse(&two).actions[0].name, "Execute Script", "the last turn counts");
    for (text, why) in [
        (String::new(), "empty"),
        (good.replace("Fact Check:", "Facts:"), "missing: Fact Check"),
        (good.replace("Thought:", "thought:"), "missing: Thought"),
        (good.replace("Reflection: r\n", "") + "\nReflection: r", "not in their order"),
        (turn("**Execute Script**", "{}"), "nearest: `Execute Script`"),
        (turn("execute script", "{}"), "is not the name of an action"),
        (turn("Run Script", "{}"), "is not the name of an action"),
    ] {
        let read = parse(&text);
        assert_eq!(read.status, AnswerStatus::Invalid, "{text}");
        assert!(read.why.as_ref().unwrap().contains(why), "{text}: {:?}", read.why);
    }
}

#[test]
fn reading_takes_linear_time() {
    // With a quadratic reader this test does not end.
    let whole = turn("Edit Script (AI)", "{");
    for piece in
        ["Reflection:", "Action:", "Action Input:", "{", "\"", "\\", "\"script_name\":", "}\n", "`", &whole]
    {
        let text = piece.repeat(100_000);
        let _ = parse(&text);
        let _ = parse(&turn("Edit Script (AI)", &text));
    }
}

proptest! {
    #[test]
    fn any_text_is_read(
        text in "(Reflection:|Research Plan and Status:|Fact Check:|Thought:|Action:|Action Input:|Execute Script|\\{|\\}|\"script_name\":|\"|,|`|\\\\|\\PC|\n| ){0,60}"
    ) {
        for text in [text.clone(), turn("Execute Script", &text)] {
            let read = parse(&text);
            prop_assert_eq!(read.status == AnswerStatus::Ok, read.why.is_none());
            prop_assert_eq!(read.status == AnswerStatus::Invalid, read.actions.is_empty());
        }
    }
}
