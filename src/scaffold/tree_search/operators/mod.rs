//! Operators: how a child is made. An operator gets a [`Bench`] with its parents and its prompt's parts, asks models,
//! may run programs of its own on the way, and ends with one program that the engine executes and judges.
//!
//! A new operator is one file with its tables that implements [`Operator`], a variant of [`OperatorSpec`] and an arm in
//! [`OperatorSpec::operator`]; all that loading, checking and showing a scaffold needs to know are the prompts it asks
//! with. The usual kind, `write`, needs no code at all: a template and a role.

mod ablate;
pub(crate) mod bench;
pub(crate) mod parts;
pub(crate) mod request;
#[cfg(test)]
mod tests;
mod write;

use futures_util::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

use crate::blueprint::{PromptUse, RoleUse};
use crate::spec::SpecError;
use crate::spec::check::invalid;
use crate::strategy::StrategyError;
use crate::tree_search::operators::bench::Bench;

pub use ablate::AblateSpec;
pub use write::WriteSpec;

/// How a child is made, as a file says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OperatorSpec {
    /// One prompt, and its answer is the program.
    Write(WriteSpec),
    /// A study of what the parent's parts are worth, then one prompt that shows it.
    Ablate(AblateSpec),
}

/// Words of effect keys below a node, which no operator may have as its name.
const TAKEN: &[&str] = &[
    "begin",
    "direction",
    "final",
    "folds",
    "holdout",
    "execute",
    "metric",
    "policy",
    "record",
    "review",
    "select",
    "validate",
];

/// What an operator made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) plan: String,
    pub(crate) code: String,
    /// Why nothing may be executed; none: the program is whole.
    pub(crate) failure: Option<String>,
}

/// One of an operator's prompts.
#[derive(Clone, Copy, Debug)]
pub struct Asks<'a> {
    /// Its table below the operator's: `study`. Empty: the operator's table is the prompt's.
    pub table: &'static str,
    /// What it asks, and whom.
    pub write: &'a WriteSpec,
}

/// A way to make a child.
pub(crate) trait Operator {
    /// Its prompts, in the order in which they are sent; the last asks for the program that is judged.
    fn asks(&self) -> Vec<Asks<'_>>;

    /// Makes the program of one node.
    fn apply<'a>(&'a self, bench: &'a Bench<'a>) -> LocalBoxFuture<'a, Result<Written, StrategyError>>;
}

impl OperatorSpec {
    /// The code behind it.
    pub(crate) fn operator(&self) -> &dyn Operator {
        match self {
            Self::Write(write) => write,
            Self::Ablate(ablate) => ablate,
        }
    }

    /// Its prompts, in the order in which they are sent.
    pub fn asks(&self) -> Vec<Asks<'_>> {
        self.operator().asks()
    }

    /// Checks values that are well formed; `name` is the operator's.
    pub(crate) fn check(&self, name: &str) -> Result<(), SpecError> {
        let path = format!("operators.{name}");
        let asks = self.asks();
        if TAKEN.contains(&name) || asks.iter().any(|ask| ask.table == name) {
            return Err(invalid(&path, "is a name of Podium's own; take another"));
        }
        asks.iter().try_for_each(|ask| ask.write.check(&ask.path(&path)))
    }

    /// The roles that are asked.
    pub(crate) fn roles(&self, path: &str) -> Vec<RoleUse<'_>> {
        let role = |ask: Asks<'_>| format!("{}.role", ask.path(path));
        self.asks().into_iter().map(|ask| RoleUse { path: role(ask), name: &ask.write.role }).collect()
    }

    /// The templates that are rendered.
    pub(crate) fn prompts(&self, path: &str) -> Vec<PromptUse<'_>> {
        self.asks().into_iter().flat_map(|ask| ask.write.prompts(&ask.path(path))).collect()
    }
}

impl Asks<'_> {
    /// The path of its table, where `operator` is the path of the operator's.
    fn path(&self, operator: &str) -> String {
        if self.table.is_empty() { operator.to_owned() } else { format!("{operator}.{}", self.table) }
    }
}
