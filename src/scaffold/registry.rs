//! The strategies that a scaffold file may name.
//!
//! A new one in this repository is a folder with its tables, its [`Blueprint`] and its [`Strategy`](crate::Strategy),
//! and a line in [`Registry::shipped`]. One in another crate is handed to
//! [`Scaffold::load_with`](crate::Scaffold::load_with):
//!
//! ```text
//! let registry = Registry::shipped().with::<MySpec>("my_strategy");
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::blueprint::Blueprint;
use crate::codeact::CodeActSpec;
use crate::command::CommandSpec;
use crate::research_loop::ResearchLoopSpec;
use crate::script::ScriptSpec;
use crate::spec::SpecError;
use crate::spec::fields::fields_of;
use crate::spec::source::Source;
use crate::tree_search::TreeSearchSpec;

/// Strategies by the names that files call them.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: BTreeMap<&'static str, Entry>,
}

/// How a strategy reads its tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The top-level keys that are its own.
    pub(crate) keys: fn() -> &'static [&'static str],
    pub(crate) read: fn(&Source<'_>) -> Result<Tables, SpecError>,
}

/// A strategy's tables as read.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) blueprint: Arc<dyn Blueprint>,
    pub(crate) values: Json,
}

impl Registry {
    /// The strategies of this package.
    pub fn shipped() -> Self {
        Self::default()
            .with::<TreeSearchSpec>("tree_search")
            .with::<CodeActSpec>("codeact")
            .with::<ResearchLoopSpec>("research_loop")
            .with::<ScriptSpec>("script")
            .with::<CommandSpec>("command")
    }

    /// With one more, or with another in the place of the one of that name. `B` is a struct whose fields are the
    /// strategy's top-level keys in a scaffold file. Its fields' types should refuse unknown keys
    /// (`#[serde(deny_unknown_fields)]`); it must not do so itself, for the head stands in the same file.
    #[must_use]
    pub fn with<B>(mut self, name: &'static str) -> Self
    where
        B: Blueprint + Serialize + DeserializeOwned + 'static,
    {
        self.entries.insert(name, Entry { keys: fields_of::<B>, read: read::<B> });
        self
    }

    /// All names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.entries.keys().copied()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }
}

fn read<B>(source: &Source<'_>) -> Result<Tables, SpecError>
where
    B: Blueprint + Serialize + DeserializeOwned + 'static,
{
    let blueprint: B = source.read()?;
    let values = serde_json::to_value(&blueprint).unwrap_or_default();
    Ok(Tables { blueprint: Arc::new(blueprint), values })
}
