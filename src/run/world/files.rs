//! Files that follow from the journal: nodes, and the best submission so far.
//!
//! They are derived, so writing one twice is harmless; each is written whole and renamed, so that whoever looks
//! finds a whole file at any instant, and in `best/` the files of one node. None is waited for until it is on the disk:
//! no kill takes it, what a power cut takes comes back with the next sitting. Nothing here knows a score.

use std::path::{Path, PathBuf};

use podium_scaffold::{Effect, EffectResult, NodeRecord};
use podium_types::execution::{Collected, Execution, Program};
use podium_types::sha256::Sha256;

use crate::run::folder::content::ContentError;
use crate::run::folder::{FolderError, RunFolder, swap, sync_all, write_derived};
use crate::run::journal::{Entry, Record};

use super::recipe::Recipe;

/// Writes the files of one run.
#[derive(Clone, Debug)]
pub struct Files {
    folder: RunFolder,
    recipe: Recipe,
}

impl Files {
    /// The files of the run in `folder`, whose solutions are run by `recipe`.
    pub const fn new(folder: RunFolder, recipe: Recipe) -> Self {
        Self { folder, recipe }
    }

    /// Writes what `entry` says.
    ///
    /// # Errors
    /// What could not be written.
    pub fn write(&self, entry: &Entry) -> Result<(), String> {
        let Record::Result { key, effect, result, .. } = &entry.record else { return Ok(()) };
        match (&**effect, &**result) {
            (Effect::Execute(request), EffectResult::Execution(execution))
                if request.workspace.is_fresh() =>
            {
                let Some(node) = key.number() else { return Ok(()) };
                self.execution(&self.folder.node_path(node), &request.program, execution)
            }
            (Effect::Node(node), _) => self.node(node),
            (Effect::SelectFinal { node, sha256 }, _) => self.best(*node, sha256),
            _ => Ok(()),
        }
    }

    fn node(&self, node: &NodeRecord) -> Result<(), String> {
        let path = self.folder.node_path(node.id);
        let record = serde_json::to_vec_pretty(node).map_err(|error| error.to_string())?;
        put(&path.join("solution.py"), node.code.as_bytes())
            .and_then(|()| put(&path.join("plan.md"), node.plan.as_bytes()))
            .and_then(|()| put(&path.join("node.json"), &record))
            .map_err(|error| sentence(&error))
    }

    fn execution(&self, node: &Path, program: &Program, execution: &Execution) -> Result<(), String> {
        if let Program::Python { file, code } = program
            && !file.contains('/')
        {
            put(&node.join(file), code.as_bytes()).map_err(|error| sentence(&error))?;
        }
        put(&node.join("output.txt"), execution.output.text().as_bytes())
            .map_err(|error| sentence(&error))?;
        let submission = node.join("submission.csv");
        match &execution.submission {
            Collected::File { sha256, .. } => {
                self.folder.content().link(sha256, &submission).map_err(|error| told(&error))
            }
            // What an earlier execution of the node left is not this one's.
            Collected::Missing { .. } => match std::fs::remove_file(&submission) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.to_string()),
                _ => Ok(()),
            },
        }
    }

    /// Submission, and where one node made it the solution with all that it takes to run it again, as one folder that
    /// is exchanged whole.
    fn best(&self, node: Option<u32>, sha256: &Sha256) -> Result<(), String> {
        let best = self.folder.best_path();
        let fresh = best.with_extension("new");
        swap::remove(&fresh).map_err(|error| sentence(&error))?;
        // A loop selects a file, not a node: there is no one script that made it.
        if let Some(node) = node {
            self.solution_of(node, &fresh).map_err(|error| sentence(&error))?;
        }
        let content = self.folder.content();
        content.link(sha256, &fresh.join("submission.csv")).map_err(|error| told(&error))?;
        swap::swap_in(&fresh, &best).map_err(|error| sentence(&error))?;
        sync_behind(best);
        Ok(())
    }

    fn solution_of(&self, node: u32, folder: &Path) -> Result<(), FolderError> {
        let path = self.folder.node_path(node).join("solution.py");
        let code = std::fs::read(&path).map_err(|source| FolderError { act: "read", path, source })?;
        write_derived(&folder.join("solution.py"), &code)?;
        write_derived(&folder.join("requirements.txt"), self.recipe.requirements.as_bytes())?;
        write_derived(&folder.join("run.sh"), self.recipe.script.as_bytes())?;
        write_derived(&folder.join("node"), format!("{node}\n").as_bytes())
    }
}

/// Puts a folder on the disk, soon: it is what somebody finds who looks after a power cut and does not resume the run.
fn sync_behind(folder: PathBuf) {
    let sync = move || sync_all(&[folder]);
    // Without a thread for it the system writes it by itself within half a minute.
    let _ = std::thread::Builder::new().name("podium-sync".to_owned()).spawn(sync);
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) { Ok(()) } else { write_derived(path, bytes) }
}

fn sentence(error: &FolderError) -> String {
    format!("{error}: {}", error.source)
}

fn told(error: &ContentError) -> String {
    match error {
        ContentError::Write(error) => sentence(error),
        ContentError::Damaged { .. } => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_folder_holds_one_node_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(place.path(), "run").unwrap();
        let recipe = Recipe { requirements: "numpy==2.2.6\n".to_owned(), script: "true\n".to_owned() };
        let files = Files::new(folder.clone(), recipe);
        let read = |name: &str| std::fs::read_to_string(folder.best_path().join(name)).unwrap();
        for node in [3, 5] {
            let sha256 = folder.content().put(format!("id,y\n1,{node}\n").as_bytes()).unwrap();
            write_derived(&folder.node_path(node).join("solution.py"), format!("print({node})").as_bytes())
                .unwrap();
            // What a sitting left that was cut.
            write_derived(&folder.best_path().with_extension("new").join("junk"), b"").unwrap();
            files.best(Some(node), &sha256).unwrap();
            assert_eq!(read("solution.py"), format!("print({node})"));
            assert_eq!(read("submission.csv"), format!("id,y\n1,{node}\n"));
            assert_eq!(read("node"), format!("{node}\n"));
            assert_eq!(
                (read("requirements.txt").as_str(), read("run.sh").as_str()),
                ("numpy==2.2.6\n", "true\n")
            );
            assert_eq!(std::fs::read_dir(folder.best_path()).unwrap().count(), 5);
            assert!(!folder.best_path().with_extension("new").exists());
        }
        // A node without its submission changes nothing.
        assert!(files.best(Some(3), &Sha256::of(b"gone")).is_err());
        assert_eq!(read("node"), "5\n");
    }
}
