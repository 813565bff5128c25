//! Recorded courses of turns: those that go in circles are found where they close, those that do not are left alone.

use podium_scaffold::codeact::CodeActSpec;
use podium_scaffold::codeact::stuck::{Pattern, Trace, find};

use super::{NATIVE, load};

/// A course, one turn a line: `call => result`; `!` before the result says that it failed, `~` that it waited or a crash cut it; a line
/// without a call is a message.
fn course(text: &str) -> Vec<Trace> {
    let turn = |line: &str| {
        let Some((calls, result)) = line.split_once(" => ") else { return Trace::default() };
        let (failed, excused) = (result.starts_with('!'), result.starts_with('~'));
        let calls = calls.split(" & ").map(str::to_owned).collect();
        Trace { calls, came_to: vec![result.to_owned()], failed, excused }
    };
    text.trim().lines().map(|line| turn(line.trim())).collect()
}

/// Where the detector says so for the first time, by the number of turns until then.
fn first(text: &str) -> Option<(Pattern, usize)> {
    let spec: CodeActSpec = serde_json::from_value(load(NATIVE, &[]).spec().clone()).unwrap();
    let course = course(text);
    (1..=course.len()).find_map(|length| Some((find(&course[..length], &spec.stuck)?.0, length)))
}

#[test]
fn circles_of_each_kind_are_found() {
    for (text, pattern, turns) in [
        (include_str!("courses/same_command.txt"), Pattern::Same, 6),
        (include_str!("courses/syntax_error.txt"), Pattern::Errors, 5),
        (include_str!("courses/monologue.txt"), Pattern::Messages, 4),
        (include_str!("courses/edit_and_revert.txt"), Pattern::Alternating, 8),
        (include_str!("courses/same_error_other_words.txt"), Pattern::Errors, 4),
    ] {
        assert_eq!(first(text), Some((pattern, turns)), "{text}");
    }
}

#[test]
fn healthy_courses_are_left_alone() {
    for text in [
        include_str!("courses/watching_a_log.txt"),
        include_str!("courses/waiting_for_training.txt"),
        include_str!("courses/fix_run_fix_run.txt"),
        include_str!("courses/same_test_new_result.txt"),
        include_str!("courses/two_messages.txt"),
    ] {
        assert_eq!(first(text), None, "{text}");
    }
}

#[test]
fn each_rule_can_be_switched_off() {
    let text = include_str!("courses/same_command.txt");
    let spec = |key: &str| -> CodeActSpec {
        serde_json::from_value(load(NATIVE, &[(key, "0")]).spec().clone()).unwrap()
    };
    let course = course(text);
    assert_eq!(find(&course, &spec("stuck.same").stuck), None);
    assert!(find(&course, &spec("stuck.errors").stuck).is_some());
}
