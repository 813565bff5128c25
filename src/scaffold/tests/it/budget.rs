//! Parts of prompts that are cut, and prompts that do not fit a window.

use podium_scaffold::{Effect, EffectResult, Scaffold};
use podium_types::chat::{ChatError, FinishReason};
use podium_types::tokens::estimate;

use crate::support::context::FakeContext;
use crate::support::script::{chat, execute, world};
use crate::support::{aide, task};

const DESCRIPTION: &str = "# Overview\n\nTell the segments apart.\n\n## History\n\nHISTORY\n\n## Evaluation\n\nLog loss.\n\n\
    ### Submission File\n\nOne row for each id.\n\n## Prizes\n\nPRIZES\n\n## Dataset Description\n\nDATA\n";

/// A description of many tokens whose rules stand in its middle.
fn description() -> String {
    let long = |word: &str| format!("Of {word} there is much to tell. ").repeat(200);
    DESCRIPTION
        .replace("HISTORY", &long("history"))
        .replace("PRIZES", &long("prizes"))
        .replace("DATA", &long("columns"))
}

/// A node whose program, plan, output and review are long, and the next step's prompts for it.
fn wordy(key: &str) -> Option<EffectResult> {
    let mut parts = key.strip_prefix("node/")?.split('/');
    let node: u32 = parts.next()?.parse().ok()?;
    let metric = if node == 0 { "crash" } else { "0.5" };
    Some(match parts.next()? {
        "draft" | "debug" | "improve" => {
            let plan = "We fit trees, and say so at length. ".repeat(40);
            let code = format!("# begin\n{}print('{metric}')  # end\n", "x = [1, 2, 3]\n".repeat(200));
            chat(&format!("{plan}\n\n```python\n{code}```\n"), None, FinishReason::Stop)
        }
        "execute" => {
            let mut execution = execute(&format!("print('{metric}')"));
            let noise = "epoch 12: done\n".repeat(200);
            execution.output.head = format!("output begins\n{noise}validation log loss: {metric}\n");
            EffectResult::Execution(Box::new(execution))
        }
        "review" => {
            let summary = "It went as planned, and there is more to say. ".repeat(40);
            let document = serde_json::json!({"is_bug": node == 0, "summary": summary, "metric": 0.5});
            chat("", Some(document), FinishReason::Stop)
        }
        _ => return None,
    })
}

/// The prompts that were sent, by key, the system message left out.
fn prompts(scaffold: &Scaffold, steps: u32) -> Vec<(String, String)> {
    let long = move |key: &str| match key {
        "run/preview" => Some(EffectResult::Preview("input/\n    train.csv (90 rows)\n".repeat(50))),
        _ => wordy(key),
    };
    let mut context = FakeContext::new(3, steps, world(long));
    context.task.description = description();
    context.drive(&*scaffold.strategy()).unwrap();
    let journal = context.journal.borrow();
    let sent = journal.iter().filter_map(|(key, effect, _)| match effect {
        Effect::Chat { request, .. } => Some((key.clone(), request.messages.last().unwrap().content.clone())),
        _ => None,
    });
    sent.collect()
}

const ONE_DRAFT: (&str, &str) = ("policy.rule.drafts.number", "1");
const MEND: (&str, &str) = ("policy.rule.debug.probability", "1");

#[test]
fn a_part_that_is_cut_says_so() {
    let whole = prompts(&aide(&[ONE_DRAFT, MEND]), 4);
    for (key, text) in &whole {
        assert!(!text.contains("for want of room"), "{key}");
    }
    // The part, a limit, a call that shows it, and what stays of it.
    let cases = [
        ("code", "200", "node/1/debug/0", "# begin\n"),
        ("code", "200", "node/0/review/0", "  # end\n"),
        ("plan", "60", "node/1/debug/0", "We fit trees, and say so"),
        ("summary", "60", "node/1/debug/0", "It went as planned"),
        ("description", "2000", "node/0/draft/0", "One row for each id."),
        ("preview", "200", "node/0/draft/0", "train.csv (90 rows)"),
        ("memory", "1700", "node/3/improve/0", "[1] log loss 0.5"),
    ];
    for (part, limit, call, kept) in cases {
        let path = format!("prompt_budget.{part}");
        let cut = prompts(&aide(&[ONE_DRAFT, MEND, (&path, limit)]), 4);
        let (_, text) = cut.iter().find(|(key, _)| key == call).unwrap_or_else(|| panic!("{call}: {cut:?}"));
        assert!(text.contains("for want of room ...]"), "{part}:\n{text}");
        assert!(text.contains(kept), "{part}:\n{text}");
    }
    let output = prompts(&aide(&[ONE_DRAFT, MEND, ("prompt_budget.output", "300")]), 2);
    let (_, text) = output.iter().find(|(key, _)| key == "node/1/debug/0").unwrap();
    assert!(text.contains("characters in the middle left out)"), "{text}");
    assert!(text.contains("output begins\n") && text.contains("validation log loss: crash\n"), "{text}");
}

