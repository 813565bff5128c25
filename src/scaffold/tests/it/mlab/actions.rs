//! Each action with its limits and its failures: what the agent reads of it, as a snapshot.

use std::fmt::Write as _;

use podium_types::log::{Line, LineKind};

use super::world::{turn, world};
use super::{MLAB, load};
use crate::support::context::FakeContext;
use crate::support::home::Home;
use podium_scaffold::Effect;

/// Small limits, so that they fire.
const LIMITS: &[(&str, &str)] = &[
    ("actions.file_bytes", "600"),
    ("actions.block_chars", "100"),
    ("actions.most_blocks", "3"),
    ("actions.inspect_lines", "5"),
    ("actions.observation_tokens", "120"),
];

fn home() -> Home {
    let huge: Vec<String> = (1..=60).map(|line| format!("line {line} of a long file\n")).collect();
    Home::with(&[
        ("input/train.csv", "id,label\n1,a\n"),
        ("train.py", "print('hello')\n"),
        ("crash.py", "crash"),
        ("slow.py", "slow"),
        ("silent.py", "silent"),
        ("endless.py", "endless"),
        ("cut.py", "cut"),
        ("submit.py", "write 1,2"),
        ("spoil.py", "write bad"),
        ("empty.txt", ""),
        ("model.bin", "\u{0}\u{1}"),
        ("huge.txt", &huge.concat()),
    ])
}

