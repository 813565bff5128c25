//! `--set key.path=value`: changes one value of the scaffold's table, and remembers that it did.
//!
//! A path is the keys from the top, joined by dots; a policy rule is named by its `name` or by its place, from 1
//! (`policy.rule.debug.probability`, `policy.rule.2.probability`). The value is read as TOML and, where it is none,
//! as a plain string, so that quotes are not needed: `limits.time_limit=2h`.

use serde::Serialize;
use serde_json::Value as Json;

use crate::spec::{ScaffoldSpec, SpecError};
use podium_types::nearest::nearest;

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The scaffold file.
    File,
    /// `--set`.
    Set,
    /// Nobody gave it; the scaffold does without.
    Unset,
}

/// One value of a resolved scaffold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResolvedValue {
    /// The keys from the top, joined by dots.
    pub path: String,
    /// The value; null when nobody gave it.
    pub value: Json,
    /// Where it came from.
    pub origin: Origin,
}

/// Sets `path` in `table`. `spec` is what the table read as before.
pub(super) fn apply(
    table: &mut toml::Table,
    spec: &ScaffoldSpec,
    path: &str,
    value: &str,
) -> Result<(), SpecError> {
    let known = leaves(spec);
    let canonical = canonical(spec, path);
    if !known.iter().any(|(name, _)| *name == canonical) {
        let names = known.iter().map(|(name, _)| name.as_str());
        return Err(SpecError::UnknownPath { path: path.to_owned(), nearest: nearest(path, names) });
    }
    let value = parse(value);
    let keys: Vec<&str> = canonical.split('.').collect();
    if insert(table, spec, &keys, value).is_none() {
        return Err(SpecError::UnknownPath { path: path.to_owned(), nearest: None });
    }
    Ok(())
}

/// All values of `spec` with their origins.
pub(super) fn values(spec: &ScaffoldSpec, overrides: &[(String, String)]) -> Vec<ResolvedValue> {
    let set: Vec<String> = overrides.iter().map(|(path, _)| canonical(spec, path)).collect();
    leaves(spec)
        .into_iter()
        .map(|(path, value)| {
            let origin = match (&value, set.contains(&path)) {
                (_, true) => Origin::Set,
                (Json::Null, false) => Origin::Unset,
                _ => Origin::File,
            };
            ResolvedValue { path, value, origin }
        })
        .collect()
}

/// `policy.rule.2.x` as `policy.rule.NAME.x`.
fn canonical(spec: &ScaffoldSpec, path: &str) -> String {
    let Some(rest) = path.strip_prefix("policy.rule.") else { return path.to_owned() };
    let Some((place, field)) = rest.split_once('.') else { return path.to_owned() };
    let by_place = place.parse::<usize>().ok().and_then(|place| spec.policy.rule.get(place.checked_sub(1)?));
    by_place.map_or_else(|| path.to_owned(), |rule| format!("policy.rule.{}.{field}", rule.name))
}

fn parse(text: &str) -> toml::Value {
    toml::from_str::<toml::Table>(&format!("value = {text}"))
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

fn insert(table: &mut toml::Table, spec: &ScaffoldSpec, keys: &[&str], value: toml::Value) -> Option<()> {
    match keys {
        ["policy", "rule", name, field] => {
            let place = spec.policy.rule.iter().position(|rule| rule.name == *name)?;
            let rules = table.get_mut("policy")?.get_mut("rule")?.as_array_mut()?;
            rules.get_mut(place)?.as_table_mut()?.insert((*field).to_owned(), value);
        }
        [field] => {
            table.insert((*field).to_owned(), value);
        }
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            return insert(inner.as_table_mut()?, spec, rest, value);
        }
        [] => return None,
    }
    Some(())
}

fn leaves(spec: &ScaffoldSpec) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    collect("", &serde_json::to_value(spec).unwrap_or_default(), &mut found);
    found
}

fn collect(path: &str, value: &Json, found: &mut Vec<(String, Json)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Json::Object(map) => map.iter().for_each(|(key, value)| collect(&below(key), value, found)),
        Json::Array(items) => items.iter().enumerate().for_each(|(place, value)| {
            let name =
                value.get("name").and_then(Json::as_str).map_or_else(|| place.to_string(), str::to_owned);
            collect(&below(&name), value, found);
        }),
        leaf => found.push((path.to_owned(), leaf.clone())),
    }
}
