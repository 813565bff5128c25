//! Entries of the catalog that say which other entry they are the same as: a deployment under a name of its own, a
//! model behind a router. They inherit its facts; keys of their own win. Names and aliases are not inherited.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::{Table, Value};

use crate::catalog::ModelFacts;
use crate::model::ModelName;
use crate::toml_fault::TomlFault;

/// Completes the entries `read` from `text`, which stands in `file`; `known` are those of files before it.
pub(crate) fn inherit(
    file: &str,
    text: &str,
    known: &BTreeMap<ModelName, ModelFacts>,
    read: &mut BTreeMap<ModelName, ModelFacts>,
) -> Result<(), TomlFault> {
    let own: Table = text.parse().unwrap_or_default();
    let own = own.get("models").and_then(Value::as_table).cloned().unwrap_or_default();
    let mut waiting: BTreeSet<ModelName> =
        read.iter().filter(|(_, facts)| facts.same_as.is_some()).map(|(name, _)| name.clone()).collect();
    while let Some(name) =
        waiting.iter().find(|name| base(name, read).is_none_or(|base| !waiting.contains(base)))
    {
        let name = name.clone();
        waiting.remove(&name);
        let fault = |problem: String| fault(file, text, &name, problem);
        let Some(same_as) = base(&name, read).cloned() else { continue };
        let Some(facts) = read.get(&same_as).or_else(|| known.get(&same_as)) else {
            return Err(fault(format!("`{name}` is said to be the same as `{same_as}`, which has no entry")));
        };
        let empty = Table::new();
        let own = own.get(&name.to_string()).and_then(Value::as_table).unwrap_or(&empty);
        let facts = overlaid(facts, own).map_err(|error| fault(error.message().to_owned()))?;
        read.insert(name, facts);
    }
    match waiting.first() {
        Some(name) => {
            Err(fault(file, text, name, format!("`{name}` is the same as itself, by a circle of entries")))
        }
        None => Ok(()),
    }
}

fn base<'a>(name: &ModelName, read: &'a BTreeMap<ModelName, ModelFacts>) -> Option<&'a ModelName> {
    read.get(name).and_then(|facts| facts.same_as.as_ref())
}

fn overlaid(base: &ModelFacts, own: &Table) -> Result<ModelFacts, toml::de::Error> {
    let mut keys = Table::try_from(base).unwrap_or_default();
    keys.remove("aliases");
    keys.extend(own.clone());
    ModelFacts::deserialize(keys)
}

fn fault(file: &str, text: &str, name: &ModelName, problem: String) -> TomlFault {
    let head = format!("\"{name}\"");
    let line = text.lines().position(|line| line.contains(&head)).map_or(1, |line| line + 1);
    TomlFault { file: file.to_owned(), line, problem, nearest: None }
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Api, Catalog, ModelFacts};

    const BASE: &str = r#"
[models."openai/gpt"]
context_window = 1000
output_limit = 100
api = "responses"
prices = { input = 1.25, output = 10.0 }
prices_as_of = "2026-11"
aliases = ["gpt-old"]
temperature = false
"#;

    fn facts(catalog: &Catalog, name: &str) -> ModelFacts {
        catalog.facts(&name.parse().unwrap()).clone()
    }

    #[test]
    fn facts_are_inherited_and_own_keys_win() {
        let own = "[models.\"azure/again\"]\nsame_as = \"azure/mine\"\n[models.\"azure/mine\"]\nsame_as = \"openai/gpt\"\noutput_limit = 50\ntemperature = true\n";
        let catalog = Catalog::default().with("a.toml", BASE).unwrap().with("b.toml", own).unwrap();
        let base = facts(&catalog, "openai/gpt");
        assert_eq!(base.api, Api::Responses);
        let mine = ModelFacts {
            output_limit: Some(50),
            temperature: true,
            aliases: Vec::new(),
            same_as: Some("openai/gpt".parse().unwrap()),
            ..base
        };
        assert_eq!(facts(&catalog, "azure/mine"), mine);
        let again = ModelFacts { same_as: Some("azure/mine".parse().unwrap()), ..mine };
        assert_eq!(facts(&catalog, "azure/again"), again);
        assert_eq!(facts(&catalog, "azure/gpt-old").prices, None, "an alias is its provider's own");
    }

    #[test]
    fn what_it_is_the_same_as_must_be_there() {
        let told = |text: &str| match Catalog::default().with("b.toml", text) {
            Err(crate::CatalogError::Toml(fault)) => fault.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            told("\n[models.\"azure/mine\"]\nsame_as = \"openai/gone\""),
            "`b.toml`, line 2: `azure/mine` is said to be the same as `openai/gone`, which has no entry"
        );
        assert_eq!(
            told("[models.\"a/b\"]\nsame_as = \"a/c\"\n[models.\"a/c\"]\nsame_as = \"a/b\""),
            "`b.toml`, line 1: `a/b` is the same as itself, by a circle of entries"
        );
    }
}
