//! Earlier texts of edited files, so that a change can be taken back as long as nothing else has changed the file.

use std::collections::BTreeMap;

use podium_types::sha256::Sha256;

/// What a file was before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// Its text; none: there was no file.
    pub(crate) text: Option<String>,
    /// What the change left, by its hash.
    pub(crate) left: Sha256,
}

/// Changes by file, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Undo(BTreeMap<String, Vec<Before>>);

impl Undo {
    /// Notes a change. Of one file no more than `most` are kept.
    pub(crate) fn push(&mut self, path: &str, before: Before, most: usize) {
        let changes = self.0.entry(path.to_owned()).or_default();
        changes.push(before);
        let over = changes.len().saturating_sub(most);
        changes.drain(..over);
    }

    /// The newest change of a file.
    pub(crate) fn last(&self, path: &str) -> Option<&Before> {
        self.0.get(path)?.last()
    }

    /// Forgets the newest change of a file.
    pub(crate) fn pop(&mut self, path: &str) {
        if let Some(changes) = self.0.get_mut(path) {
            changes.pop();
        }
    }
}
