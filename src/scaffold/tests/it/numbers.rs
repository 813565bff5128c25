//! Every number in the shipped tree searches takes effect: another value gives another first prompt, other limits for
//! the run, or another course of a search in which everything happens.

use std::fmt::Write as _;

use podium_scaffold::{Budget, EffectResult, Scaffold};
use podium_types::chat::FinishReason;
use serde_json::{Value, json};

use crate::support::context::FakeContext;
use crate::support::script::{chat, execute, world};
use crate::support::{JUDGED, budget, scaffold, shipped, task};
use crate::validation;

/// Numbers that stand in several files, and another value for each.
const COMMON: &[(&str, &str)] = &[
    ("benchmark.max_packages", "1"),
    ("data_preview.max_chars", "5999"),
    ("evaluation.k_fold", "4"),
    ("evaluation.review.tries", "1"),
    ("limits.execution_timeout", "2h"),
    ("limits.steps", "21"),
    ("limits.time_limit", "23h"),
    ("models.code.max_output_tokens", "16385"),
    ("models.code.temperature", "0.6"),
    ("models.feedback.max_output_tokens", "4097"),
    ("models.feedback.temperature", "0.6"),
    ("operators.crossover.tries", "1"),
    ("operators.debug.tries", "1"),
    ("operators.draft.tries", "1"),
    ("operators.improve.tries", "1"),
    ("output.head_chars", "2499"),
    ("output.max_chars", "20000"),
    ("output.tail_chars", "2499"),
    ("policy.rule.debug.max_debug_depth", "0"),
    ("policy.rule.debug.probability", "0.9"),
    ("policy.rule.drafts.number", "4"),
    ("prompt_budget.code", "3"),
    ("prompt_budget.description", "20"),
    ("prompt_budget.memory", "60"),
    ("prompt_budget.output", "500"),
    ("prompt_budget.packages", "8"),
    ("prompt_budget.plan", "3"),
    ("prompt_budget.preview", "2"),
    ("prompt_budget.summary", "3"),
    ("repair.max_depth", "1"),
    ("repair.max_time", "1s"),
    ("search.workers", "2"),
];

/// Numbers of single policies.
const OWN: &[(&str, &[(&str, &str)])] = &[
    ("aide", &[]),
    (
        "aide-holdout",
        &[
            ("selection.top", "1"),
            ("selection.weight", "1"),
            ("validation.folds", "4"),
            ("validation.holdout.final", "0.2"),
            ("validation.holdout.search", "0.2"),
        ],
    ),
    ("aide-mlebench", &[]),
    (
        "aira-evo",
        &[
            ("policy.crossover_from", "4"),
            ("policy.crossover_probability", "0.9"),
            ("policy.generation", "3"),
            ("policy.islands", "2"),
            ("policy.max_members", "1"),
            ("policy.temperature.end", "0.05"),
            ("policy.temperature.start", "0.05"),
        ],
    ),
    ("aira-greedy", &[]),
    ("aira-mcts", &[("policy.children", "3"), ("policy.exploration", "2")]),
    ("best-first", &[("policy.children", "1"), ("policy.drafts", "3"), ("policy.tolerance", "0.5")]),
    (
        "ml-master",
        &[
            ("evaluation.outlier_factor", "1.05"),
            ("policy.drafts", "2"),
            ("policy.exploration.decay", "1"),
            ("policy.exploration.falls_at", "1"),
            ("policy.exploration.floor", "1.414"),
            ("policy.exploration.floor_at", "0"),
            ("policy.exploration.start", "50"),
            ("policy.failures", "0"),
            ("policy.improvement", "0.2"),
            ("policy.improvements", "1"),
            ("policy.max_debug_depth", "1"),
            ("policy.repairs", "2"),
            ("policy.report_debug_depth", "0"),
        ],
    ),
    (
        "mle-star",
        &[
            ("operators.ensemble.tries", "1"),
            ("operators.refine.study.tries", "1"),
            ("operators.refine.write.tries", "1"),
            ("policy.rule.ensemble.parents", "3"),
            ("policy.rule.ensemble.share", "0.5"),
        ],
    ),
    ("random", &[("policy.draft_probability", "0.9")]),
];

/// Numbers that change no behaviour, and why.
const IDLE: &[(&str, &str)] = &[("version", "it names the composition, for people who compare runs")];

/// Numbers whose effect forty steps show only beside another value of another number.
const BESIDE: &[(&str, (&str, &str))] = &[
    ("policy.exploration", ("policy.children", "2")),
    ("policy.exploration.falls_at", ("policy.exploration.decay", "1")),
    ("policy.exploration.floor", ("policy.exploration.floor_at", "0")),
];

/// By the number of the node: some answers hold no program, some programs crash, some reviews cannot be read; all
/// print much. One crashes out of turn, so that no chain of repairs falls upon the same kinds for ever.
fn everything(key: &str) -> Option<EffectResult> {
    let mut parts = key.strip_prefix("node/")?.split('/');
    let node: u32 = parts.next()?.parse().ok()?;
    let operator = parts.next()?;
    let metric = 0.9 - f64::from(node * 7 % 40) / 100.0;
    let answer = |text: &str| chat(text, None, FinishReason::Stop);
    Some(match (operator, node % 6) {
        ("draft" | "debug" | "improve" | "crossover" | "study" | "refine" | "ensemble", 1) | ("debug", 2) => {
            answer("I cannot.")
        }
        ("draft" | "debug" | "improve" | "crossover" | "study" | "refine" | "ensemble", _) => {
            answer(&format!("Plan {node}: fit trees.\n```python\nprint('{metric}')\n```"))
        }
        ("execute", kind) => {
            let mut execution =
                execute(if kind == 2 || kind == 4 || node == 18 { "print('crash')" } else { "print('0.5')" });
            let noise = "epoch done\n".repeat(1_000);
            execution.output.head = format!("{noise}validation log loss: {metric}\n");
            EffectResult::Execution(Box::new(execution))
        }
        ("review", 3) => answer("Fine!"),
        ("review", _) => {
            let review =
                json!({"is_bug": false, "summary": format!("Run {node} went well."), "metric": metric});
            chat("", Some(review), FinishReason::Stop)
        }
        _ => return None,
    })
}

