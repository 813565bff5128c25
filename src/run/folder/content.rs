//! Content-addressed files of a run: written once, named by their SHA-256, never changed.

use std::path::PathBuf;

use podium_types::canonical::hash_bytes;

use super::{FolderError, write_whole};

/// A failure of the content store.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// Writing.
    #[error(transparent)]
    Write(#[from] FolderError),
    /// A file that is not there, or not what its name says.
    #[error("content {sha256} of the run folder is {what}")]
    Damaged {
        /// The name asked for.
        sha256: String,
        /// `missing` or `changed`.
        what: &'static str,
    },
}

impl ContentError {
    /// Whether a file is not what the journal says.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }

    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Write(error) if error.is_disk_full())
    }
}

/// The content store of one run.
#[derive(Clone, Debug)]
pub struct ContentStore {
    folder: PathBuf,
}

impl ContentStore {
    /// The store in `folder`.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where the store is.
    pub const fn folder(&self) -> &PathBuf {
        &self.folder
    }

    /// Where the content of this hash stands.
    pub fn path_of(&self, sha256: &str) -> PathBuf {
        self.folder.join(sha256)
    }

    /// Stores bytes and returns their SHA-256.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn put(&self, bytes: &[u8]) -> Result<String, ContentError> {
        let sha256 = hash_bytes(bytes);
        let path = self.path_of(&sha256);
        if !path.exists() {
            write_whole(&path, bytes)?;
            // What a journal names must outlive a power cut as the journal does: its name, too.
            let synced = std::fs::File::open(&self.folder).and_then(|folder| folder.sync_all());
            synced.map_err(|source| FolderError { act: "sync", path: self.folder.clone(), source })?;
        }
        Ok(sha256)
    }

    /// The bytes of this hash, checked.
    ///
    /// # Errors
    /// When they are missing or were changed.
    pub fn get(&self, sha256: &str) -> Result<Vec<u8>, ContentError> {
        let damaged = |what| ContentError::Damaged { sha256: sha256.to_owned(), what };
        let bytes = std::fs::read(self.path_of(sha256)).map_err(|_| damaged("missing"))?;
        if hash_bytes(&bytes) == sha256 { Ok(bytes) } else { Err(damaged("changed")) }
    }
}
