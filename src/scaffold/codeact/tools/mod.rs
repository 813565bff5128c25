//! The tools: each a small file with the type of its arguments, from which its schema is read, and what it does.
//!
//! A new one is a file with a [`Tool`] and a line in `built_in`; one that runs a command needs no Rust, but a table in
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

use futures_util::future::LocalBoxFuture;
use podium_types::nearest::nearest;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::codeact::arguments::fit::{Fitted, fit};
use crate::codeact::arguments::{ArgumentFault, Schema};
use crate::codeact::spec::ToolSpec;
use crate::strategy::StrategyError;
pub(crate) use hands::Hands;
pub(crate) use outcome::Outcome;

/// The future of a call.
pub(crate) type Called<'a> = LocalBoxFuture<'a, Result<Outcome, StrategyError>>;

/// A tool.
pub(crate) trait Tool: std::fmt::Debug + Send + Sync {
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

/// The tools that come with the strategy.
fn built_in(name: &str) -> Option<Box<dyn Tool>> {
    let tools: [Box<dyn Tool>; 6] = [
        Box::new(bash::Bash),
        Box::new(ipython::Ipython),
        Box::new(editor::Editor),
        Box::new(think::Think),
        Box::new(validate::Validate),
        Box::new(finish::Finish),
    ];
    tools.into_iter().find(|tool| tool.name() == name)
}

/// Whether a tool of this name comes with the strategy.
pub(crate) fn is_built_in(name: &str) -> bool {
    built_in(name).is_some()
}

/// The names of the tools that come with the strategy.
pub(crate) const BUILT_IN: [&str; 6] =
    [names::BASH, names::IPYTHON, names::EDITOR, names::THINK, names::VALIDATE, names::FINISH];

/// The tools of a scaffold.
#[derive(Debug)]
pub(crate) struct Catalogue(Vec<(Box<dyn Tool>, Schema)>);

impl Catalogue {
    /// Those that a scaffold names. It is checked when it is loaded, so that all of them are there.
    pub(crate) fn new(specs: &[ToolSpec]) -> Self {
        let tool = |spec: &ToolSpec| -> Option<Box<dyn Tool>> {
            match &spec.command {
                Some(command) => Some(Box::new(command::Command::new(&spec.name, command))),
                None => built_in(&spec.name),
            }
        };
        Self(
            specs
                .iter()
                .filter_map(tool)
                .map(|tool| {
                    let schema = tool.schema();
                    (tool, schema)
                })
                .collect(),
        )
    }

    /// Those that come with the strategy.
    pub(crate) fn built_in() -> Self {
        Self(
            BUILT_IN
                .iter()
                .filter_map(|name| built_in(name))
                .map(|tool| {
                    let schema = tool.schema();
                    (tool, schema)
                })
                .collect(),
        )
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

/// Arguments as a tool's type has them.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(arguments: Map<String, Value>) -> Result<T, ArgumentFault> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ArgumentFault::NotJson { problem: error.to_string() })
}
