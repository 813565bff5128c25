//! CodeAct: its formats, its tools in a scripted world, its loop, and when it counts as stuck.

mod answers;
mod formats;
mod loops;
mod manuals;
mod stuck;
mod talk;
mod tools;
mod world;

use crate::support::load;

pub(crate) const NATIVE: &str = include_str!("../../../../../scaffolds/codeact.toml");
pub(crate) const TEXT: &str = include_str!("../../../../../scaffolds/codeact-text.toml");
pub(crate) const TAGS: &str = include_str!("../../../../../scaffolds/codeact-mlebench.toml");
