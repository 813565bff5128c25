//! The operator `ablate`: a study first, then one improvement that has seen it.

use podium_scaffold::node::NodeRecord;
use podium_scaffold::{Effect, EffectResult};
use podium_types::chat::FinishReason;

use crate::support::context::FakeContext;
use crate::support::script::{chat, program, world};
use crate::support::shipped;

struct Course {
    keys: Vec<String>,
    /// The prompt of the improvement.
    prompt: String,
    node: NodeRecord,
}

/// Two drafts, then one refinement of the better by the shipped scaffold; `script` decides about its study.
fn refine(script: impl Fn(&str) -> Option<EffectResult> + 'static) -> Course {
    let context = FakeContext::new(1, 3, world(script));
    context.drive(&*shipped::scaffolds()["mle-star"].strategy()).unwrap();
    let journal = context.journal.borrow();
    let of_node = journal.iter().filter(|(key, ..)| key.starts_with("node/2/"));
    let prompt = of_node.clone().find_map(|(key, effect, _)| match effect {
        Effect::Chat { request, .. } if key == "node/2/refine/0" => Some(request.messages[1].content.clone()),
        _ => None,
    });
    let node = of_node.clone().find_map(|(_, effect, _)| match effect {
        Effect::Node(node) => Some((**node).clone()),
        _ => None,
    });
    Course {
        keys: of_node.map(|(key, ..)| key.clone()).collect(),
        prompt: prompt.unwrap(),
        node: node.unwrap(),
    }
}

#[test]
fn the_study_is_run_and_shown() {
    let course = refine(|key| match key {
        "node/2/study/0" => Some(chat(
            "Switch the trees off.\n```python\nprint('without trees 0.8')\n```",
            None,
            FinishReason::Stop,
        )),
        "node/2/refine/0" => Some(program("0.3")),
        _ => None,
    });
    let expected = [
        "node/2/begin/0",
        "node/2/study/0",
        "node/2/execute/0",
        "node/2/refine/0",
        "node/2/execute/1",
        "node/2/validate/0",
        "node/2/review/0",
        "node/2/record/0",
        "node/2/select/0",
    ];
    assert_eq!(course.keys, expected);
    assert!(course.prompt.contains("Switch the trees off."), "{}", course.prompt);
    assert!(course.prompt.contains("without trees 0.8"), "{}", course.prompt);
    assert!(!course.prompt.contains("did not end well"), "{}", course.prompt);
    assert_eq!((course.node.operator.as_str(), course.node.code.as_str()), ("refine", "print('0.3')"));
    assert_eq!(course.node.parents, [0]);
}

#[test]
fn a_study_that_fails_is_told_and_the_improvement_is_written() {
    let crashed = refine(|key| (key == "node/2/study/0").then(|| program("crash")));
    assert!(crashed.prompt.contains("did not end well"), "{}", crashed.prompt);
    assert!(crashed.prompt.contains("It ended with exit code 1 after 1 s."), "{}", crashed.prompt);
    assert!(crashed.node.is_good());

    let refused =
        refine(|key| key.starts_with("node/2/study/").then(|| chat("I cannot.", None, FinishReason::Stop)));
    assert!(refused.prompt.contains("none could be run"), "{}", refused.prompt);
    let expected =
        ["node/2/begin/0", "node/2/study/0", "node/2/study/1", "node/2/refine/0", "node/2/execute/0"];
    assert_eq!(refused.keys[..5], expected);
    assert!(refused.node.is_good());
}
