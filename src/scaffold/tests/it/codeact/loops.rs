//! The loop: how it ends, what it selects, what it keeps of a long history, and what it says to an agent that is lost.

use podium_scaffold::{Effect, EffectResult, Finished, Scaffold};
use podium_types::chat::{ChatAnswer, ChatError, ChatRequest, FinishReason, Speaker};
use podium_types::sha256::Sha256;
use podium_types::tokens::estimate;
use serde_json::json;

use super::world::{Model, answer, says, world};
use super::{NATIVE, TAGS, TEXT, load};
use crate::support::context::FakeContext;
use crate::support::home::Home;

/// A run: how it ended, what the model was asked, and the journal.
struct Ran {
    finished: Option<Finished>,
    asked: Vec<ChatRequest>,
    journal: Vec<(String, Effect, EffectResult)>,
}

impl Ran {
    fn reason(&self) -> &str {
        &self.finished.as_ref().unwrap().reason
    }

    /// What the model read last.
    fn last_read(&self) -> &str {
        &self.asked.last().unwrap().messages.last().unwrap().content
    }

    fn selected(&self) -> Vec<Sha256> {
        let select = |(_, effect, _): &(String, Effect, EffectResult)| match effect {
            Effect::SelectFinal { sha256, .. } => Some(sha256.clone()),
            _ => None,
        };
        self.journal.iter().filter_map(select).collect()
    }
}

fn run(scaffold: &Scaffold, steps: u32, model: Model) -> Ran {
    let (world, asked) = world(Home::default(), model);
    let context = FakeContext::new(1, steps, world);
    let finished = context.drive(&*scaffold.strategy()).unwrap();
    let (asked, journal) = (asked.borrow().clone(), context.journal.borrow().clone());
    Ran { finished, asked, journal }
}

fn bash(command: &str) -> ChatAnswer {
    answer("", &[("execute_bash", json!({"command": command}))])
}

fn finish() -> ChatAnswer {
    answer("", &[("finish", json!({"message": "A forest,\n0.81."}))])
}