#[test]
fn a_long_description_keeps_its_beginning_and_the_rules_of_the_hand_in() {
    let cut = prompts(&aide(&[("prompt_budget.description", "3000")]), 1);
    let (_, text) = &cut[0];
    for kept in
        ["Tell the segments apart.", "## Evaluation", "Log loss.", "One row for each id.", "Of columns"]
    {
        assert!(text.contains(kept), "{kept}:\n{text}");
    }
    assert!(!text.contains("Of prizes") && !text.contains("Of history"), "{text}");
}

/// The requests of node 1, a mend, where the model's window is `window` and the service counts `divisor` times fewer
/// tokens than the estimate.
fn mends(window: u64, divisor: u64) -> Vec<(u64, String)> {
    let scaffold = aide(&[ONE_DRAFT, MEND, ("models.code.max_output_tokens", "1000")]);
    let mut context = FakeContext::new(3, 2, Box::new(|_, _| EffectResult::Recorded));
    let inner = world(wordy);
    context.world = Box::new(move |key, effect| match effect {
        Effect::Chat { request, .. } if key.starts_with("node/1/debug/") => {
            let (prompt_tokens, output_tokens) = (estimate(request) / divisor, 1_000);
            if prompt_tokens + output_tokens > window {
                return EffectResult::Chat(Err(ChatError::ContextTooLong {
                    prompt_tokens,
                    output_tokens,
                    window,
                }));
            }
            inner(key, effect)
        }
        Effect::Preview(_) => EffectResult::Preview("input/\n    train.csv (90 rows)\n".repeat(50)),
        _ => inner(key, effect),
    });
    context.task.description = description();
    context.drive(&*scaffold.strategy()).unwrap();
    let journal = context.journal.borrow();
    let sent = journal.iter().filter_map(|(key, effect, _)| match effect {
        Effect::Chat { request, .. } if key.starts_with("node/1/debug/") => {
            Some((estimate(request) / divisor, request.messages.last().unwrap().content.clone()))
        }
        _ => None,
    });
    sent.collect()
}

#[test]
fn a_prompt_that_does_not_fit_is_sent_again_with_as_much_as_fits() {
    for divisor in [1, 2] {
        let whole = mends(1 << 20, divisor);
        assert_eq!(whole.len(), 1);
        let full = whole[0].0;
        let code = whole[0].1.matches("x = [1, 2, 3]").count();
        let mut kept = Vec::new();
        for share in [97, 85, 70, 55] {
            let window = full * share / 100 + 1_000;
            let sent = mends(window, divisor);
            assert!(sent.len() == 2, "one more request is enough: {} at {share} %", sent.len());
            let (tokens, text) = &sent[1];
            assert!(tokens + 1_000 <= window, "{tokens} + 1000 > {window}");
            assert!(tokens * 10 > full * share / 100 * 8, "not much more than needed: {tokens}, {share} %");
            assert!(text.matches("x = [1, 2, 3]").count() * 2 >= code, "never the program below half");
            assert!(text.contains("Log loss.") && text.contains("output begins"));
            kept.push(text.contains("An overview of `./input`"));
        }
        // The overview gives way before the description does.
        assert!(kept[0] && !kept[3], "{kept:?}");
    }
}

#[test]
fn what_was_written_for_a_task_stays_as_it_is() {
    assert!(!task().description.is_empty());
    let plain = FakeContext::new(1, 1, world(|_| None));
    plain.drive(&*aide(&[]).strategy()).unwrap();
    let journal = plain.journal.borrow();
    let Some((_, Effect::Chat { request, .. }, _)) =
        journal.iter().find(|(_, effect, _)| matches!(effect, Effect::Chat { .. }))
    else {
        panic!("no model was asked")
    };
    assert!(request.messages[1].content.contains(&task().description));
}
