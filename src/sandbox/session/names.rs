//! Pipes with names, for a program that is somebody else's child and inherits nothing.
//!
//! They lie in a folder that is mounted read-only for the session alone; a pipe can be written there all the same. What
//! runs inside can open them as well, but only until the shell or kernel has said that it is there: then the names are
//! removed, before the first call is sent. From then on the pipes are as reachable as inherited ones are, through the
//! descriptors of a process of the same user, and what comes through them is a claim here as there.

use std::{
    fs::{self, Permissions},
    io::Write as _,
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt as _, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, FileType, Gid, Mode, OFlags, Uid};
use tempfile::TempDir;

use crate::{SandboxError, job::MOUNTS, scratch};

/// The name of the mount. No user's mount begins with a dot.
pub(super) const MOUNT: &str = ".session";
/// Calls, read by the shell or kernel.
pub(super) const CALLS: &str = "calls";
/// The ends of calls.
pub(super) const CONTROL: &str = "control";
/// What is printed.
pub(super) const OUTPUT: &str = "output";
/// The standard input of commands.
pub(super) const INPUT: &str = "input";
/// The kernel's program.
pub(super) const PROGRAM: &str = "kernel.py";

/// Where a name stands inside.
pub(super) fn inside(name: &str) -> String {
    format!("{MOUNTS}/{MOUNT}/{name}")
}

/// The folder of names, which are gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Names {
    /// Private, so that no other user of the machine reaches the pipes.
    _private: TempDir,
    folder: PathBuf,
    owner: Option<(Uid, Gid)>,
}

impl Names {
    /// Makes an empty folder. What is put there is given to `owner`.
    pub(super) fn create(owner: Option<(Uid, Gid)>) -> Result<Self, SandboxError> {
        let private = scratch::folder()?;
        let folder = private.path().join("session");
        fs::create_dir(&folder)
            .and_then(|()| fs::set_permissions(&folder, Permissions::from_mode(0o755)))
            .map_err(SandboxError::io("creating", &folder))?;
        Ok(Self { _private: private, folder, owner })
    }

    /// The folder to mount.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a pipe and opens both ends.
    pub(super) fn pipe(&self, name: &str) -> Result<(OwnedFd, OwnedFd), SandboxError> {
        let path = self.folder.join(name);
        let open = |flags| rustix::fs::open(&path, flags | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
        let make = || {
            rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            self.give(&path)?;
            // The reading end first: without one the other cannot be opened.
            Ok((open(OFlags::RDONLY)?, open(OFlags::WRONLY)?))
        };
        make().map_err(|errno: rustix::io::Errno| SandboxError::io("making the pipe", &path)(errno.into()))
    }

    /// Writes a file.
    pub(super) fn file(&self, name: &str, content: &str) -> Result<(), SandboxError> {
        let path = self.folder.join(name);
        let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o400).open(&path);
        made.and_then(|mut file| file.write_all(content.as_bytes()))
            .and_then(|()| Ok(self.give(&path)?))
            .map_err(SandboxError::io("writing", &path))
    }

    fn give(&self, path: &Path) -> rustix::io::Result<()> {
        match self.owner {
            Some((user, group)) => rustix::fs::chown(path, Some(user), Some(group)),
            None => Ok(()),
        }
    }
}
