//! The conversation as a model reads it, in each format, as snapshots.

use serde_json::json;

use super::world::{answer, says, shown, world};
use super::{NATIVE, TAGS, TEXT, load};
use crate::support::context::FakeContext;
use crate::support::home::Home;

fn talk(file: &str, answers: Vec<podium_types::chat::ChatAnswer>) -> String {
    let steps = u32::try_from(answers.len()).unwrap() + 1;
    let (world, asked) = world(Home::default(), says(answers));
    FakeContext::new(1, steps, world).drive(&*load(file, &[]).strategy()).unwrap();
    let asked = asked.borrow();
    shown(asked.last().unwrap())
}

#[test]
fn native_calls() {
    let text = talk(
        NATIVE,
        vec![
            answer(
                "I look.",
                &[
                    ("execute_bash", json!({"command": "ls", "cwd": "/"})),
                    ("execute_ipython_cell", json!({"code": "df"})),
                ],
            ),
            answer("And now?", &[]),
            answer("", &[("exeute_bash", json!({"command": "ls"}))]),
            answer("", &[("execute_bash", json!("{\"command\": "))]),
            answer("", &[("finish", json!({}))]),
        ],
    );
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn calls_as_functions() {
    let text = talk(
        TEXT,
        vec![
            answer(
                "I look.\n\n<function=execute_bash>\n<parameter=command>ls</parameter>\n</function>\n\nThen I run <b>it</b>.",
                &[],
            ),
            answer("And now?", &[]),
            answer("<function=str_replace_editor>\n<parameter=command>view</parameter>\n</function>", &[]),
            answer("<function=execute_bash>\n<parameter=command>write bad</parameter>\n", &[]),
        ],
    );
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn calls_between_tags() {
    let text = talk(
        TAGS,
        vec![
            answer("I look.\n\n<execute_bash>\nls\n", &[]),
            answer(
                "Two.\n\n<execute_bash>\nls\n</execute_bash>\n\n<execute_ipython>\ndf\n</execute_ipython>",
                &[],
            ),
            answer("```python\nprint(1)\n```", &[]),
            answer("<execute_bash>\nwrite 1\n</execute_bash>\n<finish></finish>", &[]),
            answer("<execute_browse>\nthe forum\n", &[]),
        ],
    );
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}
