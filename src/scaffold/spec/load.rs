//! From the text of a scaffold file and its overrides to a checked spec.
//!
//! The file is read alone first, so its errors have lines; each override is then applied to the table and the whole
//! is read again, so its errors name the override.

use crate::spec::model::{Candidates, Condition, RuleSpec};
use crate::spec::overrides::{self, ResolvedValue};
use crate::spec::{ScaffoldSpec, SpecError};
use podium_types::nearest::nearest;

/// A scaffold file with its overrides applied.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The checked spec.
    pub spec: ScaffoldSpec,
    /// The file's table with the overrides in it: written out, it resolves to the same spec without them.
    pub table: toml::Table,
    /// Every value with its origin, in the order of their paths.
    pub values: Vec<ResolvedValue>,
}

/// Reads a scaffold file and applies overrides, the later over the earlier.
pub fn resolve(text: &str, overrides: &[(String, String)]) -> Result<Resolved, SpecError> {
    let mut spec: ScaffoldSpec = toml::from_str(text).map_err(|error| read_error(text, &error))?;
    let mut table: toml::Table = toml::from_str(text).map_err(|error| read_error(text, &error))?;
    for (path, value) in overrides {
        overrides::apply(&mut table, &spec, path, value)?;
        spec = table.clone().try_into().map_err(|error: toml::de::Error| SpecError::Override {
            path: path.clone(),
            value: value.clone(),
            message: error.message().to_owned(),
        })?;
    }
    check(&spec)?;
    let values = overrides::values(&spec, overrides);
    Ok(Resolved { spec, table, values })
}

fn read_error(text: &str, error: &toml::de::Error) -> SpecError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let message = error.message();
    // serde says: unknown field `tirs`, expected one of `prompt`, `role`, ...
    let mut names = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown"), names.next()) {
        (true, Some(name)) => {
            SpecError::Unknown { line, name: name.to_owned(), nearest: nearest(name, names) }
        }
        _ => SpecError::Syntax { line, message: message.to_owned() },
    }
}

fn check(spec: &ScaffoldSpec) -> Result<(), SpecError> {
    at_least_one("limits.steps", u64::from(spec.limits.steps))?;
    at_least_one("limits.time_limit", spec.limits.time_limit.millis())?;
    at_least_one("limits.execution_timeout", spec.limits.execution_timeout.millis())?;
    at_least_one("search.workers", spec.search.workers as u64)?;
    at_least_one("evaluation.tries", u64::from(spec.evaluation.tries))?;
    at_least_one("evaluation.k_fold", u64::from(spec.evaluation.k_fold))?;
    at_least_one("policy.rule", spec.policy.rule.len() as u64)?;
    role(spec, "evaluation.role", &spec.evaluation.role)?;
    for (name, operator) in &spec.operators {
        at_least_one(&format!("operators.{name}.tries"), u64::from(operator.tries))?;
        role(spec, &format!("operators.{name}.role"), &operator.role)?;
    }
    if spec.output.head_chars.saturating_add(spec.output.tail_chars) > spec.output.max_chars {
        return Err(invalid("output.max_chars", "is less than head_chars and tail_chars together"));
    }
    spec.policy.rule.iter().try_for_each(|item| rule(spec, item))
}

fn rule(spec: &ScaffoldSpec, rule: &RuleSpec) -> Result<(), SpecError> {
    let path = |field: &str| format!("policy.rule.{}.{field}", rule.name);
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    if !rule.name.starts_with(|first: char| first.is_ascii_alphabetic()) || !rule.name.chars().all(word) {
        return Err(invalid(&path("name"), "must be a word of letters, digits, `_` and `-`"));
    }
    if spec.policy.rule.iter().filter(|other| other.name == rule.name).count() > 1 {
        return Err(invalid(&path("name"), "is the name of two rules"));
    }
    if !spec.operators.contains_key(&rule.operator) {
        return Err(SpecError::Missing {
            path: path("operator"),
            what: "operator",
            name: rule.operator.clone(),
            nearest: nearest(&rule.operator, spec.operators.keys().map(String::as_str)),
        });
    }
    if rule.probability.is_some_and(|chance| !(0.0..=1.0).contains(&chance)) {
        return Err(invalid(&path("probability"), "must be between 0 and 1"));
    }
    let counts = rule.when == Condition::DraftsBelow;
    belongs(counts, rule.number.is_some(), &path("number"), "when = \"drafts_below\"")?;
    let debugs = rule.from == Some(Candidates::BuggyLeaf);
    belongs(debugs, rule.max_debug_depth.is_some(), &path("max_debug_depth"), "from = \"buggy_leaf\"")?;
    belongs(rule.from.is_some(), rule.pick.is_some(), &path("pick"), "`from`")
}

/// A field that must be there exactly when another says so.
fn belongs(wanted: bool, given: bool, path: &str, owner: &str) -> Result<(), SpecError> {
    match (wanted, given) {
        (true, false) => Err(invalid(path, &format!("is needed with {owner}"))),
        (false, true) => Err(invalid(path, &format!("has no meaning without {owner}"))),
        _ => Ok(()),
    }
}

fn role(spec: &ScaffoldSpec, path: &str, name: &str) -> Result<(), SpecError> {
    if spec.models.contains_key(name) {
        return Ok(());
    }
    let nearest = nearest(name, spec.models.keys().map(String::as_str));
    Err(SpecError::Missing {
        path: path.to_owned(),
        what: "role under [models]",
        name: name.to_owned(),
        nearest,
    })
}

fn at_least_one(path: &str, number: u64) -> Result<(), SpecError> {
    if number == 0 { Err(invalid(path, "must be at least 1")) } else { Ok(()) }
}

fn invalid(path: &str, message: &str) -> SpecError {
    SpecError::Invalid { path: path.to_owned(), message: message.to_owned() }
}
