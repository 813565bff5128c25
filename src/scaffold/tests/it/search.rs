//! Whole searches against a scripted world.

use std::fmt::Write as _;

use podium_scaffold::node::NodeRecord;
use podium_scaffold::{Effect, EffectResult};
use podium_types::chat::{ChatError, FinishReason};
use serde_json::{Value, json};

use crate::support::aide;
use crate::support::context::FakeContext;
use crate::support::script::{chat, program, world};

/// Node 0 crashes, 1 is cut once, 2 has an unreadable review, and so on.
fn eight_steps(key: &str) -> Option<EffectResult> {
    let result = match key {
        "node/0/draft/0" => program("crash"),
        "node/1/draft/0" => chat("A plan.\n```python\nprint(", None, FinishReason::Length),
        "node/1/draft/1" => program("0.5"),
        "node/2/draft/0" => program("0.4"),
        "node/2/review/0" => chat("Looks fine to me!", None, FinishReason::Stop),
        "node/2/review/1" => chat("{\"is_bug\": fal", None, FinishReason::Length),
        "node/3/improve/0" | "node/3/debug/0" => chat("I cannot.", None, FinishReason::Stop),
        "node/3/improve/1" | "node/3/debug/1" => program("0.45"),
        "node/4/improve/0" | "node/4/debug/0" => EffectResult::Chat(Err(ChatError::ContextTooLong {
            prompt_tokens: 9_000,
            output_tokens: 500,
            window: 8_192,
        })),
        "node/4/improve/1" | "node/4/debug/1" => program("0.3"),
        "node/5/improve/0" | "node/5/debug/0" => program("bad file"),
        "node/6/improve/0" | "node/6/debug/0" => program("NaN"),
        "node/7/improve/0" | "node/7/debug/0" => program("0.35"),
        _ => return None,
    };
    Some(result)
}

fn nodes(context: &FakeContext) -> Vec<NodeRecord> {
    let journal = context.journal.borrow();
    let records = journal.iter().filter_map(|(_, effect, _)| match effect {
        Effect::Node(node) => Some((**node).clone()),
        _ => None,
    });
    records.collect()
}

fn keys(context: &FakeContext) -> Vec<String> {
    context.journal.borrow().iter().map(|(key, ..)| key.clone()).collect()
}

fn table(context: &FakeContext) -> String {
    let mut text = String::from("keys\n");
    for (key, effect, _) in context.journal.borrow().iter() {
        let room = match effect {
            Effect::Chat { request, .. } => format!(" ({} tokens)", request.max_output_tokens.unwrap()),
            _ => String::new(),
        };
        let _ = writeln!(text, "  {key}{room}");
    }
    text.push_str("nodes\n");
    for node in nodes(context) {
        let metric = node.metric.map_or("-".to_owned(), |metric| metric.to_string());
        let parents = format!("{:?}", node.parents);
        let end = node.buggy.as_deref().unwrap_or("good");
        let _ = writeln!(text, "  {} {parents} {} {metric} {end} | {}", node.id, node.operator, node.reason);
    }
    text
}

fn selected(context: &FakeContext) -> Vec<u32> {
    let journal = context.journal.borrow();
    journal
        .iter()
        .filter_map(|(_, effect, _)| match effect {
            Effect::SelectFinal { node, .. } => *node,
            _ => None,
        })
        .collect()
}

#[test]
fn eight_steps_of_everything() {
    let context = FakeContext::new(5, 8, world(eight_steps));
    let scaffold = aide(&[("policy.rule.drafts.number", "3")]);
    assert_eq!(context.drive(&*scaffold.strategy()).unwrap(), None);
    insta::assert_snapshot!(table(&context));
    let again = FakeContext::new(5, 8, world(eight_steps));
    again.drive(&*scaffold.strategy()).unwrap();
    assert_eq!(*again.journal.borrow(), *context.journal.borrow());
}

