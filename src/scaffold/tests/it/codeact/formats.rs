//! The formats as exact inverses, and what reading costs.

use podium_scaffold::codeact::format::{Call, Format};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn call(name: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    Call::text(name, arguments)
}

/// Texts that look like marks, most of them.
fn text() -> impl Strategy<Value = String> {
    let pieces = "(<execute_bash>|</execute_bash>|<execute_ipython>|</execute_ipython>|<finish>|</finish>|<\\\\|\\\\\
                  |<function=|<function=x>|</function>|</function|<parameter=|<parameter=y>|</parameter>|\n|\r| |\t|<|>|=|/|é|a)";
    proptest::string::string_regex(&format!("{pieces}{{0,12}}")).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn tags_are_read_as_they_were_written(thought in text(), content in text(), tool in 0_usize..2) {
        let (name, parameter) = [("execute_bash", "command"), ("execute_ipython_cell", "code")][tool];
        prop_assume!(!(tool == 0 && content.trim() == "exit"));
        let thought = thought.trim();
        let made = call(name, json!({parameter: content}));
        let written = Format::Tags.write(thought, Some(&made));
        let read = Format::Tags.read(&written);
        prop_assert_eq!(&read.thought, thought, "{}", &written);
        prop_assert_eq!(&read.calls, &[made], "{}", &written);
        prop_assert!(read.dropped.is_empty() && !read.open);
        prop_assert_eq!(Format::Tags.write(&read.thought, read.calls.first()), written);
    }

    #[test]
    fn a_finish_is_read_as_it_was_written(thought in text(), message in text()) {
        prop_assume!(!message.is_empty());
        let made = call("finish", json!({"message": message}));
        let read = Format::Tags.read(&Format::Tags.write(thought.trim(), Some(&made)));
        prop_assert_eq!((read.thought.as_str(), read.calls), (thought.trim(), vec![made]));
        let bare = call("finish", json!({}));
        let read = Format::Tags.read(&Format::Tags.write(thought.trim(), Some(&bare)));
        prop_assert_eq!((read.thought.as_str(), read.calls), (thought.trim(), vec![bare]));
    }

    #[test]
    fn functions_are_read_as_they_were_written(
        thought in text(),
        values in proptest::collection::btree_map("[a-z_]{1,8}", text(), 0..4),
        name in "[a-z_]{1,20}",
    ) {
        let arguments: Map<String, Value> =
            values.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        let made = Call::text(&name, arguments);
        let written = Format::Functions.write(thought.trim(), Some(&made));
        let read = Format::Functions.read(&written);
        prop_assert_eq!(&read.thought, thought.trim(), "{}", &written);
        prop_assert_eq!(&read.calls, &[made], "{}", &written);
        prop_assert!(read.dropped.is_empty() && !read.open, "{}", &written);
        // The stop text takes the end, and nothing is lost with it.
        let cut = &written[..written.find("</function").unwrap()];
        prop_assert_eq!(&Format::Functions.read(cut).calls, &read.calls);
        prop_assert_eq!(Format::Functions.write(&read.thought, read.calls.first()), written);
    }

    #[test]
    fn messages_are_read_as_they_were_written(message in text()) {
        for format in [Format::Tags, Format::Functions, Format::Native] {
            let written = format.write(&message, None);
            let read = format.read(&written);
            prop_assert_eq!(&read.thought, &message);
            prop_assert!(read.calls.is_empty() && read.dropped.is_empty());
        }
    }

    #[test]
    fn any_text_is_read(text in text(), more in "\\PC{0,40}") {
        for format in [Format::Tags, Format::Functions] {
            let read = format.read(&format!("{text}{more}{text}"));
            prop_assert!(read.calls.len() <= 1);
            // What was read can be written and is then read as itself.
            let again = format.read(&format.write(read.thought.trim(), read.calls.first()));
            prop_assert_eq!(again.calls, read.calls);
        }
    }
}

#[test]
fn reading_takes_linear_time() {
    // With a quadratic reader this test does not end.
    let pieces = [
        "<execute_bash>",
        "</execute_bash>",
        "<execute_bash></execute_bash>",
        "<execute_bash><execute_ipython></execute_bash>",
        "<execute_ipython><execute_browse>",
        "<finish>",
        "<\\\\\\\\",
        "<function=a>\n",
        "<function=a>\n<parameter=b>",
        "<function=a>\n<parameter=b></function>",
        "<parameter=a>1</parameter>",
        "x<parameter=a>1</parameter>",
        "</parameter>  \n  ",
        "</parameter>x",
        "<function=",
        "<function=a",
        "</function",
        "</function><function=a>\n",
        "</",
        "<",
        "\\",
    ];
    for piece in pieces {
        for format in [Format::Tags, Format::Functions] {
            for (head, tail) in [
                ("", ""),
                ("", "</execute_ipython>"),
                ("<execute_bash>", "</finish>"),
                ("<function=a>\n", ""),
                ("<function=a>\n<parameter=b>", "</function>"),
            ] {
                let read = format.read(&format!("{head}{}{tail}", piece.repeat(30_000)));
                assert!(read.calls.len() <= 1);
            }
        }
    }
}
