//! Repair at once, around any policy: chains, their limits, and that only finished nodes are its state.

use super::{Hand, text, wish};

#[test]
fn a_chain_ends_with_a_good_node_or_at_its_depth() {
    for (depth, expected) in [("0", "draft"), ("1", "debug 0"), ("2", "debug 1")] {
        let mut hand = Hand::new("aira-mcts", &[("repair.max_depth", depth)]);
        let mut course = hand.steps(&[None, None]);
        course.push(text(&hand.wants()));
        assert!(course.iter().any(|wish| wish == expected), "{depth}: {course:?}");
        let repairs = course.iter().filter(|wish| wish.starts_with("debug")).count();
        assert_eq!(repairs.to_string(), depth);
    }
}

#[test]
fn a_chain_ends_when_its_executions_took_too_long() {
    // Each execution of a node made by hand takes a second.
    for (limit, repairs) in [("1s", 0), ("2s", 1), ("3s", 2), ("1h", 5)] {
        let overrides = [("repair.max_time", limit), ("repair.max_depth", "5"), ("policy.generation", "9")];
        let course = Hand::new("aira-evo", &overrides).steps(&[None; 8]);
        let begun = course.iter().skip(1).take_while(|wish| wish.starts_with("debug")).count();
        assert_eq!(begun, repairs, "{limit}: {course:?}");
    }
}

#[test]
fn two_chains_go_on_side_by_side() {
    let mut hand = Hand::new("aira-mcts", &[]);
    hand.begin();
    hand.begin();
    hand.finish(1, None);
    hand.finish(0, None);
    assert_eq!(hand.begin(), wish("debug", &[1]), "the oldest chain first");
    assert_eq!(hand.begin(), wish("debug", &[0]));
    assert_eq!(hand.begin(), wish("draft", &[]), "a chain in work is not repaired twice");
    hand.finish(3, Some(0.5));
    hand.finish(2, None);
    assert_eq!(hand.wants(), wish("debug", &[2]));
}
