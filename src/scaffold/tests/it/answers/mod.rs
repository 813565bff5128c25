//! How answers are read: a committed case of every kind, and real answers where the folder is at hand.

use std::path::{Path, PathBuf};

use podium_scaffold::tree_search::answer::parse;
use podium_scaffold::{AnswerStatus, ParsedAnswer};
use proptest::prelude::*;

macro_rules! cases {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!($name, ".md")))),*]
    };
}

#[test]
fn cases_of_every_kind() {
    let cases = cases![
        "backticks_in_string",
        "bare_backticks_in_string",
        "empty",
        "empty_block",
        "fence_after_prose",
        "forgotten_fence",
        "glued_fence",
        "indented_fence",
        "longer_fence",
        "no_fence_prose",
        "no_fence_python",
        "no_plan",
        "one_block_broken",
        "only_shell",
        "open_bracket",
        "open_quote",
        "open_string_then_prose",
        "plain",
        "py_tag",
        "several_blocks",
        "shell_block",
        "thinking",
        "thinking_tag_in_code",
        "thinking_without_end",
        "thinking_without_opening",
        "truncated",
        "truncated_second_block",
        "untagged",
        "upper_tag",
        "windows_lines",
    ];
    for (name, text) in cases {
        insta::with_settings!({description => text, omit_expression => true}, {
            insta::assert_json_snapshot!(name, parse(text));
        });
    }
}

/// The folder of real answers: below `PODIUM_TRANSCRIPTS`, or beside the repository.
#[expect(clippy::disallowed_methods, reason = "a test looks for its data")]
fn transcripts() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    std::env::var_os("PODIUM_TRANSCRIPTS").map_or_else(beside, PathBuf::from).join("aide")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its data")]
fn real_answers_read_as_the_original_reads_them() {
    let folder = transcripts();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("SKIP: no transcripts in {}; set PODIUM_TRANSCRIPTS", folder.display());
        return;
    };
    let mut count = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        let case: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let expected = &case["expected"];
        let read = parse(case["completion"].as_str().unwrap());
        assert_eq!(serde_json::to_value(read.status).unwrap(), expected["status"], "{}", path.display());
        assert_eq!(read.plan.as_deref(), expected["plan"].as_str(), "{}", path.display());
        assert_eq!(read.code.as_deref(), expected["code_before_black"].as_str(), "{}", path.display());
        count += 1;
    }
    println!("{count} transcripts");
    assert!(count > 0, "an empty folder of transcripts");
}

#[test]
fn reading_takes_linear_time() {
    // With a quadratic reader this test does not end.
    let pieces = [
        "```\n",
        "```python\n'''\n```\n",
        "<think>",
        "<think>\n</think>\n",
        "```python\n",
        "'''\n",
        "(",
        "`",
        "</think>\n",
        "a ```b ",
        "\\",
    ];
    for piece in pieces {
        let text = piece.repeat(100_000);
        let _: ParsedAnswer = parse(&text);
    }
}

proptest! {
    #[test]
    fn any_text_is_read(
        text in "(```|python|\n|'''|\"\"\"|<think>|</think>|import os|\\PC| |#|\\\\|[()\\[\\]]){0,60}"
    ) {
        let read = parse(&text);
        prop_assert_eq!(read.status == AnswerStatus::Ok, read.why.is_none());
        prop_assert_eq!(read.status == AnswerStatus::Ok, read.code.is_some());
        prop_assert!(read.status != AnswerStatus::Ok || read.plan.is_some());
    }
}