#[test]
fn a_cut_answer_is_never_executed() {
    let cut = |key: &str| {
        key.contains("/draft/").then(|| chat("P.\n```python\nx = 1\n```", None, FinishReason::Length))
    };
    let context = FakeContext::new(1, 2, world(cut));
    context.drive(&*aide(&[]).strategy()).unwrap();
    let journal = context.journal.borrow();
    let rooms: Vec<u32> = journal
        .iter()
        .filter_map(|(_, effect, _)| match effect {
            Effect::Chat { request, .. } => request.max_output_tokens,
            Effect::Execute(_) => panic!("executed"),
            _ => None,
        })
        .take(3)
        .collect();
    assert_eq!(rooms, [16_384, 32_768, 65_536]);
    let first = &nodes(&context)[0];
    assert_eq!(
        first.buggy.as_deref(),
        Some("no usable answer in 3 tries; the last: the code block is never closed: the answer was cut")
    );
    assert_eq!((first.code.as_str(), first.execution_ms), ("x = 1", 0));
}

#[test]
fn workers_overlap_and_the_count_of_steps_is_exact() {
    for workers in ["1", "3", "8"] {
        for seed in 0..20 {
            let script = |key: &str| {
                let number: u32 = key.strip_prefix("node/")?.split('/').next()?.parse().ok()?;
                let writes = ["draft", "improve", "debug"].iter().any(|word| key.contains(word));
                writes.then(|| {
                    program(if number.is_multiple_of(3) {
                        "crash"
                    } else {
                        ["0.7", "0.6", "0.8"][number as usize % 3]
                    })
                })
            };
            let context = FakeContext::new(seed, 25, world(script));
            assert_eq!(context.drive(&*aide(&[("search.workers", workers)]).strategy()).unwrap(), None);
            let mut ids: Vec<u32> = nodes(&context).iter().map(|node| node.id).collect();
            ids.sort_unstable();
            assert_eq!(ids.len(), 25, "{workers} workers, seed {seed}");
            ids.dedup();
            assert_eq!(ids.len(), 25);
        }
    }
}

#[test]
fn only_a_better_valid_node_is_put_in_place() {
    let script = |key: &str| {
        let metrics = ["0.5", "0.5", "no file", "0.4", "0.6"];
        let number: usize = key.strip_prefix("node/")?.strip_suffix("/draft/0")?.parse().ok()?;
        Some(program(metrics[number]))
    };
    let context = FakeContext::new(1, 5, world(script));
    context.drive(&*aide(&[]).strategy()).unwrap();
    assert_eq!(selected(&context), [0, 3]);
    assert_eq!(nodes(&context)[2].buggy.as_deref(), Some("no submission: nothing"));
}

