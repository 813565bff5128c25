//! Files that follow from the journal: nodes, and the best submission so far.
//!
//! They are derived, so writing one twice is harmless; each is written whole and renamed, so that whoever looks
//! finds a whole file at any instant.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use podium_scaffold::{Effect, EffectResult};
use podium_types::execution::{Collected, Execution, Program};

use crate::run::folder::{FolderError, RunFolder, write_whole};
use crate::run::journal::{Entry, Record};

/// Writes the files of one run.
#[derive(Clone, Debug)]
pub struct Files {
    folder: RunFolder,
}

impl Files {
    /// The files of the run in `folder`.
    pub const fn new(folder: RunFolder) -> Self {
        Self { folder }
    }

    /// Writes what `entry` says.
    ///
    /// # Errors
    /// What could not be written.
    pub fn write(&self, entry: &Entry) -> Result<(), String> {
        let Record::Result { key, effect, result, .. } = &entry.record else { return Ok(()) };
        match (&**effect, &**result) {
            (Effect::Execute(request), EffectResult::Execution(execution)) => {
                let Some(node) = key.number() else { return Ok(()) };
                self.execution(&self.folder.node_path(node), &request.program, execution)
            }
            (Effect::Node(node), _) => {
                let path = self.folder.node_path(node.id);
                put(&path.join("solution.py"), node.code.as_bytes())
                    .and_then(|()| put(&path.join("plan.md"), node.plan.as_bytes()))
                    .map_err(|error| sentence(&error))
            }
            (Effect::SelectFinal { node, sha256 }, _) => self.best(*node, sha256),
            _ => Ok(()),
        }
    }

    fn execution(&self, node: &Path, program: &Program, execution: &Execution) -> Result<(), String> {
        if let Program::Python { file, code } = program
            && !file.contains('/')
        {
            put(&node.join(file), code.as_bytes()).map_err(|error| sentence(&error))?;
        }
        put(&node.join("output.txt"), execution.output.text().as_bytes())
            .map_err(|error| sentence(&error))?;
        if let Collected::File { sha256, .. } = &execution.submission {
            link(&self.folder.content().path_of(sha256), &node.join("submission.csv"))?;
        }
        Ok(())
    }

    fn best(&self, node: Option<u32>, sha256: &str) -> Result<(), String> {
        let best = self.folder.best_path();
        let content = self.folder.content().get(sha256).map_err(|error| error.to_string())?;
        put(&best.join("submission.csv"), &content).map_err(|error| sentence(&error))?;
        // A loop selects a file, not a node: there is no one script that made it.
        let Some(node) = node else { return Ok(()) };
        let code = std::fs::read(self.folder.node_path(node).join("solution.py")).unwrap_or_default();
        put(&best.join("solution.py"), &code)
            .and_then(|()| put(&best.join("node"), format!("{node}\n").as_bytes()))
            .map_err(|error| sentence(&error))
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) { Ok(()) } else { write_whole(path, bytes) }
}

/// A second name for a file of the content store, or a copy where links are not to be had.
fn link(content: &Path, path: &Path) -> Result<(), String> {
    if same_file(content, path) {
        return Ok(());
    }
    let fresh = path.with_file_name(".linking");
    let _ = std::fs::remove_file(&fresh);
    std::fs::hard_link(content, &fresh)
        .or_else(|_| std::fs::copy(content, &fresh).map(|_| ()))
        .and_then(|()| std::fs::rename(&fresh, path))
        .map_err(|error| format!("could not write {}: {error}", path.display()))
}

fn same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| std::fs::metadata(path).map(|facts| (facts.dev(), facts.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

fn sentence(error: &FolderError) -> String {
    format!("{error}: {}", error.source)
}
