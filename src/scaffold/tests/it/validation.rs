//! Validation by labels that the harness keeps, against a scripted world: which signal counts, which node is handed in,
//! and what never hears of the final slice.

use std::collections::BTreeMap;

use podium_scaffold::node::NodeRecord;
use podium_scaffold::{Effect, EffectResult, FoldFile, HeldOut, Scaffold, Task, Validation};
use podium_types::evaluation::Evaluation;
use podium_types::execution::Collected;
use podium_types::number::Number;
use podium_types::sha256::Sha256;

use crate::support::context::FakeContext;
use crate::support::script::{execute, program, world};
use crate::support::{AIDE_HOLDOUT, prompts, task};

const HELD_OUT: &str = "submission/holdout.csv";
const OUT_OF_FOLD: &str = "submission/oof.csv";

pub(crate) fn told() -> Task {
    let held = HeldOut {
        path: "validation/holdout.csv".into(),
        rows: 40,
        predictions: HELD_OUT.into(),
        search: true,
        last: true,
    };
    let folds = FoldFile { path: "validation/folds.csv".into(), folds: 5, predictions: OUT_OF_FOLD.into() };
    let validation = Validation {
        training_table: "train.csv".into(),
        training_rows: 160,
        holdout: Some(held),
        folds: Some(folds),
    };
    Task { validation: Some(validation), ..task() }
}

fn scaffold(overrides: &[(&str, &str)]) -> Scaffold {
    let overrides: Vec<_> =
        overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    Scaffold::load(AIDE_HOLDOUT, prompts(), &overrides).unwrap()
}

/// Scores of the search slice and of the final one, by node; lower is better. None: no file of predictions.
const SCORES: [(Option<f64>, Option<f64>); 6] = [
    (Some(0.50), Some(0.61111)),
    (Some(0.30), Some(0.52222)),
    (Some(0.40), Some(0.43333)),
    (None, None),
    (Some(0.35), None),
    (Some(0.60), Some(0.04444)),
];

pub(crate) fn scored(score: f64, folds: &[f64]) -> EffectResult {
    let folds = folds.iter().copied().map(Number).collect();
    EffectResult::Evaluation(Evaluation::Scored { score: Number(score), folds })
}

/// The files that a program of a node is asked for.
pub(crate) fn predictions(node: u32) -> BTreeMap<String, Collected> {
    let file =
        |what: &str| Collected::File { sha256: Sha256::of(format!("{what} {node}").as_bytes()), bytes: 9 };
    BTreeMap::from([(HELD_OUT.to_owned(), file("held")), (OUT_OF_FOLD.to_owned(), file("oof"))])
}

fn refused(reason: &str) -> EffectResult {
    EffectResult::Evaluation(Evaluation::Refused { reason: reason.into() })
}

fn answer(key: &str) -> Option<EffectResult> {
    let mut parts = key.strip_prefix("node/")?.split('/');
    let node: usize = parts.next()?.parse().ok()?;
    let (search, last) = SCORES[node];
    Some(match parts.next()? {
        "draft" | "improve" | "debug" => program(&format!("0.{}", node + 1)),
        "execute" => {
            let mut execution = execute("print('0.9')");
            execution.collected = predictions(u32::try_from(node).unwrap());
            if search.is_none() {
                let nothing = Collected::Missing { found: "a directory".into() };
                execution.collected.insert(HELD_OUT.to_owned(), nothing);
            }
            EffectResult::Execution(Box::new(execution))
        }
        "holdout" => scored(search.unwrap(), &[]),
        "folds" => scored(0.7, &[0.6, 0.8]),
        "final" => last.map_or_else(|| refused("one class only"), |score| scored(score, &[])),
        _ => return None,
    })
}

fn search(overrides: &[(&str, &str)], steps: u32) -> FakeContext {
    let context = FakeContext::new(3, steps, world(answer)).with_task(told());
    let drafts = [("policy.rule.drafts.number", "6")];
    let scaffold = scaffold(&[&drafts[..], overrides].concat());
    context.drive(&*scaffold.strategy()).unwrap();
    context
}

fn nodes(context: &FakeContext) -> Vec<NodeRecord> {
    let journal = context.journal.borrow();
    let record = |effect: &Effect| match effect {
        Effect::Node(node) => Some((**node).clone()),
        _ => None,
    };
    journal.iter().filter_map(|(_, effect, _)| record(effect)).collect()
}

