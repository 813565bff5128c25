//! What every policy keeps to, whatever tree it meets: it answers, names finished nodes and operators of its scaffold,
//! answers the same when asked the same, and is rebuilt by telling it the same nodes again.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use podium_scaffold::Scaffold;
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

/// A shipped scaffold, read once.
struct Shipped {
    id: &'static str,
    scaffold: Scaffold,
    unrepaired: Scaffold,
    operators: BTreeSet<String>,
}

static SHIPPED: LazyLock<Vec<Shipped>> = LazyLock::new(|| {
    let read = |id: &'static str| {
        let scaffold = scaffold(id, &[]);
        let spec = tables(&scaffold);
        let depth = [("repair.max_depth", "0")];
        let unrepaired = crate::support::scaffold(id, if spec.repair.is_some() { &depth } else { &[] });
        Shipped { id, scaffold, unrepaired, operators: spec.operators.into_keys().collect() }
    };
    TREE_SEARCHES.iter().map(|(id, _)| read(id)).collect()
});

/// What it wants is possible, and asked twice it wants the same.
fn check(shipped: &Shipped, hand: &mut Hand) -> Result<(), TestCaseError> {
    let Shipped { id, operators, .. } = shipped;
    let ask = hand.look();
    prop_assert_eq!(&ask, &hand.look(), "{} is a function of the view", id);
    match ask {
        Ask::Expand(Expansion { operator, parents, reason }) => {
            prop_assert!(operators.contains(&operator), "{} asks for {}", id, operator);
            prop_assert!(
                parents.iter().all(|parent| hand.tree.get(*parent).is_some()),
                "{} {:?}",
                id,
                parents
            );
            prop_assert!(!reason.is_empty());
        }
        Ask::Wait => prop_assert!(!hand.pending.is_empty(), "{} waits for nothing", id),
        Ask::Stop { reason } => prop_assert!(!reason.is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_search_of_any_course(events in events(), lower in any::<bool>()) {
        for shipped in SHIPPED.iter() {
            let id = shipped.id;
            let mut hand = Hand::of(&shipped.scaffold);
            hand.direction = if lower { Direction::Lower } else { Direction::Higher };
            let mut records: Vec<NodeRecord> = Vec::new();
            for event in &events {
                match event {
                    Event::Ask(seed) => {
                        hand.seed = *seed;
                        check(shipped, &mut hand)?;
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
            check(shipped, &mut hand)?;
            // A policy that was told the same and asked nothing.
            let mut rebuilt = Hand::of(&shipped.scaffold);
            (rebuilt.direction, rebuilt.budget, rebuilt.seed) = (hand.direction, hand.budget, hand.seed);
            rebuilt.pending = hand.pending.clone();
            for record in records {
                rebuilt.record(record);
            }
            prop_assert_eq!(rebuilt.look(), hand.look(), "{}", id);
        }
    }

    #[test]
    fn a_tree_of_any_shape(nodes in nodes(), pending in proptest::collection::vec(any::<u32>(), 0..5), seed in any::<u64>()) {
        for shipped in SHIPPED.iter() {
            // Without repairs, which would be asked for before the policy is.
            let mut hand = Hand::of(&shipped.unrepaired);
            nodes.iter().cloned().for_each(|node| hand.record(node));
            hand.seed = seed;
            for (number, parent) in (100u32..).zip(&pending) {
                let parents = if nodes.is_empty() { vec![] } else { vec![parent % u32::try_from(nodes.len()).unwrap()] };
                let operator = "improve".to_owned();
                hand.pending.insert(number, Expansion { operator, parents, reason: String::new() });
            }
            check(shipped, &mut hand)?;
        }
    }
}