#[test]
fn what_the_program_printed_counts_before_what_the_review_read() {
    // What is printed after "validation log loss: ", what the review reads, what counts, whether people are told.
    let cases = [
        ("0.5", json!(0.9), "0.5", true),
        ("0.51234", json!(0.5123), "0.51234", false),
        ("0.5", Value::Null, "0.5", true),
        ("nan", json!(0.9), "no finite validation metric", true),
        ("nan", Value::Null, "no finite validation metric", false),
        ("unknown", json!(0.9), "0.9", false),
        ("unknown", Value::Null, "no finite validation metric", false),
    ];
    for (printed, read, counts, told) in cases {
        let document = json!({"is_bug": false, "summary": "Fine.", "metric": read});
        let script = move |key: &str| match key {
            "node/0/draft/0" => Some(program(printed)),
            "node/0/review/0" => Some(chat("", Some(document.clone()), FinishReason::Stop)),
            _ => None,
        };
        let context = FakeContext::new(1, 1, world(script));
        context.drive(&*aide(&[]).strategy()).unwrap();
        let node = nodes(&context).remove(0);
        let result = node.buggy.clone().or_else(|| node.metric.map(|metric| metric.to_string()));
        assert_eq!(result.as_deref(), Some(counts), "{printed} {read}");
        assert_eq!(node.summary, "Fine.", "what models read of a node is the model's own");
        let journal = context.journal.borrow();
        let notes: Vec<&str> = journal
            .iter()
            .filter_map(|(_, effect, _)| match effect {
                Effect::Note { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(notes.len(), usize::from(told), "{printed} {read}: {notes:?}");
        assert!(notes.iter().all(|note| note.contains(&read.to_string()) || read.is_null()), "{notes:?}");
    }
}

#[test]
fn a_reviewer_that_changes_its_mind_on_the_direction_changes_nothing() {
    // Less is better. The reviewer says so of one node and the opposite of the next.
    let script = |key: &str| {
        let mut parts = key.strip_prefix("node/")?.split('/');
        let node: usize = parts.next()?.parse().ok()?;
        let metric = [0.5, 0.3, 0.7, 0.4, 0.9][node % 5];
        match parts.next()? {
            "draft" | "improve" => Some(program(&metric.to_string())),
            "review" => {
                let lower = node.is_multiple_of(2);
                let document =
                    json!({"is_bug": false, "summary": "Fine.", "metric": metric, "lower_is_better": lower});
                Some(chat("", Some(document), FinishReason::Stop))
            }
            _ => None,
        }
    };
    let context = FakeContext::new(1, 8, world(script));
    context.drive(&*aide(&[]).strategy()).unwrap();
    assert_eq!(selected(&context), [0, 1]);
    assert!(nodes(&context).iter().all(NodeRecord::is_good));
    assert_eq!(nodes(&context)[5].parents, [1]);
    let told = keys(&context).into_iter().filter(|key| key.ends_with("/direction/0")).count();
    assert_eq!(told, 4, "people are told of each wrong opinion");
}

#[test]
fn a_chain_of_thousands_of_nodes_is_no_problem() {
    let context = FakeContext::new(1, 600, world(|key| key.contains("/d").then(|| program("crash"))));
    let deep = [("policy.rule.drafts.number", "1"), ("policy.rule.debug.probability", "1")];
    let scaffold = aide(&[deep[0], deep[1], ("policy.rule.debug.max_debug_depth", "5000")]);
    context.drive(&*scaffold.strategy()).unwrap();
    let nodes = nodes(&context);
    assert_eq!((nodes.len(), nodes.last().unwrap().parents.as_slice()), (600, [598].as_slice()));
    let text = serde_json::to_string(&nodes).unwrap();
    assert_eq!(serde_json::from_str::<Vec<NodeRecord>>(&text).unwrap(), nodes);
}

#[test]
fn a_single_try_can_be_asked_for() {
    let refusing = |key: &str| key.contains("/draft/").then(|| chat("I cannot.", None, FinishReason::Stop));
    let once = [("operators.draft.tries", "1"), ("evaluation.review.tries", "1")];
    let context = FakeContext::new(1, 1, world(refusing));
    context.drive(&*aide(&once).strategy()).unwrap();
    assert_eq!(keys(&context), ["run/preview", "node/0/begin/0", "node/0/draft/0", "node/0/record/0"]);
    let unread = |key: &str| key.contains("/review/").then(|| chat("Fine!", None, FinishReason::Stop));
    let context = FakeContext::new(1, 1, world(unread));
    context.drive(&*aide(&once).strategy()).unwrap();
    let reviews = keys(&context).into_iter().filter(|key| key.contains("/review/")).count();
    assert_eq!(
        (reviews, nodes(&context)[0].flags.as_slice()),
        (1, ["the review could not be read".to_owned()].as_slice())
    );
}

#[test]
fn a_policy_with_nothing_to_do_ends_the_run() {
    let toml = crate::support::AIDE;
    let start = toml.find("[[policy.rule]]\nname = \"debug\"").unwrap();
    let end = toml.find("[operators.draft]").unwrap();
    let only_drafts = format!("{}{}", &toml[..start], &toml[end..]);
    for workers in 1..8 {
        for seed in 0..8 {
            let overrides = [("search.workers".to_owned(), workers.to_string())];
            let scaffold =
                podium_scaffold::Scaffold::load(&only_drafts, crate::support::prompts(), &overrides).unwrap();
            // While the last drafts are in work the policy has nothing for the workers that are free: they wait.
            let context = FakeContext::new(seed, 100, world(|_| None));
            let finished = context.drive(&*scaffold.strategy()).unwrap().unwrap();
            assert_eq!(
                (finished.reason.as_str(), nodes(&context).len()),
                ("the search policy had nothing left to do", 5),
                "{workers} workers, seed {seed}"
            );
        }
    }
}
