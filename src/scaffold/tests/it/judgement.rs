//! What a node is worth when program and reviewer say odd things of it: facts first, and no opinion without a reason.

use podium_scaffold::node::NodeRecord;
use podium_scaffold::{Effect, EffectResult};
use podium_types::chat::FinishReason;
use podium_types::number::Number;
use serde_json::{Value, json};

use crate::support::aide;
use crate::support::context::FakeContext;
use crate::support::script::{chat, program, world};

/// One draft that prints `printed` as its log loss, a reviewer that answers `review`, and then one debug or improvement:
/// the draft, and the prompt of what came after.
fn judged(printed: &'static str, review: &'static str) -> (NodeRecord, String) {
    let script = move |key: &str| match key {
        "node/0/draft/0" => Some(program(printed)),
        _ if key.starts_with("node/0/review/") => Some(reviewed(review)),
        _ => None,
    };
    let once = [("policy.rule.drafts.number", "1"), ("policy.rule.debug.probability", "1")];
    let context = FakeContext::new(1, 2, world(script));
    context.drive(&*aide(&once).strategy()).unwrap();
    let journal = context.journal.borrow();
    let node = journal.iter().find_map(|(_, effect, _)| match effect {
        Effect::Node(node) => Some((**node).clone()),
        _ => None,
    });
    let next = journal.iter().find_map(|(key, effect, _)| match effect {
        Effect::Chat { request, .. } if key.starts_with("node/1/") => {
            Some(request.messages[1].content.clone())
        }
        _ => None,
    });
    (node.unwrap(), next.unwrap())
}

/// JSON is a document that keeps to the schema, all else is text.
fn reviewed(text: &str) -> EffectResult {
    let document = serde_json::from_str::<Value>(text).ok();
    chat(if document.is_some() { "" } else { text }, document, FinishReason::Stop)
}

#[test]
fn what_cannot_be_or_cannot_be_read_is_told_from_what_is() {
    let fine = r#"{"is_bug": false, "summary": "", "metric": 0.4}"#;
    // Printed, reviewed; why it counts as buggy, its metric.
    let cases = [
        ("0.3", fine, None, Some(0.3)),
        ("n/a", fine, None, Some(0.4)),
        // The sign turned round, as scikit-learn's scorers have it.
        ("-0.3", fine, Some("its validation log loss -0.3 cannot be: a log loss is 0 or more"), Some(-0.3)),
        ("-1e308", fine, Some("its validation log loss -1"), Some(-1e308)),
        ("-0", fine, None, Some(0.0)),
        ("1e400", fine, Some("no finite validation metric"), None),
        ("nan", fine, Some("no finite validation metric"), None),
        // A reviewer that cannot be read takes nothing from a program that prints its metric.
        ("0.3", "Fine!", None, Some(0.3)),
        ("0.3", "{\"is_bug\": false, \"summary\": \"cut", None, Some(0.3)),
        ("n/a", "Fine!", Some("the review could not be read; no finite validation metric"), None),
        (
            "-0.3",
            "Fine!",
            Some("the review could not be read; its validation log loss -0.3 cannot be"),
            Some(-0.3),
        ),
        ("n/a", "{'is_bug': False, 'metric': 0.4,}", None, Some(0.4)),
        ("0.3", "{\"is_bug\": False, \"metric\": Infinity}", None, Some(0.3)),
        ("n/a", "{\"is_bug\": false, \"metric\": 1e400}", Some("no finite validation metric"), None),
        (
            "n/a",
            r#"{"is_bug": false, "summary": "", "metric": -5}"#,
            Some("its validation log loss -5 cannot be"),
            Some(-5.0),
        ),
        (
            "0.3",
            r#"{"is_bug": true, "summary": "Leaks.", "metric": 0.3}"#,
            Some("the review found a bug"),
            Some(0.3),
        ),
        (
            "no file",
            r#"{"is_bug": false, "summary": "", "metric": 0.001}"#,
            Some("no submission: nothing"),
            Some(0.001),
        ),
        ("crash", r#"{"is_bug": false, "summary": "", "metric": 0.001}"#, Some("KeyError"), Some(0.001)),
    ];
    for (printed, review, buggy, metric) in cases {
        let (node, next) = judged(printed, review);
        let told = node.buggy.as_deref();
        assert!(
            told.is_some() == buggy.is_some()
                && told.unwrap_or_default().starts_with(buggy.unwrap_or_default()),
            "{printed}, {review}: {told:?}"
        );
        assert_eq!(node.metric, metric.map(Number), "{printed}, {review}");
        let unread = node.flags.iter().any(|flag| flag == "the review could not be read");
        assert_eq!(unread, review == "Fine!" || review.ends_with("cut"), "{printed}, {review}");
        // Whoever is to mend it hears why, where neither the harness's facts nor the reviewer say it.
        if let Some(why) =
            buggy.and_then(|why| why.rsplit("; ").next()).filter(|why| why.contains("validation"))
        {
            assert!(
                next.contains("What the harness remarks") && next.contains(why),
                "{printed}, {review}: {next}"
            );
        } else {
            assert!(!next.contains("What the harness remarks"), "{printed}, {review}: {next}");
        }
    }
}

#[test]
fn a_reviewer_that_is_never_read_costs_no_run_its_result() {
    let script = |key: &str| match key {
        _ if key.contains("/review/") => Some(chat("It went well.", None, FinishReason::Stop)),
        _ if key.starts_with("node/3/draft") => Some(program("0.2")),
        _ => None,
    };
    let context = FakeContext::new(1, 6, world(script));
    context.drive(&*aide(&[]).strategy()).unwrap();
    let selected = context
        .journal
        .borrow()
        .iter()
        .filter_map(|(_, effect, _)| match effect {
            Effect::SelectFinal { node, .. } => Some(json!(node)),
            _ => None,
        })
        .next_back();
    assert_eq!(selected, Some(json!(3)));
}
