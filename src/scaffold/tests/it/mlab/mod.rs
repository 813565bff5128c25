//! MLAB: how it reads answers, what its actions do in a scripted world, and its loop.

mod actions;
mod answers;
mod loops;
mod world;

use podium_scaffold::Scaffold;

use crate::support::prompts;

pub(crate) const MLAB: &str = include_str!("../../../../../scaffolds/mlab.toml");
pub(crate) const MLE_BENCH: &str = include_str!("../../../../../scaffolds/mlab-mlebench.toml");

/// A scaffold with overrides.
pub(crate) fn load(file: &str, overrides: &[(&str, &str)]) -> Scaffold {
    let overrides: Vec<_> =
        overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    Scaffold::load(file, prompts(), &overrides).unwrap_or_else(|error| panic!("{error}"))
}
