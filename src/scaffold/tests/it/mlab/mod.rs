//! MLAB: how it reads answers, what its actions do in a scripted world, and its loop.

mod actions;
mod answers;
mod loops;
mod world;

use crate::support::load;

pub(crate) const MLAB: &str = include_str!("../../../../../scaffolds/mlab.toml");
pub(crate) const MLE_BENCH: &str = include_str!("../../../../../scaffolds/mlab-mlebench.toml");