/// Takes the actions one after another in one workspace, and tells what the agent reads of each.
fn observed(acts: &[(&str, &str)]) -> String {
    let script: Vec<String> = acts.iter().map(|(action, input)| turn("p", action, input)).collect();
    let last = script.len() - 1;
    let (world, asked) = world(home(), Box::new(move |number, _| Ok(script[number.min(last)].clone())));
    let steps = u32::try_from(acts.len()).unwrap() + 1;
    let context = FakeContext::new(1, steps, world);
    let finished = context.drive(&*load(MLAB, LIMITS).strategy()).unwrap();
    let journal = context.journal.borrow();
    let records = journal.iter().filter_map(|(_, effect, _)| match effect {
        Effect::Step(step) => Some(step.lines.as_slice()),
        _ => None,
    });
    let (mut text, asked) = (String::new(), asked.borrow());
    for (place, ((action, input), lines)) in acts.iter().zip(records).enumerate() {
        let seen: Vec<&Line> = lines.iter().filter(|line| line.kind == LineKind::Seen).collect();
        writeln!(text, "> {action} {input}").unwrap();
        let [seen] = seen.as_slice() else {
            assert!(finished.is_some() && place == last, "{action} {input}: {lines:?}");
            writeln!(text, "(the end)\n").unwrap();
            continue;
        };
        if let Some(next) = asked.get(place + 1) {
            let prompt = &next.messages.last().unwrap().content;
            assert!(prompt.contains(&seen.text), "the agent reads what the log says: {action} {input}");
        }
        let told: Vec<&str> = seen.text.lines().filter(|line| !line.contains("_REMAINING: ")).collect();
        let failed = if seen.failed { "[failed] " } else { "" };
        writeln!(text, "{failed}{}\n", told.join("\n").trim_end()).unwrap();
    }
    text
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_the_agent_reads_of_each_action() {
    let file = |name: &str| format!(r#"{{"file_name": "{name}"}}"#);
    let write = |name: &str, content: &str| format!(r#"{{"file_name": "{name}", "content": "{content}"}}"#);
    let copy = |from: &str, to: &str| format!(r#"{{"source": "{from}", "destination": "{to}"}}"#);
    let script = |name: &str| format!(r#"{{"script_name": "{name}"}}"#);
    let lines = |name: &str, from: &str, to: &str| {
        format!(r#"{{"script_name": "{name}", "start_line_number": {from}, "end_line_number": {to}}}"#)
    };
    let edit = |name: &str, instruction: &str, save: &str| {
        format!(r#"{{"script_name": "{name}", "edit_instruction": "{instruction}", "save_name": "{save}"}}"#)
    };
    let segment = |name: &str, from: &str, to: &str| {
        format!(
            r#"{{"script_name": "{name}", "start_line_number": {from}, "end_line_number": {to}, "edit_instruction": "x", "save_name": "{name}"}}"#
        )
    };
    let understand = |name: &str| format!(r#"{{"file_name": "{name}", "things_to_look_for": "columns"}}"#);
    let folder = |path: &str| format!(r#"{{"dir_path": "{path}"}}"#);
    let submission = |path: &str| format!(r#"{{"submission_path": "{path}"}}"#);
    let answer = r#"{"final_answer": "done"}"#.to_owned();
    let groups: [(&str, Vec<(&str, String)>); 8] = [
        (
            "looking",
            vec![
                ("List Files", folder("")),
                ("List Files", folder("input")),
                ("List Files", folder("nothing")),
                ("List Files", folder("../..")),
                ("Read File", file("./train.py")),
                ("Read File", file("empty.txt")),
                ("Read File", file("nothing.py")),
                ("Read File", file("../../etc/passwd")),
                ("Read File", file("/etc/passwd")),
                ("Read File", file("model.bin")),
                ("Read File", file("huge.txt")),
                ("Inspect Script Lines", lines("huge.txt", "3", "4")),
                ("Inspect Script Lines", lines("huge.txt", "1", "6")),
                ("Inspect Script Lines", lines("huge.txt", "9", "3")),
                ("Inspect Script Lines", lines("huge.txt", "\"one\"", "3")),
                ("Inspect Script Lines", lines("train.py", "7", "9")),
                ("Inspect Script Lines", lines("model.bin", "1", "2")),
                ("Inspect Script Lines", lines("nothing.py", "1", "2")),
                ("Understand File", understand("input/train.csv")),
                ("Understand File", understand("huge.txt")),
                ("Understand File", understand("empty.txt")),
                ("Understand File", understand("model.bin")),
                ("Understand File", understand("../train.csv")),
            ],
        ),
        (
            "writing",
            vec![
                ("Write File", write("new/a.py", "x = 1\\n")),
                ("Write File", write("train.py", " ")),
                ("Write File", write("input/train.csv", "x")),
                ("Write File", write("../a.py", "x")),
                ("Append File", write("new/a.py", "y = 2\\n")),
                ("Append File", write("model.bin", "x")),
                ("Append File", write("huge.txt", "x")),
                ("Copy File", copy("input/train.csv", "train.csv")),
                ("Copy File", copy("nothing.csv", "b.csv")),
                ("Copy File", copy("train.py", "input/train.py")),
                ("Copy File", copy("train.py", "../train.py")),
                ("Undo Edit Script", script("new/a.py")),
                ("Undo Edit Script", script("./new/a.py")),
                ("Undo Edit Script", script("new/a.py")),
            ],
        ),
        (
            "running",
            vec![
                ("Execute Script", script("train.py")),
                ("Execute Script", script("silent.py")),
                ("Execute Script", script("crash.py")),
                ("Execute Script", script("slow.py")),
                ("Execute Script", script("endless.py")),
                ("Execute Script", script("cut.py")),
                ("Execute Script", script("nothing.py")),
                ("Execute Script", script("../train.py")),
                ("Execute Script", script("model.bin")),
                ("Execute Script", script("submit.py")),
                ("Execute Script", script("spoil.py")),
                ("Execute Script", r#"{"script": "train.py"}"#.to_owned()),
                ("Python REPL", r#"{"command": "1"}"#.to_owned()),
            ],
        ),
        (
            "editing",
            vec![
                ("Edit Script (AI)", edit("train.py", "print", "train.py")),
                ("Edit Script (AI)", edit("train.py", "print", "other.py")),
                ("Edit Script (AI)", edit("fresh.py", "print", "fresh.py")),
                ("Undo Edit Script", script("train.py")),
                ("Edit Script (AI)", edit("train.py", "[leave it]", "train.py")),
                ("Edit Script (AI)", edit("train.py", "[leave nothing]", "train.py")),
                ("Edit Script (AI)", edit("train.py", "[fail]", "train.py")),
                ("Edit Script (AI)", edit("train.py", "print", "input/train.py")),
                ("Edit Script (AI)", edit("huge.txt", "print", "huge.txt")),
                ("Edit Script (AI)", edit("model.bin", "print", "model.bin")),
                ("Edit Script (AI)", edit("../train.py", "print", "train.py")),
                ("Edit Script Segment (AI)", segment("train.py", "1", "1")),
                ("Edit Script Segment (AI)", segment("train.py", "5", "2")),
                ("Edit Script Segment (AI)", segment("train.py", "null", "2")),
                ("Edit Script Segment (AI)", segment("nothing.py", "1", "2")),
                ("Edit Script Segment (AI)", segment("huge.txt", "1", "2")),
            ],
        ),
        (
            "remembering",
            vec![
                ("Retrieval from Research Log", r#"{"current_plan": ""}"#.to_owned()),
                ("Reflection", r#"{"things_to_reflect_on": "the data"}"#.to_owned()),
                ("Append Summary to Research Log", r#"{"content": "A forest has 0.81."}"#.to_owned()),
                ("Retrieval from Research Log", r#"{"current_plan": "more trees"}"#.to_owned()),
                ("Undo Edit Script", script("research_log.log")),
                ("Request Help", r#"{"request": "what now?"}"#.to_owned()),
            ],
        ),
        (
            "handing in",
            vec![
                ("Validate Submission", submission("submission/submission.csv")),
                ("Execute Script", script("spoil.py")),
                ("Validate Submission", submission("submission/submission.csv")),
                ("Validate Submission", submission("../submission.csv")),
                ("Final Answer", answer.clone()),
                ("Execute Script", script("submit.py")),
                ("Validate Submission", submission("./submission/submission.csv")),
                ("Copy File", copy("submission/submission.csv", "mine.csv")),
                ("Validate Submission", submission("mine.csv")),
                ("Final Answer", answer.clone()),
            ],
        ),
        ("insisting", vec![("Final Answer", answer.clone()); 4]),
        ("no option of the interpreter", vec![("Execute Script", script("-c import os"))]),
    ];
    let mut text = String::new();
    for (name, acts) in &groups {
        let acts: Vec<(&str, &str)> = acts.iter().map(|(action, input)| (*action, input.as_str())).collect();
        write!(text, "===== {name}\n\n{}", observed(&acts)).unwrap();
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}
