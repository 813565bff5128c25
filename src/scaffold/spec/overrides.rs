//! `--set key.path=value`: changes one value of the scaffold's table, and remembers that it did.
//!
//! A path is the keys from the top, joined by dots; a table in an array is named by its `name` or by its place, from 1
//! (`policy.rule.debug.probability`, `policy.rule.2.probability`). The value is read as TOML and, where it is none,
//! as a plain string, so that quotes are not needed: `limits.time_limit=2h`.

use serde::Serialize;
use serde_json::Value as Json;

use crate::spec::SpecError;
use podium_types::nearest::nearest;

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The scaffold file.
    File,
    /// `--set`.
    Set,
    /// Nobody gave it; what it is then.
    Default,
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
pub(super) fn apply(table: &mut toml::Table, spec: &Json, path: &str, value: &str) -> Result<(), SpecError> {
    let known = leaves(spec);
    let canonical = canonical(spec, path);
    if !known.iter().any(|(name, _)| *name == canonical) {
        let names = known.iter().map(|(name, _)| name.as_str());
        return Err(SpecError::UnknownPath { path: path.to_owned(), nearest: nearest(path, names) });
    }
    let keys: Vec<&str> = canonical.split('.').collect();
    if insert(table, &keys, parse(value)).is_none() {
        return Err(SpecError::UnknownPath { path: path.to_owned(), nearest: None });
    }
    Ok(())
}

/// All values of `spec`, which was read from `table`, with their origins.
pub(super) fn values(spec: &Json, table: &toml::Table, overrides: &[(String, String)]) -> Vec<ResolvedValue> {
    let set: Vec<String> = overrides.iter().map(|(path, _)| canonical(spec, path)).collect();
    // A table that was set whole is the origin of all in it.
    let is_set = |path: &str| set.iter().any(|set| is_within(path, set));
    let written = leaves(&serde_json::to_value(table).unwrap_or_default());
    // One may be short for what is read as several, and the other way round.
    let is_written =
        |path: &str| written.iter().any(|(name, _)| is_within(path, name) || is_within(name, path));
    leaves(spec)
        .into_iter()
        .map(|(path, value)| {
            let origin = match &value {
                _ if is_set(&path) => Origin::Set,
                Json::Null => Origin::Unset,
                _ if is_written(&path) => Origin::File,
                _ => Origin::Default,
            };
            ResolvedValue { path, value, origin }
        })
        .collect()
}

/// Whether `path` is `whole` or below it.
fn is_within(path: &str, whole: &str) -> bool {
    path.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The path with each place in an array of tables as the name of what stands there.
fn canonical(spec: &Json, path: &str) -> String {
    let mut at = spec;
    let mut names = Vec::new();
    for key in path.split('.') {
        let (name, below) = step(at, key);
        names.push(name);
        at = below;
    }
    names.join(".")
}

/// The name of what `key` leads to, and its value; null when there is none.
fn step<'a>(at: &'a Json, key: &str) -> (String, &'a Json) {
    let Json::Array(items) = at else { return (key.to_owned(), at.get(key).unwrap_or(&Json::Null)) };
    let by_place = key.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
    let mut places = items.iter().enumerate();
    places
        .find(|(place, item)| {
            by_place.map_or_else(|| name_of(item, *place) == key, |wanted| wanted == *place)
        })
        .map_or_else(|| (key.to_owned(), &Json::Null), |(place, item)| (name_of(item, place), item))
}

fn parse(text: &str) -> toml::Value {
    toml::from_str::<toml::Table>(&format!("value = {text}"))
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

fn insert(table: &mut toml::Table, keys: &[&str], value: toml::Value) -> Option<()> {
    match keys {
        [] => return None,
        [field] => {
            table.insert((*field).to_owned(), value);
        }
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            match (inner, rest) {
                (toml::Value::Array(items), [name, rest @ ..]) => {
                    let named =
                        |item: &toml::Value| item.get("name").and_then(toml::Value::as_str) == Some(name);
                    let place = items
                        .iter()
                        .position(named)
                        .or_else(|| name.parse::<usize>().ok()?.checked_sub(1))?;
                    return insert(items.get_mut(place)?.as_table_mut()?, rest, value);
                }
                (inner, rest) => return insert(inner.as_table_mut()?, rest, value),
            }
        }
    }
    Some(())
}

fn leaves(spec: &Json) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    collect("", spec, &mut found);
    found
}

/// An array of tables is walked into; any other is one value.
fn collect(path: &str, value: &Json, found: &mut Vec<(String, Json)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Json::Object(map) => map.iter().for_each(|(key, value)| collect(&below(key), value, found)),
        Json::Array(items) if items.iter().any(Json::is_object) => {
            items
                .iter()
                .enumerate()
                .for_each(|(place, item)| collect(&below(&name_of(item, place)), item, found));
        }
        leaf => found.push((path.to_owned(), leaf.clone())),
    }
}

/// The `name` of a table in an array, or its place, from 1.
fn name_of(item: &Json, place: usize) -> String {
    item.get("name").and_then(Json::as_str).map_or_else(|| (place + 1).to_string(), str::to_owned)
}
