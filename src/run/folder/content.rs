//! Content-addressed files of a run: written once, named by their SHA-256, never changed.
//!
//! A submission may have gigabytes, so only [`ContentStore::get`], for journal bodies, holds a whole file in memory;
//! files are handed on as links or copies, hashed in pieces.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use podium_types::sha256::Sha256;
use sha2::Digest as _;

use super::{FolderError, create_folder, parent, write_whole};

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
        /// `missing`, `changed` or `no name of content`.
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
    fn path_of(&self, sha256: &Sha256) -> PathBuf {
        self.folder.join(sha256.as_str())
    }

    /// The hash that a journal names.
    ///
    /// # Errors
    /// When it is none.
    pub fn name(text: &str) -> Result<Sha256, ContentError> {
        let what = "no name of content";
        text.parse().map_err(|_| ContentError::Damaged { sha256: text.to_owned(), what })
    }

    /// Stores bytes and returns their SHA-256.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn put(&self, bytes: &[u8]) -> Result<Sha256, ContentError> {
        let sha256 = Sha256::of(bytes);
        let path = self.path_of(&sha256);
        if !path.exists() {
            // Its name is synced, too: what a journal names must outlive a power cut as the journal does.
            write_whole(&path, bytes)?;
        }
        Ok(sha256)
    }

    /// The bytes of this hash, checked.
    ///
    /// # Errors
    /// When they are missing or were changed.
    pub fn get(&self, sha256: &Sha256) -> Result<Vec<u8>, ContentError> {
        let bytes = std::fs::read(self.path_of(sha256)).map_err(|_| damaged(sha256, "missing"))?;
        if Sha256::of(&bytes) == *sha256 { Ok(bytes) } else { Err(damaged(sha256, "changed")) }
    }

    /// Gives the content of this hash, checked, a second name at `path`, in place of what stands there; a copy where
    /// links are not to be had. For files that nobody edits. The name is not synced.
    ///
    /// # Errors
    /// When it is missing or was changed, or `path` cannot be written.
    pub fn link(&self, sha256: &Sha256, path: &Path) -> Result<(), ContentError> {
        let content = self.path_of(sha256);
        if same_file(&content, path) {
            return Ok(());
        }
        self.check(sha256)?;
        let fail = |source| FolderError { act: "write", path: path.to_owned(), source };
        std::fs::create_dir_all(parent(path)).map_err(fail)?;
        let fresh = path.with_file_name(".linking");
        let _ = std::fs::remove_file(&fresh);
        if std::fs::hard_link(&content, &fresh).is_err() {
            return self.copy(sha256, path);
        }
        Ok(std::fs::rename(&fresh, path).map_err(fail)?)
    }

    /// Copies the content of this hash, checked as it is copied, to `path`, in place of what stands there. The name is
    /// not synced.
    ///
    /// # Errors
    /// When it is missing or was changed, or `path` cannot be written.
    pub fn copy(&self, sha256: &Sha256, path: &Path) -> Result<(), ContentError> {
        let fail = |source| FolderError { act: "write", path: path.to_owned(), source };
        create_folder(parent(path))?;
        let mut file = tempfile::NamedTempFile::new_in(parent(path)).map_err(fail)?;
        let content = File::open(self.path_of(sha256)).map_err(|_| damaged(sha256, "missing"))?;
        let found = hash_of(content, &mut file).map_err(fail)?;
        if found != *sha256 {
            return Err(damaged(sha256, "changed"));
        }
        file.as_file().sync_all().map_err(fail)?;
        Ok(file.persist(path).map(drop).map_err(|error| fail(error.error))?)
    }

    fn check(&self, sha256: &Sha256) -> Result<(), ContentError> {
        let path = self.path_of(sha256);
        let content = File::open(&path).map_err(|_| damaged(sha256, "missing"))?;
        let found = hash_of(content, &mut std::io::sink());
        let found = found.map_err(|source| FolderError { act: "read", path, source })?;
        if found == *sha256 { Ok(()) } else { Err(damaged(sha256, "changed")) }
    }
}

fn damaged(sha256: &Sha256, what: &'static str) -> ContentError {
    ContentError::Damaged { sha256: sha256.to_string(), what }
}

/// Passes everything on and hashes it.
///
/// # Errors
/// When one of both ends fails.
pub fn hash_of(mut from: impl Read, to: &mut impl Write) -> std::io::Result<Sha256> {
    let mut hasher = sha2::Sha256::new();
    let mut buffer = vec![0_u8; 64 << 10];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else { break };
        hasher.update(piece);
        to.write_all(piece)?;
    }
    Ok(Sha256::from_digest(&hasher.finalize().into()))
}

fn same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| std::fs::symlink_metadata(path).map(|facts| (facts.dev(), facts.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_on_is_what_its_name_says() {
        let folder = tempfile::tempdir().unwrap();
        let store = ContentStore::new(folder.path().join("content"));
        let sha256 = store.put(b"id,y\n1,2\n").unwrap();
        let (linked, copied) = (folder.path().join("nodes/0/linked"), folder.path().join("copied"));
        std::fs::write(&copied, "old").unwrap();
        store.link(&sha256, &linked).unwrap();
        store.link(&sha256, &linked).unwrap();
        store.copy(&sha256, &copied).unwrap();
        assert!(same_file(&store.path_of(&sha256), &linked) && !same_file(&linked, &copied));
        assert_eq!(std::fs::read(&copied).unwrap(), store.get(&sha256).unwrap());

        std::fs::write(&copied, "old").unwrap();
        std::fs::write(store.path_of(&sha256), "id,y\n1,3\n").unwrap();
        let fresh = folder.path().join("fresh");
        let errors =
            [store.link(&sha256, &fresh), store.copy(&sha256, &copied), store.get(&sha256).map(|_| ())];
        for error in errors {
            assert!(error.unwrap_err().to_string().ends_with(" is changed"));
        }
        assert!(!fresh.exists() && std::fs::read(&copied).unwrap() == b"old");
        let absent = store.copy(&Sha256::of(b""), &fresh).unwrap_err();
        assert!(absent.to_string().ends_with(" is missing"), "{absent}");
        assert!(ContentStore::name("../../etc/passwd").is_err());
    }
}
