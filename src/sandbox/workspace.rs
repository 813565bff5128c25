//! Workspaces: folders that hostile code has written to.
//!
//! Everything here works through folder descriptors and never follows a symbolic link, so a link planted by a program
//! cannot lead out of the workspace. It is called only when no process of the workspace's job is alive, but for what
//! [`Files`] offers to tools.

mod fault;
mod files;
mod owner;
mod survey;

use std::{
    collections::VecDeque,
    ffi::{CString, OsStr},
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Component, Path},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags},
    io::Errno,
    path::Arg,
};

pub use fault::{FileError, Obstacle};
pub use files::{Entry, Files};
pub use survey::{Seen, Survey, survey};

/// Folders that every workspace has: where the submission goes, scratch space, and the home folder.
pub const FOLDERS: [&str; 3] = ["submission", "working", ".home"];

/// Where `./input` is mounted.
pub const INPUT: &str = "input";

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const ITSELF: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const OWNER_ALL: Mode = Mode::RWXU;
/// Without the set-group-id bit that a folder may inherit: a program that copies such a mode would be refused.
const PLAIN: Mode = OWNER_ALL.union(Mode::RGRP).union(Mode::XGRP).union(Mode::ROTH).union(Mode::XOTH);

/// Makes a fresh workspace; an old one at the same path is removed first.
pub fn create(path: &Path) -> io::Result<()> {
    remove(path)?;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::create_dir(path)?;
    rustix::fs::chmod(path, PLAIN)?;
    prepare(path, None)
}

/// Makes a workspace ready for its next execution: the standard folders and the mount point of the input are real
/// folders, and the old submission is gone, with the folder it was in. `submission` is relative to the workspace.
pub fn prepare(path: &Path, submission: Option<&str>) -> io::Result<()> {
    prepare_for(path, submission.into_iter(), std::iter::empty())
}

/// The same with several files of which the old ones must be gone, and with further mount points.
pub(crate) fn prepare_for<'a>(
    path: &Path,
    submissions: impl Iterator<Item = &'a str>,
    mount_points: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    let root = open_folder(CWD, path, OWNER_ALL)?;
    for submission in submissions {
        remove_submission(&root, submission)?;
    }
    for name in FOLDERS.into_iter().chain([INPUT]).chain(mount_points) {
        ensure_folder(root.as_fd(), OsStr::new(name))?;
    }
    Ok(())
}

/// Removes a workspace. Symbolic links are unlinked, never followed; read-only folders, FIFOs and any depth of
/// nesting are no obstacle. A missing workspace is no error; a path that is itself a symbolic link is.
pub fn remove(path: &Path) -> io::Result<()> {
    let root = match open_folder(CWD, path, OWNER_ALL) {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    empty_folder(&root)?;
    Ok(rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// Writes a file directly inside the workspace, replacing whatever stood there.
pub fn write_file(path: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    if !is_plain_name(name) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{name}` is not a plain file name"),
        ));
    }
    let root = rustix::fs::open(path, FOLDER, Mode::empty())?;
    remove_entry(&root, OsStr::new(name))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&root, name, flags, Mode::from_raw_mode(0o644))?;
    File::from(file).write_all(content)
}

/// One normal path component.
fn is_plain_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(only)), None) if only == OsStr::new(name))
}

/// Removes what a submission path leads to: its first folder when it is in one, else the file.
fn remove_submission(root: &OwnedFd, submission: &str) -> io::Result<()> {
    let mut components = Path::new(submission).components();
    let Some(Component::Normal(first)) = components.next() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{submission}` is no path inside the workspace"),
        ));
    };
    let is_folder = components.next().is_some();
    if is_folder && is_empty_folder(root.as_fd(), first)? {
        return Ok(());
    }
    remove_entry(root, first)?;
    if is_folder {
        ensure_folder(root.as_fd(), first)?;
    }
    Ok(())
}

/// There is a real folder of this name, which its owner may use, and nothing is in it.
fn is_empty_folder(root: BorrowedFd<'_>, name: &OsStr) -> io::Result<bool> {
    if file_type(root, name)? != Some(FileType::Directory) {
        return Ok(false);
    }
    let folder = open_folder(root, name, OWNER_ALL)?;
    let is_plain = mode(&folder)?.bits() & 0o7777 == PLAIN.bits();
    Ok(is_plain && entries(&folder)?.is_empty())
}

