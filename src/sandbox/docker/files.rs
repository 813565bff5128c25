//! Small files of the machine's that containers see: who the user is, and how many processors there are.
//!
//! An engine can mount only what has a path. The folder is named like a control group, so that the next start removes
//! what a killed harness left, and nothing else.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use super::owner::Owner;
use crate::{SandboxError, cgroup::label, workspace};

/// A folder of small files, removed when dropped.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
}

impl Files {
    /// Makes the folder and the files about users.
    pub(super) fn create(owner: Owner) -> Result<Self, SandboxError> {
        let folder = std::env::temp_dir().join(label::fresh());
        fs::create_dir(&folder).map_err(SandboxError::io("creating", &folder))?;
        let files = Self { folder };
        let (passwd, group) = owner.accounts();
        files.write("passwd", &passwd)?;
        files.write("group", &group)?;
        Ok(files)
    }

    pub(super) fn passwd(&self) -> PathBuf {
        self.folder.join("passwd")
    }

    pub(super) fn group(&self) -> PathBuf {
        self.folder.join("group")
    }

    /// What `/sys/devices/system/cpu/online` says inside, which is where C libraries and Python look.
    pub(super) fn processors(&self, count: usize) -> Result<PathBuf, SandboxError> {
        let range = if count <= 1 { "0\n".to_owned() } else { format!("0-{}\n", count - 1) };
        let name = format!("processors-{count}");
        let path = self.folder.join(&name);
        if !path.exists() {
            self.write(&name, &range)?;
        }
        Ok(path)
    }

    /// A folder in which these paths are empty folders that everybody may enter.
    pub(super) fn mount_points(&self, paths: &[&Path]) -> Result<PathBuf, SandboxError> {
        let root = self.folder.join("root");
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
        let path = self.folder.join(name);
        let failed = |source| SandboxError::Io { action: "writing", path: path.clone(), source };
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(failed)?;
        io::Write::write_all(&mut file, content.as_bytes()).map_err(failed)?;
        file.as_file().set_permissions(Permissions::from_mode(0o444)).map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Err(error) = workspace::remove(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "a temporary folder could not be removed");
        }
    }
}

/// Removes the folders of dead harnesses; returns how many.
pub(super) fn sweep() -> usize {
    let user = rustix::process::getuid().as_raw();
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(label::owner_is_dead))
        .filter(|entry| is_own_folder(&entry.path(), user))
        .filter(|entry| workspace::remove(&entry.path()).is_ok())
        .count()
}

/// A real folder of this user's: the place is everybody's to write.
fn is_own_folder(path: &Path, user: u32) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user)
}
