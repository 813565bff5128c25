//! Any value for any number of a tree search: it is refused by name, or the search runs with it and ends.

use podium_scaffold::{Scaffold, SpecError};
use podium_types::chat::FinishReason;
use serde_json::Value;

use crate::support::context::FakeContext;
use crate::support::script::{chat, program, world};
use crate::support::{TREE_SEARCHES, prompts, scaffold};

const ODD: &[&str] = &[
    "0",
    "1",
    "-1",
    "nan",
    "inf",
    "-0.0",
    "1e308",
    "5e-324",
    "9223372036854775807",
    "4294967295",
    "true",
    "\"x\"",
    "[]",
    "0s",
    "1ms",
    "99999999h",
];

/// Sets that take effect only together, and what no shipped file has.
const TOGETHER: &[(&str, &[(&str, &str)])] = &[
    (
        "aide",
        &[("policy.rule.improve.pick", "tournament"), ("policy.rule.improve.size", "9223372036854775807")],
    ),
    ("aide", &[("policy.rule.improve.pick", "softmax"), ("policy.rule.improve.temperature", "5e-324")]),
    ("aide", &[("policy.rule.improve.parents", "9223372036854775807")]),
    ("aide", &[("policy.rule.improve.max_children", "0")]),
    ("aira-evo", &[("policy.islands", "10000"), ("policy.reset_every", "1"), ("policy.generation", "1")]),
    ("aira-evo", &[("policy.temperature.start", "5e-324"), ("policy.temperature.end", "1e308")]),
    ("aira-evo", &[("policy.reset_every", "9223372036854775807")]),
    ("ml-master", &[("search.workers", "256"), ("policy.drafts", "9223372036854775807")]),
];

/// Six steps, some of which fail, in which metrics of any size are printed.
fn runs(scaffold: &Scaffold, set: &str) {
    let script = |key: &str| {
        let mut parts = key.strip_prefix("node/")?.split('/');
        let node: usize = parts.next()?.parse().ok()?;
        let metrics = ["0.5", "1e308", "crash", "0", "1e-308"];
        match parts.next()? {
            "draft" | "debug" | "improve" | "crossover" | "refine" | "ensemble" => {
                Some(program(metrics[node % metrics.len()]))
            }
            "review" if node.is_multiple_of(2) => Some(chat("Fine!", None, FinishReason::Stop)),
            "review" => Some(chat("{\"is_bug\": false, \"metric\": null}", None, FinishReason::Stop)),
            _ => None,
        }
    };
    let context = FakeContext::new(1, 6, world(script));
    if let Err(error) = context.drive(&*scaffold.strategy()) {
        panic!("{set}: {error}");
    }
    let _ = scaffold.composition();
}

#[test]
fn any_number_anywhere_is_refused_by_name_or_runs() {
    let mut seen = std::collections::BTreeSet::new();
    let (mut refused, mut ran) = (0, 0);
    for (id, text) in TREE_SEARCHES {
        for value in scaffold(id, &[]).values() {
            let is_number = match &value.value {
                Value::Number(_) => true,
                Value::String(text) => text.parse::<podium_scaffold::spec::Duration>().is_ok(),
                _ => false,
            };
            // What stands in several files is tried in the first.
            if !is_number || !seen.insert(value.path.clone()) {
                continue;
            }
            for odd in ODD {
                let set = format!("{id}: {}={odd}", value.path);
                match Scaffold::load(text, prompts(), &[(value.path.clone(), (*odd).to_owned())]) {
                    Ok(scaffold) => {
                        ran += 1;
                        runs(&scaffold, &set);
                    }
                    Err(error) => {
                        refused += 1;
                        // A number may be right by itself and wrong beside another.
                        let table =
                            value.path.rsplit_once('.').map_or(value.path.as_str(), |(table, _)| table);
                        assert!(error.to_string().contains(table), "{set}: {error}");
                    }
                }
            }
        }
    }
    assert!(refused > 300 && ran > 200, "{refused} refused, {ran} ran");
}

#[test]
fn odd_numbers_together_too() {
    for (id, sets) in TOGETHER {
        let (_, text) = TREE_SEARCHES.iter().find(|(name, _)| name == id).unwrap();
        let overrides: Vec<_> =
            sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
        match Scaffold::load(text, prompts(), &overrides) {
            Ok(scaffold) => runs(&scaffold, &format!("{id}: {sets:?}")),
            Err(SpecError::Invalid { path, .. }) => {
                assert!(sets.iter().any(|(set, _)| *set == path), "{path}");
            }
            Err(error) => panic!("{id} {sets:?}: {error}"),
        }
    }
}

/// One policy's numbers are no other's: none is taken over in silence.
#[test]
fn keys_of_another_kind_are_refused() {
    let cases = [
        ("aide", "policy.kind", "mcts"),
        ("aira-mcts", "policy.kind", "random"),
        ("aira-mcts", "policy.kind", "rules"),
        ("aira-mcts", "policy.kind", "ml_master"),
        ("random", "policy.kind", "nonsense"),
        ("aide", "selection.kind", "holdout"),
        ("aide", "selection.kind", "mean_minus_spread"),
        ("aide", "operators.improve.kind", "ablate"),
        ("mle-star", "operators.refine.kind", "write"),
        ("aide", "selection.top", "3"),
        ("aide", "selection", "{ kind = \"best\", top = 3 }"),
        ("aide", "selection", "{ kind = \"mean_minus_spread\", top = 3, weight = 1, wieght = 2 }"),
        (
            "aide",
            "policy",
            "{ kind = \"random\", draft_probability = 0.5, draft = \"draft\", debug = \"debug\", improve = \"improve\", drafts = 3 }",
        ),
    ];
    for (id, path, value) in cases {
        let (_, text) = TREE_SEARCHES.iter().find(|(name, _)| *name == id).unwrap();
        let loaded = Scaffold::load(text, prompts(), &[(path.to_owned(), value.to_owned())]);
        assert!(loaded.is_err(), "{id}: {path}={value} was taken");
    }
}
