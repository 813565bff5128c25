//! Operators: how a child is made. An operator gets a [`Bench`] with its parents and its prompt's parts, asks models,
//! may run programs of its own on the way, and ends with one program that the engine executes and judges.
//!
//! A new operator is one file that implements [`Operator`], a variant of [`OperatorSpec`] and an arm in
//! [`OperatorSpec::operator`]. The usual kind, `write`, needs no code at all: a template and a role.

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
    ablate::STUDY,
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
            Self::Ablate(ablate) => ablate,
        }
    }

    /// The prompt that asks for the final program.
    pub const fn write(&self) -> &WriteSpec {
        match self {
            Self::Write(write) => write,
            Self::Ablate(ablate) => &ablate.write,
        }
    }

    /// The prompt before it, where there is one.
    pub const fn study(&self) -> Option<&WriteSpec> {
        match self {
            Self::Write(_) => None,
            Self::Ablate(ablate) => Some(&ablate.study),
        }
    }

    /// All its prompts, in the order in which they are sent.
    pub fn writes(&self) -> impl Iterator<Item = &WriteSpec> {
        self.study().into_iter().chain([self.write()])
    }

    /// Checks values that are well formed; `name` is the operator's.
    pub(crate) fn check(&self, name: &str) -> Result<(), SpecError> {
        let path = format!("operators.{name}");
        if TAKEN.contains(&name) {
            return Err(invalid(&path, "is a name of Podium's own; take another"));
        }
        match self {
            Self::Write(write) => write.check(&path),
            Self::Ablate(ablate) => ablate.check(&path),
        }
    }

    /// The roles that are asked.
    pub(crate) fn roles(&self, path: &str) -> Vec<RoleUse<'_>> {
        match self {
            Self::Write(write) => vec![RoleUse { path: format!("{path}.role"), name: &write.role }],
            Self::Ablate(ablate) => vec![
                RoleUse { path: format!("{path}.study.role"), name: &ablate.study.role },
                RoleUse { path: format!("{path}.write.role"), name: &ablate.write.role },
            ],
        }
    }

    /// The templates that are rendered.
    pub(crate) fn prompts(&self, path: &str) -> Vec<PromptUse<'_>> {
        match self {
            Self::Write(write) => write.prompts(path),
            Self::Ablate(ablate) => ablate.prompts(path),
        }
    }
}
