//! What every policy keeps to, whatever tree it meets: it answers, names finished nodes and operators of its scaffold,
//! answers the same when asked the same, and is rebuilt by telling it the same nodes again.

use podium_scaffold::context::Direction;
use podium_scaffold::node::NodeRecord;
use podium_scaffold::tree_search::policy::Ask;
use podium_scaffold::tree_search::view::Expansion;
use proptest::prelude::*;

use super::Hand;
use crate::support::{TREE_SEARCHES, node, scaffold, tables};

/// What happens next in a search: another worker asks, or one of those in work finishes.
#[derive(Clone, Debug)]
enum Event {
    Ask(u64),
    Finish { which: usize, metric: Option<f64> },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let metric = prop_oneof![
        3 => Just(None),
        6 => (-1.0..1.0f64).prop_map(Some),
        1 => prop_oneof![Just(0.0), Just(1e300), Just(-1e300), Just(f64::NAN), Just(f64::INFINITY)].prop_map(Some),
    ];
    let event = prop_oneof![
        any::<u64>().prop_map(Event::Ask),
        (any::<usize>(), metric).prop_map(|(which, metric)| Event::Finish { which, metric }),
    ];
    proptest::collection::vec(event, 1..120)
}

/// Nodes that no policy has asked for: any operators and any parents among those before.
fn nodes() -> impl Strategy<Value = Vec<NodeRecord>> {
    let one = (0..5usize, any::<(u32, u32)>(), proptest::option::of(-1.0..1.0f64));
    proptest::collection::vec(one, 0..40).prop_map(|picks| {
        let mut nodes: Vec<NodeRecord> = Vec::new();
        for (id, (operator, (first, second), metric)) in (0u32..).zip(picks) {
            let operator = ["draft", "debug", "improve", "crossover", "other"][operator];
            let parents = match operator {
                _ if id == 0 => vec![],
                "draft" => vec![],
                "crossover" => vec![first % id, second % id],
                _ => vec![first % id],
            };
            nodes.push(NodeRecord { operator: operator.to_owned(), ..node(id, &parents, metric) });
        }
        nodes
    })
}

/// What it wants is possible, and asked twice it wants the same.
fn check(id: &str, hand: &mut Hand, workers: usize) -> Result<(), TestCaseError> {
    let operators = tables(&scaffold(id, &[])).operators;
    let ask = hand.look();
    prop_assert_eq!(&ask, &hand.look(), "{} is a function of the view", id);
    match ask {
        Ask::Expand(Expansion { operator, parents, reason }) => {
            prop_assert!(operators.contains_key(&operator), "{} asks for {}", id, operator);
            prop_assert!(
                parents.iter().all(|parent| hand.tree.get(*parent).is_some()),
                "{} {:?}",
                id,
                parents
            );
            prop_assert!(!reason.is_empty());
        }
        Ask::Wait => prop_assert!(!hand.pending.is_empty() || workers == 0, "{} waits for nothing", id),
        Ask::Stop { reason } => prop_assert!(!reason.is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_search_of_any_course(events in events(), lower in any::<bool>()) {
        for (id, _) in TREE_SEARCHES {
            let mut hand = Hand::new(id, &[]);
            hand.direction = if lower { Direction::Lower } else { Direction::Higher };
            let mut records: Vec<NodeRecord> = Vec::new();
            for event in &events {
                match event {
                    Event::Ask(seed) => {
                        hand.seed = *seed;
                        check(id, &mut hand, 1)?;
                        if hand.pending.len() < 6 {
                            hand.begin();
                        }
                    }
                    Event::Finish { which, metric } => {
                        let pending: Vec<u32> = hand.pending.keys().copied().collect();
                        if let Some(node) = pending.get(which % pending.len().max(1)) {
                            hand.finish(*node, *metric);
                            records.push(hand.tree.get(*node).unwrap().clone());
                        }
                    }
                }
            }
            check(id, &mut hand, 1)?;
            // A policy that was told the same and asked nothing.
            let mut rebuilt = Hand::new(id, &[]);
            (rebuilt.direction, rebuilt.budget, rebuilt.seed) = (hand.direction, hand.budget, hand.seed);
            rebuilt.pending = hand.pending.clone();
            records.into_iter().for_each(|record| rebuilt.record(record));
            prop_assert_eq!(rebuilt.look(), hand.look(), "{}", id);
        }
    }

    #[test]
    fn a_tree_of_any_shape(nodes in nodes(), pending in proptest::collection::vec(any::<u32>(), 0..5), seed in any::<u64>()) {
        for (id, _) in TREE_SEARCHES {
            // Without repairs, which would be asked for before the policy is.
            let unrepaired = [("repair.max_depth", "0")];
            let repairs = tables(&scaffold(id, &[])).repair.is_some();
            let mut hand = Hand::new(id, if repairs { &unrepaired } else { &[] });
            nodes.iter().cloned().for_each(|node| hand.record(node));
            hand.seed = seed;
            for (number, parent) in (100u32..).zip(&pending) {
                let parents = if nodes.is_empty() { vec![] } else { vec![parent % nodes.len() as u32] };
                let operator = "improve".to_owned();
                hand.pending.insert(number, Expansion { operator, parents, reason: String::new() });
            }
            check(id, &mut hand, pending.len())?;
        }
    }
}
