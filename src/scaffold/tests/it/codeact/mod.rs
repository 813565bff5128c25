//! CodeAct: its formats, its tools in a scripted world, its loop, and when it counts as stuck.

mod answers;
mod formats;
mod loops;
mod manuals;
mod stuck;
mod talk;
mod tools;
mod world;

use podium_scaffold::Scaffold;

use crate::support::prompts;

pub(crate) const NATIVE: &str = include_str!("../../../../../scaffolds/codeact.toml");
pub(crate) const TEXT: &str = include_str!("../../../../../scaffolds/codeact-text.toml");
pub(crate) const TAGS: &str = include_str!("../../../../../scaffolds/codeact-mlebench.toml");

/// A scaffold with overrides.
pub(crate) fn load(file: &str, overrides: &[(&str, &str)]) -> Scaffold {
    let overrides: Vec<_> =
        overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    Scaffold::load(file, prompts(), &overrides).unwrap_or_else(|error| panic!("{error}"))
}
