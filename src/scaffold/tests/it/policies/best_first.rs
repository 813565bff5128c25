//! Best-first search: the frontier, its tolerance, and the tie-break by diversity.

use podium_scaffold::context::Direction;
use podium_scaffold::node::NodeRecord;

use super::{Hand, text, wish};
use crate::support::node;

const TWO: (&str, &str) = ("policy.drafts", "2");
const UNREPAIRED: (&str, &str) = ("repair.max_depth", "0");
const EXACT: (&str, &str) = ("policy.tolerance", "0");

fn hand(more: &[(&str, &str)]) -> Hand {
    let overrides: Vec<(&str, &str)> = [TWO, UNREPAIRED].iter().chain(more).copied().collect();
    Hand::new("best-first", &overrides)
}

#[test]
fn the_best_with_room_is_expanded() {
    let mut hand = hand(&[EXACT]);
    let course = hand.steps(&[0.5, 0.6, 0.4, 0.3, 0.2, 0.1, 0.0].map(Some));
    // Three children of node 1, then of node 0, then of the best of all that is left.
    assert_eq!(course, ["draft", "draft", "improve 1", "improve 1", "improve 1", "improve 0", "improve 0"]);
    assert_eq!(hand.steps(&[Some(0.05), Some(0.0)]), ["improve 0", "improve 2"]);
    assert_eq!(hand.steps(&[Some(0.99)]), ["improve 2"]);
    assert_eq!(text(&hand.wants()), "improve 9", "a new best is next");
}

#[test]
fn both_directions() {
    for (direction, expected) in [(Direction::Higher, "improve 1"), (Direction::Lower, "improve 0")] {
        let mut hand = hand(&[]);
        hand.direction = direction;
        hand.steps(&[Some(0.5), Some(0.6)]);
        assert_eq!(text(&hand.wants()), expected);
    }
}

#[test]
fn of_equals_the_most_unlike_is_taken() {
    let forest = "model = RandomForestClassifier(n_estimators=300)\nmodel.fit(train[columns], train.label)\n";
    let deeper = "model = RandomForestClassifier(n_estimators=500)\nmodel.fit(train[columns], train.label)\n";
    let network =
        "net = Sequential(Linear(9, 64), ReLU(), Linear(64, 7))\nfor epoch in range(40): step(net, batch)\n";
    let with = |id, metric, code: &str| NodeRecord { code: code.to_owned(), ..node(id, &[], Some(metric)) };
    for (tolerance, expected) in [("0.01", "improve 2"), ("0.002", "improve 1")] {
        let mut hand = hand(&[("policy.tolerance", tolerance), ("policy.drafts", "3")]);
        hand.record(with(0, 0.800, forest));
        hand.record(with(1, 0.799, deeper));
        hand.record(with(2, 0.798, network));
        assert_eq!(hand.begin(), wish("improve", &[0]), "nothing was expanded yet: the best");
        // Within 0.002 there are the two forests, and the likeness of a program to itself is 1: the other is taken.
        assert_eq!(text(&hand.begin()), expected);
    }
}

#[test]
fn nothing_with_room_waits_for_work_and_else_drafts() {
    let mut hand = hand(&[("policy.children", "1")]);
    hand.steps(&[None, Some(0.5)]);
    assert_eq!(hand.begin(), wish("improve", &[1]));
    assert_eq!(hand.wants(), wish("wait", &[]));
    hand.finish(2, None);
    assert_eq!(hand.begin(), wish("draft", &[]));
    assert_eq!(hand.wants(), wish("wait", &[]), "one fresh start at a time");
}

#[test]
fn what_is_broken_is_repaired_and_never_improved() {
    let mut hand = Hand::new("best-first", &[TWO]);
    let course = hand.steps(&[None, None, Some(0.5), Some(0.4), None, None, None, None, Some(0.3)]);
    let expected =
        ["draft", "debug 0", "debug 1", "draft", "improve 2", "debug 4", "debug 5", "debug 6", "improve 2"];
    assert_eq!(course, expected);
}
