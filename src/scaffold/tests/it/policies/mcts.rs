//! AIRA's Monte-Carlo tree search: batches below leaves, UCT, and the defects of the original that ours has not.

use podium_scaffold::context::Direction;

use super::{Hand, mirrored, text, wish};

const PAIRS: (&str, &str) = ("policy.children", "2");
const GREEDY: (&str, &str) = ("policy.exploration", "0");
const UNREPAIRED: (&str, &str) = ("repair.max_depth", "0");

fn hand(more: &[(&str, &str)]) -> Hand {
    let overrides: Vec<(&str, &str)> = [PAIRS, UNREPAIRED].iter().chain(more).copied().collect();
    Hand::new("aira-mcts", &overrides)
}

#[test]
fn five_drafts_then_five_children_of_the_best_in_a_row() {
    let mut hand = Hand::new("aira-mcts", &[GREEDY]);
    let drafts = hand.steps(&[0.1, 0.5, 0.3, 0.2, 0.4].map(Some));
    assert_eq!(drafts, ["draft"; 5]);
    // They get better than their parent or worse: the batch is not broken off.
    let children = hand.steps(&[0.9, 0.0, 0.2, 0.9, 0.1].map(Some));
    assert_eq!(children, ["improve 1"; 5]);
    assert_eq!(hand.steps(&[Some(0.5)]), ["improve 5"], "down to the best child");
}

#[test]
fn the_bound_decides_as_computed_by_hand() {
    // Drafts 0 (1.0) and 1 (0.5), children 2 (0.6) and 3 (0.2) of draft 0. On the scale from 0.2 to 1.0 they are 1, 0.375,
    // 0.5 and 0. Draft 0 has three visits with the mean 0.5, draft 1 one with 0.375, the root four. So the bounds are
    // 0.5 + 0.680 c and 0.375 + 1.177 c, which cross at c = 0.2512.
    for (exploration, expected) in [("0.24", "improve 2"), ("0.26", "improve 1")] {
        let mut hand = hand(&[("policy.exploration", exploration)]);
        hand.steps(&[Some(1.0), Some(0.5), Some(0.6), Some(0.2)]);
        assert_eq!(text(&hand.wants()), expected, "c = {exploration}");
    }
}

#[test]
fn less_is_better_is_the_mirror_of_more_is_better() {
    let metrics: Vec<Option<f64>> =
        (0..30u32).map(|n| (!n.is_multiple_of(4)).then(|| f64::from(n * 37 % 101) / 101.0)).collect();
    for seed in [1, 2] {
        let mut higher = Hand::new("aira-mcts", &[("policy.children", "3")]);
        let mut lower = Hand::new("aira-mcts", &[("policy.children", "3")]);
        (higher.seed, lower.seed, lower.direction) = (seed, seed, Direction::Lower);
        assert_eq!(higher.steps(&metrics), lower.steps(&mirrored(&metrics)));
    }
}

#[test]
fn buggy_drafts_are_never_improved_and_the_root_drafts_again() {
    // The original goes down into a buggy leaf and improves it, and never expands the root again.
    let mut hand = hand(&[]);
    assert_eq!(hand.steps(&[None, None, None, Some(0.4)]), ["draft"; 4]);
    assert_eq!(hand.steps(&[None, None]), ["improve 3", "improve 3"]);
    assert_eq!(text(&hand.wants()), "improve 3", "a node with dead ends only is a leaf again");
}

#[test]
fn what_stays_broken_counts_as_a_visit() {
    // Two drafts, equal; below the first everything fails. The original keeps such subtrees without a visit.
    let mut hand = hand(&[]);
    hand.steps(&[Some(0.5), Some(0.5)]);
    assert_eq!(hand.steps(&[None, None]), ["improve 0", "improve 0"]);
    assert_eq!(text(&hand.wants()), "improve 1", "the failures have lowered the first");
}

#[test]
fn a_repaired_expansion_is_what_it_came_to() {
    let mut hand = Hand::new("aira-mcts", &[PAIRS, GREEDY]);
    assert_eq!(hand.step(None), wish("draft", &[]));
    assert_eq!(hand.step(None), wish("debug", &[0]), "at once");
    assert_eq!(hand.step(Some(0.9)), wish("debug", &[1]));
    assert_eq!(hand.step(Some(0.1)), wish("draft", &[]), "the chain is one draft of two");
    assert_eq!(hand.step(Some(0.5)), wish("improve", &[2]), "the end of the chain is the node");
}

#[test]
fn workers_spread_and_wait() {
    let mut hand = hand(&[GREEDY]);
    assert_eq!((hand.begin(), hand.begin()), (wish("draft", &[]), wish("draft", &[])));
    assert_eq!(hand.wants(), wish("wait", &[]), "nothing to go down to");
    hand.finish(0, Some(0.5));
    assert_eq!((hand.begin(), hand.begin()), (wish("improve", &[0]), wish("improve", &[0])));
    assert_eq!(hand.wants(), wish("wait", &[]), "all below the root is in work");
    hand.finish(1, Some(0.4));
    assert_eq!(hand.begin(), wish("improve", &[1]));
    // Work in flight lowers a bound: of two equal drafts the one with less below it is next.
    let mut hand = super::Hand::new("aira-mcts", &[PAIRS, UNREPAIRED]);
    hand.steps(&[Some(0.5), Some(0.5)]);
    assert_eq!(hand.begin(), wish("improve", &[0]));
    assert_eq!(hand.begin(), wish("improve", &[0]));
    assert_eq!(hand.begin(), wish("improve", &[1]));
}
