//! From the text of a scaffold file and its overrides to a checked scaffold.
//!
//! The file is read alone first, so its errors have lines; each override is then applied to the table and the whole
//! is read again, so its errors name the override. Each time the head is read, and then the strategy that it names
//! reads its own tables from the same file.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::blueprint::Blueprint;
use crate::registry::Registry;
use crate::spec::fields::fields_of;
use crate::spec::overrides::{self, ResolvedValue};
use crate::spec::source::Source;
use crate::spec::{Head, SpecError, check};

/// A scaffold file with its overrides applied.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What all scaffolds have.
    pub head: Head,
    /// What the strategy made of its own tables.
    pub blueprint: Arc<dyn Blueprint>,
    /// The file's table with the overrides in it: written out, it resolves to the same scaffold without them.
    pub table: toml::Table,
    /// The whole as read, head and tables.
    pub spec: Json,
    /// Every value with its origin, in the order of their paths.
    pub values: Vec<ResolvedValue>,
}

/// Reads a scaffold file and applies overrides, the later over the earlier.
pub fn resolve(
    registry: &Registry,
    text: &str,
    overrides: &[(String, String)],
) -> Result<Resolved, SpecError> {
    let mut source = Source::new(text)?;
    let mut read = read(registry, &source, true)?;
    for set in overrides {
        let mut table = source.table.clone();
        overrides::apply(&mut table, &read.spec, &set.0, &set.1)?;
        source = source.overridden(table, set);
        read = self::read(registry, &source, false)?;
    }
    check::head(&read.head)?;
    for role in read.blueprint.roles() {
        check::refers_to(&role.path, "role under [models]", role.name, &read.head.models)?;
    }
    read.blueprint.check(&read.head)?;
    let values = overrides::values(&read.spec, &source.table, overrides);
    Ok(Resolved { head: read.head, blueprint: read.blueprint, table: source.table, spec: read.spec, values })
}

/// A file as read once.
pub(super) struct Read {
    pub(super) head: Head,
    pub(super) blueprint: Arc<dyn Blueprint>,
    spec: Json,
}

pub(super) fn read(registry: &Registry, source: &Source<'_>, keys: bool) -> Result<Read, SpecError> {
    #[derive(serde::Deserialize)]
    struct Named {
        strategy: String,
    }
    let Named { strategy } = source.read()?;
    let entry =
        registry.get(&strategy).ok_or_else(|| source.unknown_strategy(&strategy, registry.names()))?;
    if keys {
        source.check_keys(fields_of::<Head>().iter().chain((entry.keys)()).copied())?;
    }
    let head: Head = source.read()?;
    let tables = (entry.read)(source, registry)?;
    let mut spec = serde_json::to_value(&head).unwrap_or_default();
    if let (Json::Object(spec), Json::Object(tables)) = (&mut spec, tables.values) {
        spec.extend(tables);
    }
    Ok(Read { head, blueprint: tables.blueprint, spec })
}
