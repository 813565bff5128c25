//! Operators: how a child is made. An operator gets a [`Bench`] with its parents and its prompt's parts, asks models,
//! may run programs of its own on the way, and ends with one program that the engine executes and judges.
//!
//! A new operator is one file that implements [`Operator`], a variant of [`OperatorSpec`] and an arm in
//! [`OperatorSpec::operator`]. The usual kind, `write`, needs no code at all: a template and a role.

pub(crate) mod bench;
pub(crate) mod request;
mod write;

use futures_util::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

use crate::blueprint::{PromptUse, RoleUse};
use crate::spec::SpecError;
use crate::strategy::StrategyError;
use crate::tree_search::operators::bench::Bench;

pub use write::WriteSpec;

/// How a child is made, as a file says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OperatorSpec {
    /// One prompt, and its answer is the program.
    Write(WriteSpec),
}

/// What an operator made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) plan: String,
    pub(crate) code: String,
    /// Why nothing may be executed; none: the program is whole.
    pub(crate) failure: Option<String>,
}

/// A way to make a child.
pub(crate) trait Operator {
    /// Makes the program of one node.
    fn apply<'a>(&'a self, bench: &'a Bench<'a>) -> LocalBoxFuture<'a, Result<Written, StrategyError>>;
}

impl OperatorSpec {
    /// The code behind it.
    pub(crate) fn operator(&self) -> &dyn Operator {
        match self {
            Self::Write(write) => write,
        }
    }

    /// The part that writes the final program: its prompt is the operator's first where there is no other before.
    pub const fn write(&self) -> &WriteSpec {
        match self {
            Self::Write(write) => write,
        }
    }

    /// Checks values that are well formed; `path` is where they stand.
    pub(crate) fn check(&self, path: &str) -> Result<(), SpecError> {
        self.write().check(path)
    }

    /// The roles that are asked.
    pub(crate) fn roles(&self, path: &str) -> Vec<RoleUse<'_>> {
        vec![RoleUse { path: format!("{path}.role"), name: &self.write().role }]
    }

    /// The templates that are rendered.
    pub(crate) fn prompts(&self, path: &str) -> Vec<PromptUse<'_>> {
        self.write().prompts(path)
    }
}
