//! The home workspace made for its first use, or made again where its folder is gone.

use std::sync::PoisonError;

use podium_sandbox::workspace::{self, Files};
use podium_sandbox::{Job, SandboxError};
use podium_types::execution::Program;

use super::super::Inner;
use super::super::local::Refused;
use crate::run::folder::FolderError;

impl Inner {
    /// The workspace is there: it was, or it is made, with what was kept of the one that is gone.
    pub(super) fn make_home(&self) -> Result<(), Refused> {
        let path = self.folder.home_path();
        if std::fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir()) {
            return Ok(());
        }
        let io = |action| {
            let path = path.clone();
            move |source| Refused::from(SandboxError::Io { action, path, source })
        };
        let laid = self.folder.lay_home();
        laid.map_err(|FolderError { source, .. }| io("creating the home workspace")(source))?;
        // Under another name until it is whole: a sitting that is killed half-way finds none.
        let fresh = path.with_extension("new");
        workspace::create(&fresh).map_err(io("creating the home workspace"))?;
        let known = self.home.keeper.lock().unwrap_or_else(PoisonError::into_inner).files().clone();
        if !known.is_empty() {
            let nothing = Program::Command { argv: Vec::new() };
            let files = Files::of(&Job::new(nothing, &fresh, &self.equipment.environment));
            let mut lost = known.left_out.len();
            for (name, kept) in &known.kept {
                let written = self.folder.content().get(&kept.sha256).map_err(|error| error.to_string());
                let written = written
                    .and_then(|content| files.write(name, &content).map_err(|error| error.to_string()));
                if let Err(error) = written {
                    tracing::warn!(error, name, "a file of the home workspace could not be made again");
                    lost += 1;
                }
            }
            tracing::warn!(
                made = known.kept.len().saturating_add(known.left_out.len()).saturating_sub(lost),
                lost,
                "the home workspace was gone; it was made again from what the run had kept of it"
            );
        }
        std::fs::rename(&fresh, &path).map_err(io("creating the home workspace"))
    }
}
