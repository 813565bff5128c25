//! Which folders a browser may name: those below one root, by relative names, never through a link.

use std::path::{Path, PathBuf};

use crate::run::folder::FolderError;
use crate::run::sitting::StoredRun;

/// A folder of an experiment, and one of its runs: nothing that is shown is deeper.
const DEEPEST: usize = 2;
/// What is read whole; larger files are no run's.
const LARGEST: u64 = 256 << 20;
/// The files and folders of a run that are read.
pub(super) const OF_A_RUN: [&str; 11] = [
    "config.json",
    "place.json",
    "run.json",
    "journal.db",
    "journal.db-wal",
    "journal.db-shm",
    "events.jsonl",
    "lock",
    "content",
    "nodes",
    "best",
];

/// Why nothing is shown of a name.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A name that is none: absolute, with `..`, too deep.
    #[error("there is nothing of that name here")]
    Name,
    /// A folder that is not there.
    #[error("there is no folder `{0}` here")]
    Absent(String),
    /// Something in the way that leads elsewhere.
    #[error("`{0}` is a symbolic link: the viewer follows none")]
    Link(String),
    /// Something that is not what a run has there.
    #[error("`{name}` is {what}")]
    Odd {
        /// Its name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// A run that does not read.
    #[error("{0}")]
    Damaged(String),
}

/// The folder that is served.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
}

impl Root {
    /// Serves `path`.
    ///
    /// # Errors
    /// When it is no folder.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let fail = |source| FolderError { act: "open", path: path.to_owned(), source };
        let path = path.canonicalize().map_err(fail)?;
        std::fs::read_dir(&path).map_err(fail)?;
        Ok(Self { path })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of this name below the root; the root itself for none.
    ///
    /// # Errors
    /// When the name leads outside, or nowhere.
    pub fn folder(&self, at: &str) -> Result<PathBuf, Refusal> {
        let mut path = self.path.clone();
        if at.is_empty() {
            return Ok(path);
        }
        let parts: Vec<&str> = at.split('/').collect();
        if parts.len() > DEEPEST {
            return Err(Refusal::Name);
        }
        for part in parts {
            if part.is_empty() || part.starts_with('.') || part.contains('\0') {
                return Err(Refusal::Name);
            }
            path.push(part);
            let facts = std::fs::symlink_metadata(&path).map_err(|_| Refusal::Absent(at.to_owned()))?;
            if facts.is_symlink() {
                return Err(Refusal::Link(at.to_owned()));
            }
            if !facts.is_dir() {
                return Err(Refusal::Absent(at.to_owned()));
            }
        }
        Ok(path)
    }

    /// The run of this name.
    ///
    /// # Errors
    /// When there is none, or it does not read.
    pub fn run(&self, at: &str) -> Result<StoredRun, Refusal> {
        let folder = self.folder(at)?;
        plain_parts(&folder, &OF_A_RUN)?;
        StoredRun::open(&folder).map_err(|error| Refusal::Damaged(words(&error)))
    }
}

/// The name of a folder in another; of none in the root.
pub(super) fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") }
}

/// Whether each of these, where it is there, is a file or a folder of its own and no larger than it can be.
///
/// # Errors
/// The first that is not.
pub fn plain_parts(folder: &Path, names: &[&str]) -> Result<(), Refusal> {
    for name in names {
        let Ok(facts) = std::fs::symlink_metadata(folder.join(name)) else { continue };
        let odd = |what| Err(Refusal::Odd { name: (*name).to_owned(), what });
        if facts.is_symlink() {
            return Err(Refusal::Link((*name).to_owned()));
        }
        let is_folder = ["content", "nodes", "best"].contains(name);
        if facts.is_dir() != is_folder || !(facts.is_dir() || facts.is_file()) {
            return odd(if is_folder { "no folder" } else { "no plain file" });
        }
        if Path::new(name).extension().is_some_and(|end| end == "json") && facts.len() > LARGEST {
            return odd("too large to be read");
        }
    }
    Ok(())
}

/// An error with its causes.
pub fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(more.trim_end());
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_outside() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("runs"), place.path().join("other"));
        for folder in [inside.join("a/b"), inside.join(".hidden"), outside.join("secret")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(inside.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), inside.join("a/link")).unwrap();
        let root = Root::open(&inside).unwrap();
        for good in ["", "a", "a/b"] {
            assert!(root.folder(good).unwrap().ends_with(good), "{good}");
        }
        let bad = [
            "..",
            ".",
            "a/..",
            "../other",
            "a/../../other",
            "/",
            "/etc",
            "//etc",
            "a//b",
            "a/",
            "a/b/c",
            ".hidden",
            "link",
            "link/secret",
            "a/link",
            "file",
            "absent",
            "a\0",
            "a/b\0/..",
            "%2e%2e",
            "a\\..\\..",
        ];
        for name in bad {
            assert!(root.folder(name).is_err(), "{name}");
        }
    }

    #[test]
    fn parts_of_a_run_that_lead_elsewhere_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let run = place.path().join("run");
        std::fs::create_dir(&run).unwrap();
        let root = Root::open(place.path()).unwrap();
        for name in OF_A_RUN {
            std::os::unix::fs::symlink("/etc/hostname", run.join(name)).unwrap();
            assert!(matches!(root.run("run"), Err(Refusal::Link(_))), "{name}");
            std::fs::remove_file(run.join(name)).unwrap();
        }
        std::fs::create_dir(run.join("config.json")).unwrap();
        assert!(matches!(root.run("run"), Err(Refusal::Odd { .. })));
    }
}
