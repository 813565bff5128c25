//! The code that a scaffold file may name: strategies, and within the shipped ones search policies, operators, actions
//! and tools.
//!
//! A new strategy in this repository is a folder with its tables, its [`Blueprint`] and its
//! [`Strategy`](crate::Strategy), and a line in [`Registry::shipped`]; a new policy, operator, action or tool is one file
//! and a line where the shipped ones stand. A program of the user's own brings its own, and hands the registry to the
//! command line:
//!
//! ```text
//! let registry = Registry::shipped().with_policy::<EpsilonSpec>("epsilon").with_tool(CountRows);
//! podium::cli::main_with(registry)
//! ```
//!
//! Unstable: these interfaces may change with any version.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::blueprint::Blueprint;
use crate::codeact::CodeActSpec;
use crate::codeact::tools::{Tool, Tools};
use crate::command::CommandSpec;
use crate::parts::Kinds;
use crate::research_loop::ResearchLoopSpec;
use crate::research_loop::action::{Action, Actions};
use crate::script::ScriptSpec;
use crate::spec::SpecError;
use crate::spec::fields::fields_of;
use crate::spec::source::Source;
use crate::tree_search::TreeSearchSpec;
use crate::tree_search::operators::{self, Operator};
use crate::tree_search::policy::{self, Plan};
use crate::tree_search::spec::RawTreeSearchSpec;

/// Strategies by the names that files call them, and the parts that the shipped ones are put together from.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: BTreeMap<&'static str, Entry>,
    pub(crate) policies: Kinds<dyn Plan>,
    pub(crate) operators: Kinds<dyn Operator>,
    pub(crate) actions: Actions,
    pub(crate) tools: Tools,
}

/// How a strategy reads its tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The top-level keys that are its own.
    pub(crate) keys: fn() -> &'static [&'static str],
    pub(crate) read: fn(&Source<'_>, &Registry) -> Result<Tables, SpecError>,
}

/// A strategy's tables as read.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) blueprint: Arc<dyn Blueprint>,
    pub(crate) values: Json,
}

impl Registry {
    /// What this package has.
    pub fn shipped() -> Self {
        let mut registry = Self::default().with::<ScriptSpec>("script").with::<CommandSpec>("command");
        let tree_search =
            |source: &Source<'_>, registry: &Self| Ok(Tables::of(TreeSearchSpec::read(source, registry)?));
        let codeact = |source: &Source<'_>, registry: &Self| {
            let spec: CodeActSpec = source.read()?;
            Ok(Tables::of(CodeActSpec { known: registry.tools.clone(), ..spec }))
        };
        let research_loop = |source: &Source<'_>, registry: &Self| {
            let spec: ResearchLoopSpec = source.read()?;
            Ok(Tables::of(ResearchLoopSpec { known: registry.actions.clone(), ..spec }))
        };
        registry
            .entries
            .insert("tree_search", Entry { keys: fields_of::<RawTreeSearchSpec>, read: tree_search });
        registry.entries.insert("codeact", Entry { keys: fields_of::<CodeActSpec>, read: codeact });
        registry
            .entries
            .insert("research_loop", Entry { keys: fields_of::<ResearchLoopSpec>, read: research_loop });
        policy::ship(&mut registry.policies);
        operators::ship(&mut registry.operators);
        registry
    }

    /// With one more strategy, or with another in the place of the one of that name. `B` is a struct whose fields are the
    /// strategy's top-level keys in a scaffold file. Its fields' types should refuse unknown keys
    /// (`#[serde(deny_unknown_fields)]`); it must not do so itself, for the head stands in the same file.
    #[must_use]
    pub fn with<B>(mut self, name: &'static str) -> Self
    where
        B: Blueprint + Serialize + DeserializeOwned + 'static,
    {
        let read = |source: &Source<'_>, _: &Self| Ok(Tables::of(source.read::<B>()?));
        self.entries.insert(name, Entry { keys: fields_of::<B>, read });
        self
    }

    /// With one more search policy: a tree search whose `[policy]` has `kind = "KIND"` reads its other keys as `P`, whose
    /// type should refuse unknown ones.
    #[must_use]
    pub fn with_policy<P>(mut self, kind: &'static str) -> Self
    where
        P: Plan + Serialize + DeserializeOwned + 'static,
    {
        self.policies.insert(kind, policy::read::<P>);
        self
    }

    /// With one more kind of operator, chosen by `kind = "KIND"` in an `[operators.NAME]`.
    #[must_use]
    pub fn with_operator<O>(mut self, kind: &'static str) -> Self
    where
        O: Operator + Serialize + DeserializeOwned + 'static,
    {
        self.operators.insert(kind, operators::read::<O>);
        self
    }

    /// With one more action of a research loop, which `actions.on` may name; or another in the place of one of its name.
    #[must_use]
    pub fn with_action(mut self, action: impl Action + 'static) -> Self {
        self.actions.insert(Arc::new(action));
        self
    }

    /// With one more tool of a CodeAct agent, which a `[[tool]]` may name; or another in the place of one of its name.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.insert(Arc::new(tool));
        self
    }

    /// Names of all strategies, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.entries.keys().copied()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }
}

impl Tables {
    fn of<B: Blueprint + Serialize + 'static>(blueprint: B) -> Self {
        let values = serde_json::to_value(&blueprint).unwrap_or_default();
        Self { blueprint: Arc::new(blueprint), values }
    }
}
