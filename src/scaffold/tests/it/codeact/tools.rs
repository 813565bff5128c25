//! What a model reads of each tool, in a scripted world. On a real sandbox it is tried from outside.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::world::{answer, says, world};
use super::{NATIVE, load};
use crate::support::context::FakeContext;
use crate::support::home::Home;

/// The calls one after another, each with what the model read of it.
fn observed(overrides: &[(&str, &str)], home: Home, calls: &[(&str, Value)]) -> String {
    let answers = calls.iter().map(|call| answer("", std::slice::from_ref(call))).collect();
    let (world, asked) = world(home, says(answers));
    let steps = u32::try_from(calls.len()).unwrap() + 1;
    let scaffold = load(
        NATIVE,
        &[("stuck.same", "0"), ("stuck.errors", "0")]
            .into_iter()
            .chain(overrides.iter().copied())
            .collect::<Vec<_>>(),
    );
    FakeContext::new(1, steps, world).drive(&*scaffold.strategy()).unwrap();
    let mut text = String::new();
    for ((name, arguments), request) in calls.iter().zip(asked.borrow().iter().skip(1)) {
        let read = &request.messages.last().unwrap().content;
        // What is left stands at the end of each, and is seen elsewhere.
        let read = read.rsplit_once("\n\n[").map_or(read.as_str(), |(read, _)| read);
        write!(text, "> {name} {arguments}\n{read}\n\n").unwrap();
    }
    text
}

fn edit(command: &str, path: &str, more: &Value) -> (&'static str, Value) {
    let mut arguments = json!({"command": command, "path": path});
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    ("str_replace_editor", arguments)
}

#[test]
fn sessions() {
    let bash = |command: &str| ("execute_bash", json!({"command": command}));
    let input = |command: &str| ("execute_bash", json!({"command": command, "is_input": "true"}));
    let cell = |code: &str| ("execute_ipython_cell", json!({"code": code}));
    let text = observed(
        &[],
        Home::default(),
        &[
            bash("pwd"),
            bash("false"),
            bash(""),
            input("yes"),
            bash("run"),
            bash("ls"),
            bash(""),
            input("yes"),
            input("C-c"),
            bash("crash"),
            bash("pwd"),
            bash("die"),
            bash("pwd"),
            ("execute_bash", json!({"command": "", "reset": true})),
            bash("pwd"),
            cell("x"),
            cell("run"),
            cell("x"),
            cell("C-c"),
            cell("die"),
            cell("x"),
        ],
    );
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn the_editor() {
    let home = Home::with(&[
        ("crlf.py", "a = 1\r\nb = 2\r\n"),
        ("tabs.py", "if a:\n\tb = 1\nelse:\n\tb = 2"),
        ("same.py", "def f():\n    return 1\n\ndef g():\n    return 1\n"),
        ("data/deep/x.csv", "1\n"),
        ("data/y.csv", "1\n"),
        (".hidden", ""),
        ("binary.bin", "\0\0"),
        ("input/train.csv", "id,y\n"),
        ("large.txt", &"line\n".repeat(40_000)),
    ]);
    let text = observed(
        &[("editor.max_bytes", "100000"), ("tokens.observation", "300")],
        home,
        &[
            edit("view", ".", &json!({})),
            edit("view", "data", &json!({"view_range": [1, 2]})),
            edit("view", "/workspace/crlf.py", &json!({})),
            edit(
                "str_replace",
                "crlf.py",
                &json!({"old_str": "a = 1\nb = 2", "new_str": "a = 3\nb = 4\nc = 5"}),
            ),
            edit("view", "tabs.py", &json!({"view_range": [3, -1]})),
            edit("str_replace", "tabs.py", &json!({"old_str": "    b = 2", "new_str": "    b = 3"})),
            edit("insert", "tabs.py", &json!({"insert_line": 4, "new_str": "c = 1"})),
            edit("insert", "tabs.py", &json!({"insert_line": 9, "new_str": "c = 1"})),
            edit(
                "str_replace",
                "same.py",
                &json!({"old_str": "    return 1\n", "new_str": "    return 2\n"}),
            ),
            edit(
                "str_replace",
                "same.py",
                &json!({"old_str": "     2\t    return 1", "new_str": "    return 2"}),
            ),
            edit("str_replace", "same.py", &json!({"old_str": "x"})),
            edit("create", "new/a.py", &json!({"file_text": "print(1)\n"})),
            edit("create", "new/a.py", &json!({"file_text": "print(2)\n"})),
            edit("undo_edit", "new/a.py", &json!({})),
            edit("view", "new/a.py", &json!({})),
            edit("undo_edit", "crlf.py", &json!({})),
            edit("undo_edit", "crlf.py", &json!({})),
            edit("view", "binary.bin", &json!({})),
            edit("view", "../secret", &json!({})),
            edit("view", "same.py", &json!({"view_range": [7, 9]})),
            edit("create", "input/x.csv", &json!({"file_text": ""})),
            edit("str_replace", "large.txt", &json!({"old_str": "line", "new_str": "x"})),
            edit("view", "large.txt", &json!({})),
            edit("create", "b.py", &json!({})),
            edit("vew", "b.py", &json!({})),
        ],
    );
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn thoughts_and_the_submission() {
    let text = observed(
        &[],
        Home::default(),
        &[
            ("think", json!({"thought": "A forest."})),
            ("validate_submission", json!({})),
            ("execute_bash", json!({"command": "write bad"})),
            ("validate_submission", json!({})),
            ("finish", json!({"message": "Done."})),
            ("execute_bash", json!({"command": "write 1"})),
            ("validate_submission", json!({})),
        ],
    );
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}
