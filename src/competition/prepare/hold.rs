//! The right to change a competition's folder, held by one process at a time: a lock on the folder itself, which the
//! kernel drops with the process, however it ends. Whoever has it may clear away what a killed one left.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::prepare::error::PrepareError;

/// How the folder of a preparation that is under way begins its name.
pub(super) const UNDER_WAY: &str = ".preparing-";

/// The folder of one competition, held.
#[derive(Debug)]
pub struct Hold {
    home: PathBuf,
    /// The lock goes with it.
    folder: File,
    /// A file system without locks holds nothing off, so nothing may be cleared away there.
    locked: bool,
}

impl Hold {
    /// Makes and takes the folder of competition `id` below `data_dir`.
    pub fn take(data_dir: &Path, id: &str) -> Result<Self, PrepareError> {
        let home = data_dir.join(id);
        fs::create_dir_all(&home).map_err(PrepareError::io("create", &home))?;
        let folder = File::open(&home).map_err(PrepareError::io("open", &home))?;
        let locked = match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(PrepareError::Busy { folder: home }),
            Err(_) => false,
        };
        let hold = Self { home, folder, locked };
        hold.clear()?;
        Ok(hold)
    }

    /// The folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub(super) const fn folder(&self) -> &File {
        &self.folder
    }

    /// Removes what preparations that were killed left.
    fn clear(&self) -> Result<(), PrepareError> {
        if !self.locked {
            return Ok(());
        }
        let entries = fs::read_dir(&self.home).map_err(PrepareError::io("list", &self.home))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNDER_WAY) {
                remove_tree(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Removes a folder with all that is in it, where it is there.
pub fn remove_tree(folder: &Path) -> Result<(), PrepareError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(PrepareError::io("remove", folder)(error))
        }
        _ => Ok(()),
    }
}
