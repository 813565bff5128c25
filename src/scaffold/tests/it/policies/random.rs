//! The random baseline: a coin, then any node, whatever its metric.

use super::{Hand, text, wish};

#[test]
fn without_a_node_it_drafts_and_with_some_the_coin_decides() {
    for (probability, expected) in [("0", 0.0), ("0.25", 0.25), ("0.8", 0.8), ("1", 1.0)] {
        let mut hand = Hand::new("random", &[("policy.draft_probability", probability)]);
        assert_eq!(hand.wants(), wish("draft", &[]));
        for (id, metric) in [(0, Some(0.9)), (1, None), (2, Some(0.1)), (3, Some(0.5))] {
            hand.record(crate::support::node(id, &[], metric));
        }
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..4_000 {
            hand.seed = seed;
            *counts.entry(text(&hand.wants())).or_insert(0u32) += 1;
        }
        let share = |wish: &str| f64::from(counts.get(wish).copied().unwrap_or_default()) / 4_000.0;
        // Four standard errors of a share of 4,000 draws.
        assert!((share("draft") - expected).abs() < 0.032, "{probability}: {counts:?}");
        for wish in ["improve 0", "debug 1", "improve 2", "improve 3"] {
            let even = (1.0 - expected) / 4.0;
            assert!((share(wish) - even).abs() < 0.032, "{probability}, {wish}: {counts:?}");
        }
        assert!(counts.len() <= 5, "{counts:?}");
    }
}
