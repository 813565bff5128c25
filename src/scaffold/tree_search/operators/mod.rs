//! Operators: how a child is made. An operator gets a [`Bench`] with its parents and its prompt's parts, asks models,
//! may run programs of its own on the way, and ends with one program that the engine executes and judges.
//!
//! A new operator is one file with its tables that implements [`Operator`], and a line in `ship`, or in a program of the
//! user's own one in its registry; all that loading, checking and showing a scaffold needs to know are the prompts it asks
//! with. The usual kind, `write`, needs no code at all: a template and a role.

mod ablate;
pub(crate) mod bench;
pub(crate) mod parts;
pub(crate) mod request;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::blueprint::{PromptUse, RoleUse};
use crate::parts::Kinds;
use crate::spec::SpecError;
use crate::spec::check::invalid;
use crate::strategy::StrategyError;

pub use ablate::AblateSpec;
pub use bench::{Bench, SOLUTION};
pub use write::WriteSpec;

/// The kinds of operators of this package, by the words that files use.
pub(crate) fn ship(kinds: &mut Kinds<dyn Operator>) {
    kinds.insert("write", read::<WriteSpec>);
    kinds.insert("ablate", read::<AblateSpec>);
}

/// Reads an operator's tables.
pub(crate) fn read<O>(table: toml::Table) -> Result<(Arc<dyn Operator>, Json), toml::de::Error>
where
    O: Operator + Serialize + DeserializeOwned + 'static,
{
    let operator: O = table.try_into()?;
    let values = serde_json::to_value(&operator).unwrap_or_default();
    Ok((Arc::new(operator), values))
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
pub struct Written {
    /// The plan in words.
    pub plan: String,
    /// The program.
    pub code: String,
    /// Why nothing may be executed; none: the program is whole.
    pub failure: Option<String>,
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
pub trait Operator: std::fmt::Debug + Send + Sync {
    /// Its prompts, in the order in which they are sent; the last asks for the program that is judged.
    fn asks(&self) -> Vec<Asks<'_>>;

    /// Makes the program of one node.
    fn apply<'a>(&'a self, bench: &'a Bench<'a>) -> LocalBoxFuture<'a, Result<Written, StrategyError>>;
}

/// Checks values that are well formed; `name` is the operator's.
pub(crate) fn check(name: &str, operator: &dyn Operator) -> Result<(), SpecError> {
    let path = format!("operators.{name}");
    let asks = operator.asks();
    if TAKEN.contains(&name) || asks.iter().any(|ask| ask.table == name) {
        return Err(invalid(&path, "is a name of Podium's own; take another"));
    }
    asks.iter().try_for_each(|ask| ask.write.check(&ask.path(&path)))
}

/// The roles that are asked.
pub(crate) fn roles<'a>(path: &str, operator: &'a dyn Operator) -> Vec<RoleUse<'a>> {
    let role = |ask: Asks<'_>| format!("{}.role", ask.path(path));
    operator.asks().into_iter().map(|ask| RoleUse { path: role(ask), name: &ask.write.role }).collect()
}

/// The templates that are rendered.
pub(crate) fn prompts<'a>(path: &str, operator: &'a dyn Operator) -> Vec<PromptUse<'a>> {
    operator.asks().into_iter().flat_map(|ask| ask.write.prompts(&ask.path(path))).collect()
}

impl Asks<'_> {
    /// The path of its table, where `operator` is the path of the operator's.
    fn path(&self, operator: &str) -> String {
        if self.table.is_empty() { operator.to_owned() } else { format!("{operator}.{}", self.table) }
    }
}
