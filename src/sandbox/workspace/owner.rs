//! Writing into a workspace as whoever it belongs to: another user than the harness, where a container's programs are one.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, OwnedFd},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{AtFlags, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use super::{ITSELF, PLAIN};

/// Begins the names of files that are being written. What a crash leaves of them is no file of anybody's.
pub(super) const WRITING: &str = ".podium-writing-";

/// A number that no other write of this process has.
fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// To whom the workspace belongs: another than the harness where a container's programs are another user.
pub(super) struct Owner {
    user: Uid,
    group: Gid,
    gives: bool,
}

impl Owner {
    pub(super) fn of(workspace: &OwnedFd) -> rustix::io::Result<Self> {
        let stat = rustix::fs::fstat(workspace)?;
        let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        Ok(Self { user, group, gives: user != rustix::process::geteuid() })
    }

    fn give(&self, made: impl AsFd) -> rustix::io::Result<()> {
        if self.gives { rustix::fs::fchown(made, Some(self.user), Some(self.group)) } else { Ok(()) }
    }

    /// Opens a folder in a folder, or makes it. No link is followed, for the name is a single one.
    pub(super) fn enter(&self, parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        let real = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(parent, name, ITSELF, Mode::empty()) {
            Err(Errno::NOENT) => {}
            found => return found,
        }
        match rustix::fs::mkdirat(parent, name, PLAIN) {
            Ok(()) => self.give(rustix::fs::openat(parent, name, real, Mode::empty())?)?,
            // A program was faster.
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        rustix::fs::openat(parent, name, ITSELF, Mode::empty())
    }

    /// Writes a file beside the other and puts it in its place. Returns its size in bytes.
    pub(super) fn replace(
        &self,
        folder: &OwnedFd,
        name: &OsStr,
        mode: Mode,
        content: &mut dyn Read,
    ) -> io::Result<u64> {
        let beside = format!("{WRITING}{}", unique());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(folder, &beside, flags, Mode::RUSR | Mode::WUSR)?;
        let write = || {
            self.give(&made)?;
            rustix::fs::fchmod(&made, mode)?;
            let bytes = io::copy(content, &mut File::from(made))?;
            rustix::fs::renameat(folder, &beside, folder, name)?;
            Ok(bytes)
        };
        let written: io::Result<u64> = write();
        if written.is_err() {
            // It may be gone: then there is nothing to do.
            let _ = rustix::fs::unlinkat(folder, &beside, AtFlags::empty());
        }
        written
    }
}