/// Makes `name` a real folder that its owner can use.
fn ensure_folder(root: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match file_type(root, name)? {
        Some(FileType::Directory) => {}
        Some(_) => {
            rustix::fs::unlinkat(root, name, AtFlags::empty())?;
            rustix::fs::mkdirat(root, name, PLAIN)?;
        }
        None => rustix::fs::mkdirat(root, name, PLAIN)?,
    }
    Ok(rustix::fs::fchmod(open_folder(root, name, OWNER_ALL)?, PLAIN)?)
}

/// Removes one entry of a folder, whatever it is.
fn remove_entry(root: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match file_type(root.as_fd(), name)? {
        None => Ok(()),
        Some(FileType::Directory) => {
            let folder = open_folder(root, name, OWNER_ALL)?;
            empty_folder(&folder)?;
            Ok(rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR)?)
        }
        Some(_) => Ok(rustix::fs::unlinkat(root, name, AtFlags::empty())?),
    }
}

/// Empties a folder. Folders inside folders are first moved up into `root`, so that neither the stack nor the number
/// of open descriptors nor the length of a path grows with the nesting. What another process removes meanwhile is gone
/// as well; one that goes on writing can make this fail, and nothing worse.
fn empty_folder(root: &OwnedFd) -> io::Result<()> {
    let mut moved = 0_u64;
    let mut pending = VecDeque::new();
    rustix::fs::fchmod(root, OWNER_ALL)?;
    for (name, is_folder) in entries(root)? {
        if is_folder {
            pending.push_back(name);
        } else {
            gone(rustix::fs::unlinkat(root, &name, AtFlags::empty()))?;
        }
    }
    while let Some(name) = pending.pop_front() {
        let Some(folder) = gone(open_folder(root, &name, OWNER_ALL))? else { continue };
        for (entry, is_folder) in entries(&folder)? {
            if is_folder {
                let up = fresh_name(root, &mut moved)?;
                // Moving a folder rewrites its `..`, for which it must be writable.
                drop(gone(open_folder(&folder, &entry, OWNER_ALL))?);
                if gone(rustix::fs::renameat(&folder, &entry, root, &up))?.is_some() {
                    pending.push_back(up);
                }
            } else {
                gone(rustix::fs::unlinkat(&folder, &entry, AtFlags::empty()))?;
            }
        }
        gone(rustix::fs::unlinkat(root, &name, AtFlags::REMOVEDIR))?;
    }
    Ok(())
}

/// `None` for what is not there any more.
fn gone<T, E: Into<io::Error>>(result: Result<T, E>) -> io::Result<Option<T>> {
    match result.map_err(Into::into) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A name that does not exist in `root`.
fn fresh_name(root: &OwnedFd, counter: &mut u64) -> io::Result<CString> {
    loop {
        *counter += 1;
        let name = format!(".podium-removing-{counter}");
        if file_type(root.as_fd(), OsStr::new(&name))?.is_none() {
            return Ok(CString::new(name)?);
        }
    }
}

/// Opens a real folder. One that denies its owner what is needed is made to grant it: through its own descriptor, so
/// that what a program puts in its place meanwhile is never touched.
pub(crate) fn open_folder(parent: impl AsFd, name: impl Arg + Copy, needed: Mode) -> io::Result<OwnedFd> {
    let parent = parent.as_fd();
    match rustix::fs::openat(parent, name, FOLDER, Mode::empty()) {
        Ok(folder) if mode(&folder)?.contains(needed) => return Ok(folder),
        Ok(_) | Err(Errno::ACCESS) => {}
        Err(errno) => return Err(errno.into()),
    }
    let itself = rustix::fs::openat(parent, name, ITSELF, Mode::empty())?;
    let link = format!("/proc/self/fd/{}", itself.as_raw_fd());
    rustix::fs::chmod(&link, mode(&itself)? | needed)?;
    Ok(rustix::fs::openat(&itself, c".", FOLDER, Mode::empty())?)
}

fn mode(folder: &OwnedFd) -> io::Result<Mode> {
    Ok(Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode))
}

/// Names in a folder, each with whether it is a folder.
fn entries(folder: &OwnedFd) -> io::Result<Vec<(CString, bool)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => file_type(folder.as_fd(), OsStr::from_bytes(name.to_bytes()))?,
            kind => Some(kind),
        };
        found.push((name.to_owned(), kind == Some(FileType::Directory)));
    }
    Ok(found)
}

/// The type of an entry itself, `None` when there is none.
fn file_type(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<FileType>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}
