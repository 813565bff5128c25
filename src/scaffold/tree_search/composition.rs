//! What a tree search is put together from, in a few lines for people: the four things that vary and the repairs. The
//! numbers behind it are the scaffold's values.

use serde_json::Value;

use crate::tree_search::evaluation::EvaluationSpec;
use crate::tree_search::policy::repair::RepairSpec;
use crate::tree_search::spec::TreeSearchSpec;

/// The parts by name, in the order in which they are used.
pub(crate) fn of(spec: &TreeSearchSpec) -> Vec<(String, String)> {
    let operators = spec.operators.iter().map(|(name, operator)| format!("{name} ({})", operator.kind()));
    let policy = spec.policy.told().unwrap_or_else(|| kind_and_numbers(spec.policy.values()));
    let selection = serde_json::to_value(&spec.selection).unwrap_or_default();
    [
        ("workers", spec.search.workers.to_string()),
        ("policy", policy),
        ("repair", spec.repair.as_ref().map_or_else(|| "none: the policy decides".to_owned(), repair)),
        ("operators", operators.collect::<Vec<_>>().join(", ")),
        ("evaluation", evaluation(&spec.evaluation)),
        ("selection", kind_and_numbers(&selection)),
    ]
    .into_iter()
    .map(|(name, text)| (name.to_owned(), text))
    .collect()
}

fn repair(spec: &RepairSpec) -> String {
    let time = spec.max_time.map_or_else(String::new, |time| format!(" and {time} of executions"));
    format!("{} at once, up to {} times{time}", spec.operator, spec.max_depth)
}

fn evaluation(spec: &EvaluationSpec) -> String {
    let names = |sources: &[crate::tree_search::evaluation::SourceName]| -> Vec<String> {
        let name = |source| serde_json::to_value(source).ok()?.as_str().map(str::to_owned);
        sources.iter().filter_map(name).collect()
    };
    let mut parts = vec![format!("metric {}", names(&spec.metric).join(", else "))];
    if !spec.record.is_empty() {
        parts.push(format!("recorded only: {}", names(&spec.record).join(", ")));
    }
    if spec.k_fold > 1 {
        parts.push(format!("{} folds suggested", spec.k_fold));
    }
    parts.push(match &spec.review {
        Some(review) => format!("reviewed by the role {}", review.role),
        None => "no review".to_owned(),
    });
    parts.join("; ")
}

/// `mcts: children 5, exploration 0.25`.
fn kind_and_numbers(table: &Value) -> String {
    let kind = table.get("kind").and_then(Value::as_str).unwrap_or_default();
    let numbers = numbers("", table);
    if numbers.is_empty() { kind.to_owned() } else { format!("{kind}: {}", numbers.join(", ")) }
}

fn numbers(path: &str, table: &Value) -> Vec<String> {
    let Value::Object(fields) = table else { return Vec::new() };
    let below = |(name, value): (&String, &Value)| {
        let name = name.replace('_', " ");
        let path = if path.is_empty() { name } else { format!("{path} {name}") };
        match value {
            Value::Number(_) => vec![format!("{path} {value}")],
            Value::Bool(true) => vec![path],
            other => numbers(&path, other),
        }
    };
    fields.iter().flat_map(below).collect()
}
