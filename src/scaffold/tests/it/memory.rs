//! The memory of earlier designs keeps to its limit.

use podium_scaffold::tree_search::memory::Memory;
use podium_scaffold::tree_search::view::Tree;

use crate::support::{aide, node, prompts, tables, task};

fn memory(nodes: u32, max_chars: &str) -> Memory {
    let spec = tables(&aide(&[("operators.draft.memory.max_chars", max_chars)]));
    let spec = spec.operators["draft"].write().memory.as_ref().unwrap();
    let mut tree = Tree::default();
    for id in 0..nodes {
        // The best is node 250; every seventh is buggy.
        let metric = (id % 7 != 3).then(|| f64::from(id.abs_diff(250)) / 100.0 + 0.1);
        let mut node = node(id, &[], metric);
        node.plan = "We fit a gradient boosting model on é features. ".repeat(1 + id as usize % 9);
        tree.push(node);
    }
    let compiled = podium_scaffold::prompts::Prompts::new(prompts()).unwrap();
    Memory::gather(&tree, &task(), &compiled, spec).unwrap()
}

#[test]
fn five_hundred_nodes_stay_inside_the_limit() {
    for limit in [0, 50, 1_000, 20_000] {
        let memory = memory(500, &limit.to_string());
        for divisor in [1, 2, 8] {
            let text = memory.text(divisor);
            assert!(text.chars().count() <= limit / divisor, "{limit} / {divisor}");
            if limit / divisor >= 2_500 {
                assert!(text.contains("[250]") && text.contains("[499]"), "best and newest: {text}");
                assert!(text.chars().count() * 10 > limit / divisor * 8, "the room is used");
            }
        }
    }
}

#[test]
fn few_designs_are_told_in_order_and_buggy_ones_are_not() {
    let text = memory(5, "20000").text(1);
    let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('[')?.split(']').next()).collect();
    assert_eq!(ids, ["0", "1", "2", "4"]);
}
