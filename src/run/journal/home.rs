//! What changed in a run's home workspace: a manifest beside each effect after which files were other than before.
//!
//! Each names what is new since the one before it, so all of them up to an entry, one laid over the other, say which
//! files there were then, and which content store files hold them. Nothing is decided by it: a replay does not look.

use std::collections::BTreeMap;

use podium_types::sha256::Sha256;
use serde::{Deserialize, Serialize};

use super::record::{Entry, Record};

/// Files that changed since the change before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HomeChange {
    /// Files that are new or other than before, and kept: by their paths in the workspace.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, Kept>,
    /// Files that are new or other than before, and not kept: only the first hundred of one change are named.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, LeftOut>,
    /// Files that were there before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Files that are not kept and not named.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u64,
    /// There were more files than are looked at: what else changed is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
}

/// A file that the content store has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Its content.
    pub sha256: Sha256,
    /// Its size.
    pub bytes: u64,
}

/// A file that it has not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its size.
    pub bytes: u64,
    /// Why: it is too large, the room for files is used up, it is no plain file.
    pub why: String,
}

impl HomeChange {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Lays a later change over this one: both are told as one.
    pub fn merge(&mut self, later: Self) {
        let Self { kept, left_out, removed, more, unseen } = later;
        for path in removed {
            self.kept.remove(&path);
            self.left_out.remove(&path);
            if !self.removed.contains(&path) {
                self.removed.push(path);
            }
        }
        self.removed.retain(|path| !kept.contains_key(path) && !left_out.contains_key(path));
        self.left_out.retain(|path, _| !kept.contains_key(path));
        self.kept.retain(|path, _| !left_out.contains_key(path));
        self.kept.extend(kept);
        self.left_out.extend(left_out);
        self.more = self.more.saturating_add(more);
        self.unseen |= unseen;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The files of the home workspace as changes say, one laid over the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HomeFiles {
    /// Files that the content store has.
    pub kept: BTreeMap<String, Kept>,
    /// Files that were there and are not kept.
    pub left_out: BTreeMap<String, LeftOut>,
    /// There may have been others: not all were named, or looked at.
    pub others: bool,
    /// Bytes that went to the content store for it.
    pub stored_bytes: u64,
}

impl HomeFiles {
    /// As of the last of `entries`.
    pub fn of(entries: &[Entry]) -> Self {
        let mut files = Self::default();
        for entry in entries {
            if let Record::Result { home: Some(change), .. } = &entry.record {
                files.apply(change);
            }
        }
        files
    }

    /// Whether there never were any.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.left_out.is_empty() && !self.others
    }

    /// Lays a change over what was before.
    pub fn apply(&mut self, change: &HomeChange) {
        for path in &change.removed {
            self.kept.remove(path);
            self.left_out.remove(path);
        }
        for (path, kept) in &change.kept {
            self.stored_bytes = self.stored_bytes.saturating_add(kept.bytes);
            self.left_out.remove(path);
            self.kept.insert(path.clone(), kept.clone());
        }
        for (path, left) in &change.left_out {
            self.kept.remove(path);
            self.left_out.insert(path.clone(), left.clone());
        }
        self.others |= change.more > 0 || change.unseen;
    }
}