fn selected(context: &FakeContext) -> Vec<u32> {
    let journal = context.journal.borrow();
    let select = |effect: &Effect| match effect {
        Effect::SelectFinal { node, .. } => *node,
        _ => None,
    };
    journal.iter().filter_map(|(_, effect, _)| select(effect)).collect()
}

#[test]
fn the_search_goes_by_its_slice_and_the_final_one_chooses_among_the_best_few() {
    let context = search(&[("selection.top", "3"), ("selection.weight", "1.0")], 6);
    let nodes = nodes(&context);
    let metrics: Vec<Option<f64>> = nodes.iter().map(|node| node.metric.map(|metric| metric.0)).collect();
    assert_eq!(metrics, SCORES.map(|(search, _)| search));
    assert_eq!(nodes[0].metric_source.as_deref(), Some("holdout"));
    let spread = nodes[0].signal("folds").unwrap().spread.unwrap().0;
    assert!((spread - 0.02_f64.sqrt()).abs() < 1e-12, "{spread}");
    // Without predictions a node counts as buggy, whatever it printed, and says why.
    let problem = "`./submission/holdout.csv`: found a directory";
    assert_eq!(nodes[3].buggy.as_deref(), Some(format!("no finite validation metric: {problem}").as_str()));
    assert_eq!(nodes[3].flags, [problem]);
    // 0, then 1 and 2 as they beat it on the final slice; the last is far from the best few, 4 has no such score.
    assert_eq!(selected(&context), [0, 1, 2]);
    // Asked once for each that was ever among them.
    let journal = context.journal.borrow();
    let asked = journal.iter().filter(|(key, ..)| key.ends_with("/final/0")).count();
    assert_eq!(asked, 4);
}

#[test]
fn the_numbers_of_the_rule_take_effect() {
    let cases = [
        ("1", "1.0", vec![0, 1]),
        ("2", "1.0", vec![0, 1, 2, 1]),
        ("6", "1.0", vec![0, 1, 2, 5]),
        ("6", "0.5", vec![0, 1, 5]),
        ("6", "0.01", vec![0, 1]),
    ];
    for (top, weight, expected) in cases {
        let numbers = [("selection.top", top), ("selection.weight", weight)];
        assert_eq!(selected(&search(&numbers, 6)), expected, "{numbers:?}");
    }
    for weight in ["0.0", "1.1", "nan"] {
        let overrides = [("selection.weight".to_owned(), weight.to_owned())];
        assert!(Scaffold::load(AIDE_HOLDOUT, prompts(), &overrides).is_err(), "{weight}");
    }
}

#[test]
fn no_prompt_and_no_node_holds_a_score_of_the_final_slice() {
    let context = search(&[("policy.rule.drafts.number", "3"), ("selection.top", "6")], 6);
    let finals: Vec<String> =
        SCORES.iter().filter_map(|(_, last)| last.map(|last| last.to_string())).collect();
    let mut texts = 0;
    for (_, effect, _) in context.journal.borrow().iter() {
        let text = match effect {
            Effect::Chat { request, .. } => format!("{request:?}"),
            Effect::Node(node) => format!("{node:?}"),
            Effect::Note { text } => text.clone(),
            _ => continue,
        };
        texts += 1;
        for score in &finals {
            assert!(!text.contains(score.as_str()), "{score} in {text}");
        }
    }
    assert!(texts >= 18, "{texts}");
}

#[test]
fn an_agent_is_told_what_is_kept_only_where_it_is() {
    let context = search(&[], 1);
    let journal = context.journal.borrow();
    let prompt = journal.iter().find_map(|(_, effect, _)| match effect {
        Effect::Chat { request, .. } => Some(request.messages[0].content.clone()),
        _ => None,
    });
    let prompt = prompt.unwrap();
    let section = prompt.split("# How programs are compared").nth(1).unwrap().split("# What is fair").next();
    insta::assert_snapshot!(section.unwrap());
    let collect: Vec<String> = journal
        .iter()
        .find_map(|(_, effect, _)| match effect {
            Effect::Execute(request) => Some(request.collect.clone()),
            _ => None,
        })
        .unwrap();
    assert_eq!(collect, [HELD_OUT, OUT_OF_FOLD]);
}
