//! Small files of the machine's that containers see: who the user is, and how many processors there are.
//!
//! An engine can mount only what has a path.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use podium_types::sha256::Sha256;
use tempfile::TempDir;

use super::owner::Owner;
use crate::{SandboxError, callback::script, scratch};

/// A folder of small files, removed when dropped.
#[derive(Debug)]
pub(super) struct Files {
    folder: TempDir,
}

impl Files {
    /// Makes the folder and the files about users.
    pub(super) fn create(owner: Owner) -> Result<Self, SandboxError> {
        let folder = scratch::folder()?;
        let files = Self { folder };
        let (passwd, group) = owner.accounts();
        files.write("passwd", &passwd)?;
        files.write("group", &group)?;
        Ok(files)
    }

    pub(super) fn passwd(&self) -> PathBuf {
        self.folder.path().join("passwd")
    }

    pub(super) fn group(&self) -> PathBuf {
        self.folder.path().join("group")
    }

    /// What `/sys/devices/system/cpu/online` says inside, which is where C libraries and Python look.
    pub(super) fn processors(&self, count: usize) -> Result<PathBuf, SandboxError> {
        let range = if count <= 1 { "0\n".to_owned() } else { format!("0-{}\n", count - 1) };
        let name = format!("processors-{count}");
        let path = self.folder.path().join(&name);
        if !path.exists() {
            self.write(&name, &range)?;
        }
        Ok(path)
    }

    /// The script that has a submission checked, for an interpreter.
    pub(super) fn script(&self, python: &Path) -> Result<PathBuf, SandboxError> {
        let text = script::text(python);
        let name = format!("check-{}", Sha256::of(text.as_bytes()));
        let path = self.folder.path().join(&name);
        if !path.exists() {
            self.write_with(0o555, &name, &text)?;
        }
        Ok(path)
    }

    /// A folder in which these paths are empty folders that everybody may enter.
    pub(super) fn mount_points(&self, paths: &[&Path]) -> Result<PathBuf, SandboxError> {
        let root = self.folder.path().join("root");
        let mut folders = vec![root.clone()];
        for path in paths {
            let mut folder = root.clone();
            folders.extend(path.components().map(|part| {
                folder.push(part);
                folder.clone()
            }));
        }
        for folder in folders {
            let made = match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                // Not left to the process's mask of permissions.
                made => made.and_then(|()| fs::set_permissions(&folder, Permissions::from_mode(0o755))),
            };
            made.map_err(SandboxError::io("creating", &folder))?;
        }
        Ok(root)
    }

    /// Writes a file whole, for another execution may be mounting it.
    fn write(&self, name: &str, content: &str) -> Result<(), SandboxError> {
        self.write_with(0o444, name, content)
    }

    fn write_with(&self, mode: u32, name: &str, content: &str) -> Result<(), SandboxError> {
        let path = self.folder.path().join(name);
        let failed = |source| SandboxError::Io { action: "writing", path: path.clone(), source };
        let mut file = tempfile::NamedTempFile::new_in(self.folder.path()).map_err(failed)?;
        io::Write::write_all(&mut file, content.as_bytes()).map_err(failed)?;
        file.as_file().set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}
