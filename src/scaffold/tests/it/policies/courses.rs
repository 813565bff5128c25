//! Whole searches of every shipped policy against a scripted world: 40 steps with one worker and with four, seeded. A
//! change of a course is a change of what researchers get.

use std::fmt::Write as _;

use podium_scaffold::{Effect, EffectResult};
use podium_types::rng::Rng;

use crate::support::context::FakeContext;
use crate::support::script::{program, world};
use crate::support::{TREE_SEARCHES, scaffold};

/// A third of the programs crash, a repair in four does; metrics wander with the number of the node.
pub(crate) fn wandering(key: &str) -> Option<EffectResult> {
    let mut parts = key.strip_prefix("node/")?.split('/');
    let number: u32 = parts.next()?.parse().ok()?;
    let dice = Rng::new(number.into()).next_u64() >> 32;
    let metric = format!("0.{:03}", 400 + dice / 8 % 500);
    match parts.next()? {
        "debug" => Some(program(if dice.is_multiple_of(4) { "crash" } else { &metric })),
        "draft" | "improve" | "crossover" => {
            Some(program(if dice.is_multiple_of(3) { "crash" } else { &metric }))
        }
        _ => None,
    }
}

fn course(id: &str, workers: &str, seed: u64) -> String {
    let context = FakeContext::new(seed, 40, world(wandering));
    assert_eq!(context.drive(&*scaffold(id, &[("search.workers", workers)]).strategy()).unwrap(), None);
    let mut text = String::new();
    for (_, effect, _) in context.journal.borrow().iter() {
        let Effect::Node(node) = effect else { continue };
        let metric = node.metric.map_or("-".to_owned(), |metric| metric.to_string());
        let parents: Vec<String> = node.parents.iter().map(u32::to_string).collect();
        let _ = writeln!(
            text,
            "{:>2} {:<9} {:>5} {metric:<6} {}",
            node.id,
            node.operator,
            parents.join("+"),
            node.reason
        );
    }
    text
}

#[test]
fn forty_steps_of_every_policy() {
    for (id, _) in TREE_SEARCHES.iter().filter(|(id, _)| *id != "aide-mlebench") {
        for workers in ["1", "4"] {
            let first = course(id, workers, 5);
            assert_eq!(first.lines().count(), 40, "{id}, {workers} workers");
            assert_eq!(course(id, workers, 5), first, "{id}: a course is a function of the seed");
            insta::assert_snapshot!(format!("{id}_{workers}"), first);
        }
    }
}

#[test]
fn the_count_of_steps_is_exact_with_any_number_of_workers() {
    for (id, _) in TREE_SEARCHES {
        for workers in ["2", "3", "9"] {
            for seed in 0..6 {
                assert_eq!(course(id, workers, seed).lines().count(), 40, "{id}, {workers} workers, {seed}");
            }
        }
    }
}
