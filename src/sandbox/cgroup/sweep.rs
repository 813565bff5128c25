//! Removing the control groups that a killed harness left.
//!
//! Its processes die by the parent-death signal; an empty group does not. Only groups that bear our label and whose
//! owner is dead are touched, so two harnesses can run side by side.

use super::{Hierarchy, groups::remove, label};

/// Removes what dead owners left; returns how many groups that were.
pub(crate) fn sweep() -> usize {
    Hierarchy::detect().map_or(0, |hierarchy| hierarchy.sweep())
}

impl Hierarchy {
    pub(super) fn sweep(&self) -> usize {
        let entries =
            self.parents().into_iter().filter_map(|parent| std::fs::read_dir(parent).ok()).flatten();
        entries
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(label::owner_is_dead))
            .filter(|entry| remove(&entry.path()))
            .count()
    }
}