#[test]
fn an_agent_writes_a_submission_and_finishes_in_each_format() {
    let function = |name: &str, parameter: &str, value: &str| {
        answer(&format!("On I go.\n\n<function={name}>\n<parameter={parameter}>{value}</parameter>\n"), &[])
    };
    let tag = |text: &str| answer(text, &[]);
    for (file, answers) in [
        (NATIVE, vec![bash("ls"), bash("write 1,2"), finish()]),
        (
            TEXT,
            vec![
                function("execute_bash", "command", "ls"),
                function("execute_bash", "command", "write 1,2"),
                function("finish", "message", "A forest, 0.81."),
            ],
        ),
        (
            TAGS,
            vec![
                tag("I look.\n\n<execute_bash>\nls\n"),
                tag("<execute_ipython>\nwrite 1,2\n"),
                tag("<finish>A forest, 0.81.</finish>"),
            ],
        ),
    ] {
        let ran = run(&load(file, &[]), 20, says(answers));
        assert_eq!(ran.reason(), "the agent finished: A forest, 0.81.");
        assert_eq!(ran.selected(), [Sha256::of(b"1,2\n")]);
        assert_eq!(ran.asked.len(), 3);
        let native = file == NATIVE;
        for request in &ran.asked {
            assert_eq!((request.tools.is_empty(), request.stop.is_empty()), (!native, native));
            // User and assistant take turns, for models that know nothing else.
            let roles: Vec<Speaker> = request.messages.iter().map(|message| message.role).collect();
            assert!(native || roles[1..].windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
        }
        // What was said stays as it was, so that a provider's cache holds it.
        for pair in ran.asked.windows(2) {
            assert_eq!(pair[1].messages[..pair[0].messages.len()], pair[0].messages);
        }
    }
}

#[test]
fn a_finish_without_a_valid_submission_is_sent_back_so_many_times() {
    let ran = run(&load(NATIVE, &[]), 20, says(vec![bash("write bad"), finish()]));
    assert_eq!(ran.reason(), "the agent finished without a valid submission: A forest, 0.81.");
    assert_eq!((ran.asked.len(), ran.selected().len()), (5, 0), "three are sent back");
    assert!(ran.last_read().contains("column `EAP` is missing") && ran.last_read().contains("not finished"));
}

#[test]
fn the_last_valid_submission_is_kept() {
    let model = says(vec![bash("write 1"), bash("write bad"), bash("write 2"), bash("ls"), bash("pwd")]);
    let ran = run(&load(NATIVE, &[]), 5, model);
    assert!(ran.finished.is_none(), "the step limit ends it");
    assert_eq!(ran.selected(), [Sha256::of(b"1\n"), Sha256::of(b"2\n")]);
    let read: Vec<&str> =
        ran.asked.iter().map(|request| request.messages.last().unwrap().content.as_str()).collect();
    assert!(
        read[2].contains("an earlier valid one is kept") && read[3].contains("csv` is valid"),
        "{read:#?}"
    );
    assert!(read[4].contains("1 step and"), "{}", read[4]);
    let validations =
        ran.journal.iter().filter(|(_, effect, _)| matches!(effect, Effect::Validate { .. })).count();
    assert_eq!(validations, 3, "the same file is not checked again");
}

#[test]
fn many_calls_of_one_answer_are_made_in_order_up_to_a_number() {
    let many: Vec<(&str, serde_json::Value)> =
        (0..4).map(|number| ("execute_bash", json!({"command": format!("echo {number}")}))).collect();
    let ran = run(&load(NATIVE, &[("agent.calls_per_turn", "3")]), 2, says(vec![answer("Four.", &many)]));
    let tools: Vec<&str> = ran.asked[1]
        .messages
        .iter()
        .filter(|message| message.role == Speaker::Tool)
        .map(|message| message.content.lines().nth(1).unwrap_or(&message.content))
        .collect();
    assert_eq!(tools[..3], ["echo 0", "echo 1", "echo 2"]);
    assert!(ran.last_read().starts_with("ERROR: this call was not made"), "{}", ran.last_read());
    // A finish ends the answer: what comes behind it is not made.
    let calls = [
        ("execute_bash", json!({"command": "write 1"})),
        ("finish", json!({})),
        ("think", json!({"thought": ""})),
    ];
    let ran = run(&load(NATIVE, &[]), 2, says(vec![answer("", &calls)]));
    assert_eq!((ran.reason(), ran.asked.len()), ("the agent finished", 1));
}

#[test]
fn an_agent_in_circles_is_told_and_then_stopped() {
    let stopped = |file, overrides: &[(&str, &str)], model| {
        let ran = run(&load(file, overrides), 99, model);
        (ran.reason().to_owned(), ran.asked.len())
    };
    let same = || says(vec![bash("ls")]);
    let told = "the agent is stuck: the same call with the same result again and again, 4 times, after 2 remarks on it";
    assert_eq!(stopped(NATIVE, &[], same()), (told.to_owned(), 12));
    assert_eq!(stopped(NATIVE, &[("stuck.nudges", "0")], same()).1, 4);
    let errors = stopped(NATIVE, &[], says(vec![bash("false")]));
    assert!(errors.0.contains("an error") && errors.1 == 9, "{errors:?}");
    let silent = stopped(TEXT, &[], says(vec![answer("What now?", &[])]));
    assert!(silent.0.contains("call no tool") && silent.1 == 9, "{silent:?}");
    let empty = stopped(NATIVE, &[], says(vec![answer("", &[])]));
    assert!(empty.0.contains("call no tool"), "{empty:?}");
    let alternating: Model = Box::new(|number, _| Ok(bash(if number % 2 == 0 { "ls" } else { "pwd" })));
    assert!(stopped(NATIVE, &[], alternating).0.contains("in turn"));
    // Waiting for a program is no circle.
    let waits: Model = Box::new(|number, _| Ok(bash(if number == 0 { "run" } else { "" })));
    assert!(run(&load(NATIVE, &[]), 30, waits).finished.is_none());
    // Nor is a call that crashes of the harness cut each time.
    assert!(run(&load(NATIVE, &[]), 30, says(vec![bash("crash")])).finished.is_none());
}

#[test]
fn a_call_that_the_output_limit_cut_is_not_made() {
    let cut = |content: &str, calls| ChatAnswer { finish: FinishReason::Length, ..answer(content, calls) };
    let text = cut("<function=execute_bash>\n<parameter=command>rm -r data && ec", &[]);
    let ran = run(&load(TEXT, &[]), 2, says(vec![text]));
    assert!(
        ran.last_read().contains("before its call was whole")
            || ran.last_read().contains("cut at the output limit")
    );
    assert!(!ran.journal.iter().any(|(_, effect, _)| matches!(effect, Effect::Session(_))));
    let native = cut("", &[("execute_bash", json!("{\"command\": \"rm -r da"))]);
    let ran = run(&load(NATIVE, &[]), 2, says(vec![native]));
    assert!(ran.last_read().contains("cut at the output limit"), "{}", ran.last_read());
    assert!(!ran.journal.iter().any(|(_, effect, _)| matches!(effect, Effect::Session(_))));
}

#[test]
fn a_long_history_is_condensed_and_the_agent_goes_on() {
    let model: Model = Box::new(|number, _| Ok(bash(&format!("echo {number}"))));
    let scaffold = load(NATIVE, &[("condensation.max_turns", "10"), ("condensation.keep_first", "1")]);
    let ran = run(&scaffold, 30, model);
    let condensed = ran.journal.iter().filter(|(key, ..)| key.contains("/condense-")).count();
    assert_eq!(condensed, 4, "after eleven turns, and every five of them");
    let last = ran.asked.last().unwrap();
    assert!(last.messages.len() < 30);
    let text = super::world::shown(last);
    assert!(
        text.contains("echo 0") && !text.contains("echo 5\n") && text.contains("- Data: 90 rows."),
        "{text}"
    );
    let without = load(NATIVE, &[("condensation.max_turns", "10"), ("condensation.summary_tokens", "1")]);
    let model: Model = Box::new(|number, _| Ok(bash(&format!("echo {number}"))));
    let last = run(&without, 30, model).asked.last().unwrap().clone();
    assert!(super::world::shown(&last).contains("Files that you wrote are still there."));
}

/// A model with a window of so many tokens, by our own estimate.
fn window(tokens: u64, say: impl Fn(usize) -> ChatAnswer + 'static) -> Model {
    Box::new(move |number, request| {
        let prompt_tokens = estimate(request);
        if prompt_tokens > tokens {
            return Err(ChatError::ContextTooLong { prompt_tokens, output_tokens: 0, window: tokens });
        }
        Ok(say(number))
    })
}

#[test]
fn a_full_window_is_made_room_in_and_never_a_loop_without_end() {
    let opening = {
        let (_, request) = load(NATIVE, &[])
            .first_call(&crate::support::task(), &crate::support::budget(), "x")
            .unwrap()
            .unwrap();
        estimate(&request)
    };
    let ran = run(
        &load(NATIVE, &[]),
        60,
        window(opening + 3_000, |number| bash(&format!("echo {}", "word ".repeat(number % 90)))),
    );
    assert!(ran.finished.is_none(), "{:?}", ran.finished);
    assert!(ran.journal.iter().any(|(key, ..)| key.contains("/condense-")));
    // One result that fills the window by itself is cut.
    let long = |number: usize| bash(&format!("{number} {}", "echo word ".repeat(900)));
    let ran = run(&load(NATIVE, &[]), 20, window(opening + 4_000, long));
    assert!(ran.finished.is_none_or(|finished| finished.reason.contains("window")));
    // Not even the first messages fit.
    let ran = run(&load(NATIVE, &[]), 20, window(opening / 2, |_| finish()));
    assert!(ran.reason().contains("exceeds the window"), "{}", ran.reason());
    assert_eq!(ran.asked.len(), 1);
}

#[test]
fn refusals_end_the_run_by_name() {
    let refused: Model = Box::new(|_, _| Err(ChatError::Refused { message: "no".into() }));
    let ran = run(&load(NATIVE, &[]), 20, refused);
    assert_eq!(ran.reason(), "the model refused 4 times in a row: the provider refused the request: no");
}
