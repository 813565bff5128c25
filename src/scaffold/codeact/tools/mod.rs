//! The tools: each a small file with the type of its arguments, from which its schema is read, and what it does.
//!
//! A new one is a file with a [`Tool`] and a line in [`Tools::default`], or in a program of the user's own one in its
//! registry; one that runs a command needs no Rust, but a table in
//! a scaffold file ([`command`]). What a tool says to a model is a template's, from the values that the tool hands it.
//!
//! - `hands`: what tools work with; `outcome`: what comes of a call; `manual`: what a tool says of itself
//! - `bash`, `ipython`: the shell and the kernel, over [`session`]
//! - [`editor`]: files; `think`; `validate`; `finish`

pub(crate) mod bash;
pub mod command;
pub mod editor;
pub(crate) mod finish;
pub(crate) mod hands;
pub(crate) mod ipython;
pub(crate) mod manual;
pub mod names;
pub(crate) mod outcome;
pub mod session;
pub(crate) mod think;
pub(crate) mod validate;

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use podium_types::nearest::nearest;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::codeact::arguments::fit::{Fitted, fit};
use crate::codeact::arguments::{ArgumentFault, Schema};
use crate::codeact::spec::ToolSpec;
use crate::strategy::StrategyError;
pub use hands::Hands;
pub use outcome::Outcome;

/// The future of a call.
pub type Called<'a> = LocalBoxFuture<'a, Result<Outcome, StrategyError>>;

/// A tool.
pub trait Tool: std::fmt::Debug + Send + Sync {
    /// The name that a scaffold and a model know it by.
    fn name(&self) -> &str;

    /// Its parameters.
    fn schema(&self) -> Schema;

    /// Whether an argument that it does not know is an error; else it is remarked on.
    fn is_strict(&self) -> bool {
        false
    }

    /// Makes a call. The arguments fit the schema.
    fn call<'a>(&'a self, hands: &'a Hands<'a>, arguments: Map<String, Value>) -> Called<'a>;
}

/// The tools that need no command, those of a user's program included.
#[derive(Clone, Debug)]
pub struct Tools(Vec<Arc<dyn Tool>>);

impl Default for Tools {
    /// The tools that come with the strategy.
    fn default() -> Self {
        Self(vec![
            Arc::new(bash::Bash),
            Arc::new(ipython::Ipython),
            Arc::new(editor::Editor),
            Arc::new(think::Think),
            Arc::new(validate::Validate),
            Arc::new(finish::Finish),
        ])
    }
}

impl PartialEq for Tools {
    fn eq(&self, other: &Self) -> bool {
        self.names().eq(other.names())
    }
}

impl Tools {
    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|tool| tool.name())
    }

    /// With one more, or with another in the place of the one of its name.
    pub(crate) fn insert(&mut self, tool: Arc<dyn Tool>) {
        match self.0.iter_mut().find(|known| known.name() == tool.name()) {
            Some(known) => *known = tool,
            None => self.0.push(tool),
        }
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.0.iter().find(|tool| tool.name() == name).map(Arc::clone)
    }
}

/// The tools of a scaffold.
#[derive(Debug)]
pub(crate) struct Catalogue(Vec<(Arc<dyn Tool>, Schema)>);

impl Catalogue {
    /// Those that a scaffold names. It is checked when it is loaded, so that all of them are there.
    pub(crate) fn new(specs: &[ToolSpec], known: &Tools) -> Self {
        let tool = |spec: &ToolSpec| -> Option<Arc<dyn Tool>> {
            match &spec.command {
                Some(command) => Some(Arc::new(command::Command::new(&spec.name, command))),
                None => known.get(&spec.name),
            }
        };
        Self(specs.iter().filter_map(tool).map(with_schema).collect())
    }

    /// All that need no command.
    pub(crate) fn of(known: &Tools) -> Self {
        Self(known.0.iter().map(Arc::clone).map(with_schema).collect())
    }

    /// The tool of this name and its parameters.
    pub(crate) fn get(&self, name: &str) -> Option<(&dyn Tool, &Schema)> {
        self.0.iter().find(|(tool, _)| tool.name() == name).map(|(tool, schema)| (&**tool, schema))
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&dyn Tool, &Schema)> {
        self.0.iter().map(|(tool, schema)| (&**tool, schema))
    }

    /// Arguments as the tool of this name takes them.
    pub(crate) fn fit(&self, name: &str, arguments: &Map<String, Value>) -> Result<Fitted, ArgumentFault> {
        match self.get(name) {
            Some((tool, schema)) => fit(schema, arguments, tool.is_strict()),
            None => Err(self.unknown(name)),
        }
    }

    /// What to say of a tool that there is not.
    pub(crate) fn unknown(&self, name: &str) -> ArgumentFault {
        let tools: Vec<String> = self.all().map(|(tool, _)| tool.name().to_owned()).collect();
        let nearest = nearest(name, tools.iter().map(String::as_str));
        ArgumentFault::UnknownTool { name: name.to_owned(), nearest, tools }
    }
}

fn with_schema(tool: Arc<dyn Tool>) -> (Arc<dyn Tool>, Schema) {
    let schema = tool.schema();
    (tool, schema)
}

/// Arguments as a tool's type has them.
pub fn read<T: for<'de> Deserialize<'de>>(arguments: Map<String, Value>) -> Result<T, ArgumentFault> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ArgumentFault::NotJson { problem: error.to_string() })
}