/// The same, and scores by labels that the harness keeps, among which the order is another.
fn judged(key: &str) -> Option<EffectResult> {
    let mut parts = key.strip_prefix("node/")?.split('/');
    let node: u32 = parts.next()?.parse().ok()?;
    let score = |factor: u32| 0.9 - f64::from(node * factor % 40) / 100.0;
    Some(match parts.next()? {
        "execute" => {
            let mut result = everything(key)?;
            if let EffectResult::Execution(execution) = &mut result {
                execution.collected = validation::predictions(node);
            }
            result
        }
        "holdout" => validation::scored(score(7), &[]),
        "folds" => validation::scored(score(3), &[score(3), score(3) + 0.1]),
        "final" => validation::scored(score(11), &[]),
        _ => return everything(key),
    })
}

/// What a scaffold does: its limits and its first prompt, and the searches of two seeds. Each is worked out only when it
/// is asked for.
fn part(scaffold: &Scaffold, number: u64) -> String {
    let limits = scaffold.limits();
    let is_judged = scaffold.head().id == JUDGED.0;
    let task = if is_judged { validation::told() } else { task() };
    if number == 0 {
        let told = Budget {
            step_limit: Some(limits.steps),
            run_limit_ms: Some(limits.time_limit.millis()),
            execution_limit_ms: limits.execution_timeout.millis(),
            ..budget()
        };
        let first = scaffold.first_call(&task, &told, "input/").unwrap();
        // What it asks for the run layer makes, which has a test of its own for each of these numbers.
        return format!("{first:?}\n{:?}\n", scaffold.validation());
    }
    let world = world(if is_judged { judged } else { everything });
    let context = FakeContext::new(number, 40, world).with_task(task);
    context.drive(&*scaffold.strategy()).unwrap();
    let mut text = String::new();
    for (key, effect, _) in context.journal.borrow().iter() {
        let _ = writeln!(text, "{key} {effect:?}");
    }
    text
}

const PARTS: std::ops::Range<u64> = 0..3;

fn is_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(text) => text.parse::<podium_scaffold::spec::Duration>().is_ok(),
        _ => false,
    }
}

fn check(id: &str) {
    let base = scaffold(id, &[]);
    let values = base.values();
    let numbers: Vec<&str> = values
        .iter()
        // Where nothing is kept these are nothing.
        .filter(|value| id == JUDGED.0 || !value.path.starts_with("validation."))
        .filter(|value| is_number(&value.value))
        .map(|value| value.path.as_str())
        .filter(|path| !IDLE.iter().any(|(idle, _)| idle == path))
        .collect();
    let (_, own) = OWN.iter().find(|(name, _)| *name == id).unwrap();
    let other = |path: &str| own.iter().chain(COMMON).find(|(name, _)| *name == path);
    let parts = |scaffold: &Scaffold| PARTS.map(|number| part(scaffold, number)).collect::<Vec<String>>();
    let same = |other: &Scaffold, before: &[String]| {
        PARTS.zip(before).all(|(number, before)| part(other, number) == *before)
    };
    let before = parts(&base);
    assert!(same(&scaffold(id, &[]), &before), "what it does is a function of the scaffold");
    let mut idle: Vec<String> = Vec::new();
    for path in numbers {
        let (_, other) = other(path).unwrap_or_else(|| panic!("{path} in {id}.toml needs a line here"));
        let idles = match BESIDE.iter().find(|(name, _)| *name == path) {
            None => same(&scaffold(id, &[(path, other)]), &before),
            Some((_, beside)) => {
                same(&scaffold(id, &[*beside, (path, other)]), &parts(&scaffold(id, &[*beside])))
            }
        };
        if idles {
            idle.push(format!("{path} = {other} changes nothing"));
        }
    }
    assert!(idle.is_empty(), "{id}: {idle:#?}");
    let stale = own.iter().find(|(path, _)| !values.iter().any(|value| value.path == *path));
    assert_eq!(stale, None, "it is not in {id}.toml");
    for (path, why) in IDLE {
        assert!(same(&scaffold(id, &[(path, "7")]), &before), "{path}: {why}");
    }
}

/// A test for each file, so that they run side by side.
macro_rules! every_number_takes_effect {
    ($($name:ident: $id:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            check($id);
        })*

        #[test]
        fn every_file_is_checked() {
            let shipped = shipped::scaffolds();
            assert!([$($id),*].into_iter().eq(shipped.keys()), "{:?}", shipped.keys());
        }
    };
}

every_number_takes_effect! {
    aide: "aide",
    aide_holdout: "aide-holdout",
    aide_mlebench: "aide-mlebench",
    aira_evo: "aira-evo",
    aira_greedy: "aira-greedy",
    aira_mcts: "aira-mcts",
    best_first: "best-first",
    ml_master: "ml-master",
    mle_star: "mle-star",
    random: "random",
}
