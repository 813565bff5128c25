//! Every number in `aide.toml` takes effect: another value gives another first prompt, other limits for the run, or
//! another course of a search in which everything happens.

use std::fmt::Write as _;

use podium_scaffold::{Budget, EffectResult, Scaffold};
use podium_types::chat::FinishReason;
use serde_json::{Value, json};

use crate::support::context::FakeContext;
use crate::support::script::{chat, execute, world};
use crate::support::{aide, budget, task};

/// Each number, and another value for it.
const OTHERS: &[(&str, &str)] = &[
    ("benchmark.max_packages", "1"),
    ("data_preview.max_chars", "5999"),
    ("evaluation.k_fold", "4"),
    ("evaluation.review.tries", "1"),
    ("limits.execution_timeout", "2h"),
    ("limits.steps", "21"),
    ("limits.time_limit", "23h"),
    ("models.code.max_output_tokens", "16385"),
    ("models.code.temperature", "0.6"),
    ("models.feedback.max_output_tokens", "4097"),
    ("models.feedback.temperature", "0.6"),
    ("operators.debug.tries", "1"),
    ("operators.draft.memory.max_chars", "60"),
    ("operators.draft.tries", "1"),
    ("operators.improve.memory.max_chars", "60"),
    ("operators.improve.tries", "1"),
    ("output.head_chars", "2499"),
    ("output.max_chars", "20000"),
    ("output.tail_chars", "2499"),
    ("policy.rule.debug.max_debug_depth", "0"),
    ("policy.rule.debug.probability", "0.9"),
    ("policy.rule.drafts.number", "4"),
    ("search.workers", "2"),
];

/// Numbers that change no behaviour, and why.
const IDLE: &[(&str, &str)] = &[("version", "it names the composition, for people who compare runs")];

/// By the number of the node: some answers hold no program, some programs crash, some reviews cannot be read; all
/// print much.
fn everything(key: &str) -> Option<EffectResult> {
    let mut parts = key.strip_prefix("node/")?.split('/');
    let node: u32 = parts.next()?.parse().ok()?;
    let operator = parts.next()?;
    let metric = 0.9 - f64::from(node) / 100.0;
    let answer = |text: &str| chat(text, None, FinishReason::Stop);
    Some(match (operator, node % 6) {
        ("draft" | "debug" | "improve", 1) => answer("I cannot."),
        ("draft" | "debug" | "improve", _) => {
            answer(&format!("Plan {node}: fit trees.\n```python\nprint('{metric}')\n```"))
        }
        ("execute", kind) => {
            let mut execution =
                execute(if kind == 2 || kind == 4 { "print('crash')" } else { "print('0.5')" });
            let noise = "epoch done\n".repeat(1_000);
            execution.output.head = format!("{noise}validation log loss: {metric}\n");
            EffectResult::Execution(Box::new(execution))
        }
        ("review", 3) => answer("Fine!"),
        ("review", _) => {
            let review =
                json!({"is_bug": false, "summary": format!("Run {node} went well."), "metric": metric});
            chat("", Some(review), FinishReason::Stop)
        }
        _ => return None,
    })
}

/// All that a scaffold does, as one text.
fn course(scaffold: &Scaffold) -> String {
    let limits = scaffold.limits();
    let told = Budget {
        step_limit: Some(limits.steps),
        run_limit_ms: Some(limits.time_limit.millis()),
        execution_limit_ms: limits.execution_timeout.millis(),
        ..budget()
    };
    let mut text = format!("{:?}\n", scaffold.first_call(&task(), &told, "input/").unwrap());
    for seed in [1, 2] {
        let context = FakeContext::new(seed, 40, world(everything));
        context.drive(&*scaffold.strategy()).unwrap();
        for (key, effect, _) in context.journal.borrow().iter() {
            let _ = writeln!(text, "{key} {effect:?}");
        }
    }
    text
}

#[test]
fn every_number_takes_effect() {
    let base = aide(&[]);
    let is_number = |value: &Value| match value {
        Value::Number(_) => true,
        Value::String(text) => text.parse::<podium_scaffold::spec::Duration>().is_ok(),
        _ => false,
    };
    let mut numbers: Vec<&str> = base
        .values()
        .iter()
        // `[validation]` is the run layer's: it makes a task of it.
        .filter(|value| is_number(&value.value) && !value.path.starts_with("validation."))
        .map(|value| value.path.as_str())
        .collect();
    let mut known: Vec<&str> = OTHERS.iter().chain(IDLE).map(|(path, _)| *path).collect();
    known.sort_unstable();
    numbers.sort_unstable();
    assert_eq!(numbers, known, "a number in aide.toml needs a line here");
    let before = course(&base);
    assert_eq!(course(&aide(&[])), before, "the course is a function of the scaffold");
    for (path, other) in OTHERS {
        assert!(course(&aide(&[(path, other)])) != before, "{path} = {other} changes nothing");
    }
    for (path, why) in IDLE {
        assert!(course(&aide(&[(path, "7")])) == before, "{path}: {why}");
    }
}
