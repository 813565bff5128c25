//! AIDE's greedy policy, as `aide.toml` writes it, on trees made by hand.

use std::collections::{BTreeMap, BTreeSet};

use podium_scaffold::context::Direction;
use podium_scaffold::node::NodeRecord;
use podium_scaffold::tree_search::policy::{Ask, Plan, build};
use podium_scaffold::tree_search::view::{Expansion, Tree, View};
use podium_types::rng::Rng;

use crate::support::{aide, budget, node, tables};

/// Operator and parents that AIDE asks for, with the draw that `seed` gives.
fn ask(
    overrides: &[(&str, &str)],
    nodes: &[NodeRecord],
    pending: &[(u32, &[u32])],
    seed: u64,
) -> (String, Vec<u32>) {
    ask_policy(&*tables(&aide(overrides)).policy, nodes, pending, seed)
}

fn ask_policy(
    policy: &dyn Plan,
    nodes: &[NodeRecord],
    pending: &[(u32, &[u32])],
    seed: u64,
) -> (String, Vec<u32>) {
    let mut tree = Tree::default();
    nodes.iter().cloned().for_each(|node| tree.push(node));
    let work = |parents: &[u32]| Expansion {
        operator: "work".into(),
        parents: parents.to_vec(),
        reason: String::new(),
    };
    let pending: BTreeMap<u32, Expansion> =
        pending.iter().map(|(id, parents)| (*id, work(parents))).collect();
    let in_repair = BTreeSet::new();
    let (budget, direction) = (budget(), Direction::Lower);
    let view = View { tree: &tree, pending: &pending, in_repair: &in_repair, budget, direction };
    match build(policy, None).ask(&view, &mut Rng::new(seed)) {
        Ask::Expand(expansion) => (expansion.operator, expansion.parents),
        Ask::Wait => ("wait".into(), vec![]),
        Ask::Stop { reason } => (reason, vec![]),
    }
}

const ALWAYS: (&str, &str) = ("policy.rule.debug.probability", "1");
const NEVER: (&str, &str) = ("policy.rule.debug.probability", "0");
const TWO_DRAFTS: (&str, &str) = ("policy.rule.drafts.number", "2");

#[test]
fn drafts_come_first_even_when_all_are_buggy() {
    let mut nodes = Vec::new();
    for id in 0..5 {
        assert_eq!(ask(&[ALWAYS], &nodes, &[], 1), ("draft".into(), vec![]), "{id}");
        nodes.push(node(id, &[], None));
    }
    assert_eq!(ask(&[ALWAYS], &nodes, &[], 1).0, "debug");
    assert_eq!(ask(&[ALWAYS, ("policy.rule.drafts.number", "6")], &nodes, &[], 1).0, "draft");
}

#[test]
fn the_best_is_improved_and_the_earliest_of_equals() {
    let nodes =
        [node(0, &[], Some(0.5)), node(1, &[], Some(0.3)), node(2, &[], Some(0.3)), node(3, &[], None)];
    assert_eq!(ask(&[NEVER, TWO_DRAFTS], &nodes, &[], 1), ("improve".into(), vec![1]));
}

#[test]
fn not_a_number_never_wins() {
    let nodes = [node(0, &[], Some(f64::NAN)), node(1, &[], Some(7.0)), node(2, &[], Some(f64::NAN))];
    assert_eq!(ask(&[NEVER, TWO_DRAFTS], &nodes, &[], 1), ("improve".into(), vec![1]));
}

#[test]
fn a_chain_ends_one_past_the_depth_limit() {
    // 0 buggy draft, then debugs 2, 3, 4, ... each of the one before; 1 is good.
    let mut nodes = vec![node(0, &[], None), node(1, &[], Some(0.5))];
    let mut last = 0;
    for (id, depth) in (2..).zip(0..=3) {
        assert_eq!(ask(&[ALWAYS, TWO_DRAFTS], &nodes, &[], 1), ("debug".into(), vec![last]), "depth {depth}");
        nodes.push(node(id, &[last], None));
        last = id;
    }
    assert_eq!(ask(&[ALWAYS, TWO_DRAFTS], &nodes, &[], 1), ("improve".into(), vec![1]));
    let deeper = ("policy.rule.debug.max_debug_depth", "4");
    assert_eq!(ask(&[ALWAYS, TWO_DRAFTS, deeper], &nodes, &[], 1), ("debug".into(), vec![last]));
}

#[test]
fn a_broken_improvement_starts_a_chain_of_its_own() {
    let nodes = [node(0, &[], Some(0.5)), node(1, &[], Some(0.6)), node(2, &[0], None)];
    let shallow = ("policy.rule.debug.max_debug_depth", "0");
    assert_eq!(ask(&[ALWAYS, TWO_DRAFTS, shallow], &nodes, &[], 1), ("debug".into(), vec![2]));
}

#[test]
fn with_nothing_good_it_drafts_again() {
    let nodes = [node(0, &[], None), node(1, &[], None)];
    assert_eq!(ask(&[NEVER, TWO_DRAFTS], &nodes, &[], 1), ("draft".into(), vec![]));
    // No eligible leaf either: the debug rule falls through.
    let chained = [node(0, &[], None), node(1, &[], Some(0.1)), node(2, &[0], Some(0.2))];
    assert_eq!(ask(&[ALWAYS, TWO_DRAFTS], &chained, &[], 1), ("improve".into(), vec![1]));
}

#[test]
fn work_in_flight_counts() {
    let nodes = [node(0, &[], None)];
    assert_eq!(ask(&[ALWAYS, TWO_DRAFTS], &nodes, &[(1, &[])], 1), ("debug".into(), vec![0]));
    assert_eq!(ask(&[ALWAYS, TWO_DRAFTS], &nodes, &[(1, &[]), (2, &[0])], 1), ("draft".into(), vec![]));
}

#[test]
fn the_coin_falls_as_often_as_the_file_says() {
    let nodes = [node(0, &[], None), node(1, &[], Some(0.5)), node(2, &[], None)];
    for (chance, expected) in [("0.5", 0.5), ("0.2", 0.2), ("0.9", 0.9)] {
        let overrides = [TWO_DRAFTS, ("policy.rule.debug.probability", chance)];
        let policy = tables(&aide(&overrides)).policy;
        let draws: Vec<_> = (0..2_000).map(|seed| ask_policy(&*policy, &nodes, &[], seed)).collect();
        let share = |wanted: &str| draws.iter().filter(|(name, _)| name == wanted).count() as f64 / 2_000.0;
        // Four standard errors of a share of 2,000 draws.
        assert!((share("debug") - expected).abs() < 0.045, "{chance}: {}", share("debug"));
        assert!((share("debug") + share("improve") - 1.0).abs() < 1e-9);
        let first = draws.iter().filter(|(name, parents)| name == "debug" && parents == &[0]).count() as f64;
        assert!((first / 2_000.0 / share("debug") - 0.5).abs() < 0.11, "leaves are chosen evenly");
    }
}
