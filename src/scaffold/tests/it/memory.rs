//! The memory of earlier designs: it keeps to its limit, and to its scope.

use podium_scaffold::node::NodeRecord;
use podium_scaffold::prompts::Prompts;
use podium_scaffold::prompts::cut::Cutter;
use podium_scaffold::tree_search::memory::{Memory, MemoryScope, MemorySpec};
use podium_scaffold::tree_search::view::Tree;
use podium_types::tokens::estimate_text;

use crate::support::{node, prompts, task};

fn spec(scope: MemoryScope) -> MemorySpec {
    MemorySpec { prompt: "aira/design.md.tera".into(), scope }
}

fn text(nodes: &[NodeRecord], scope: MemoryScope, parents: &[u32], gathered: u64, shown: u64) -> String {
    let mut tree = Tree::default();
    nodes.iter().cloned().for_each(|node| tree.push(node));
    let compiled = Prompts::new(prompts()).unwrap();
    let memory = Memory::gather(&tree, &task(), &compiled, &spec(scope), parents, gathered).unwrap();
    memory.text(shown, Cutter::new(&compiled, "common/cut.md.tera")).unwrap()
}

/// The best is node 250; every seventh is buggy.
fn many(number: u32) -> Vec<NodeRecord> {
    let made = |id: u32| {
        let metric = (id % 7 != 3).then(|| f64::from(id.abs_diff(250)) / 100.0 + 0.1);
        let plan = "We fit a gradient boosting model on é features. ".repeat(1 + id as usize % 9);
        NodeRecord { plan, ..node(id, &[], metric) }
    };
    (0..number).map(made).collect()
}

#[test]
fn long_journals_stay_inside_the_limit() {
    for number in [500, 5_000] {
        let nodes = many(number);
        for limit in [0, 50, 500, 8_000] {
            for shown in [limit, limit / 2, limit / 8] {
                let text = text(&nodes, MemoryScope::Good, &[], limit, shown);
                let tokens = estimate_text(&text);
                assert!(tokens <= shown, "{number} nodes: {tokens} of {shown}");
                if shown >= 1_000 {
                    let newest = format!("[{}]", number - 1);
                    assert!(text.contains("[250]") && text.contains(&newest), "best and newest: {text}");
                    assert!(tokens * 10 > shown * 8, "the room is used: {tokens} of {shown}");
                    let told =
                        text.rsplit_once("[... ").and_then(|(_, tail)| tail.split_once(" more not shown"));
                    let Some((number, _)) = told else { panic!("what is left out is told: {text}") };
                    let left_out: usize = number.parse().unwrap();
                    let told = text.lines().filter(|line| line.starts_with("Plan: ")).count();
                    let good = nodes.iter().filter(|node| node.is_good()).count();
                    assert_eq!(told + left_out, good);
                }
            }
        }
    }
}

fn ids(text: &str) -> Vec<u32> {
    let id = |line: &str| line.strip_prefix('[')?.split(']').next()?.parse().ok();
    text.lines().filter_map(id).collect()
}

#[test]
fn each_scope_tells_of_its_own_nodes() {
    // 0 good; 1 broken, 2 and 3 failed mends of it in a row, 4 a failed mend of 3; 5 broken from 0, 6 a mend of 5 that
    // worked, 7 broken from 6; 8 good from 0.
    let nodes = [
        node(0, &[], Some(0.5)),
        node(1, &[], None),
        node(2, &[1], None),
        node(3, &[2], None),
        node(4, &[3], None),
        node(5, &[0], None),
        node(6, &[5], Some(0.4)),
        node(7, &[6], None),
        node(8, &[0], Some(0.6)),
    ];
    let cases: [(MemoryScope, &[u32], &[u32]); 11] = [
        (MemoryScope::Good, &[], &[0, 6, 8]),
        (MemoryScope::Good, &[7], &[0, 6, 8]),
        (MemoryScope::Siblings, &[], &[0, 1]),
        (MemoryScope::Siblings, &[0], &[5, 8]),
        (MemoryScope::Siblings, &[6], &[7]),
        (MemoryScope::Siblings, &[0, 6], &[5, 7, 8]),
        (MemoryScope::Siblings, &[8], &[]),
        (MemoryScope::Ancestors, &[4], &[1, 2, 3]),
        (MemoryScope::Ancestors, &[2], &[1]),
        (MemoryScope::Ancestors, &[7], &[]),
        (MemoryScope::Ancestors, &[1], &[]),
    ];
    for (scope, parents, expected) in cases {
        assert_eq!(ids(&text(&nodes, scope, parents, 8_000, 8_000)), expected, "{scope:?} of {parents:?}");
    }
    let failed = text(&nodes, MemoryScope::Ancestors, &[2], 8_000, 8_000);
    assert!(failed.contains("[1] failed: exit code 1\nPlan: Plan of node 1."), "{failed}");
}

#[test]
fn of_many_failed_mends_the_nearest_stay() {
    let mut nodes = vec![node(0, &[], None)];
    nodes.extend((1..60).map(|id| node(id, &[id - 1], None)));
    let told = ids(&text(&nodes, MemoryScope::Ancestors, &[59], 300, 300));
    assert!(told.len() > 3 && told.last() == Some(&58), "{told:?}");
    assert_eq!(told, (59 - u32::try_from(told.len()).unwrap()..59).collect::<Vec<_>>());
}
