//! Workspaces: folders that hostile code has written to.
//!
//! Everything here works through folder descriptors and never follows a symbolic link, so a link planted by a program
//! cannot lead out of the workspace. It is called only when no process of the workspace's job is alive.

use std::{
    collections::VecDeque,
    ffi::{CString, OsStr},
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Component, Path},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags},
    io::Errno,
};

/// Folders that every workspace has: where the submission goes, scratch space, and the home folder.
pub const FOLDERS: [&str; 3] = ["submission", "working", ".home"];

/// Where `./input` is mounted.
pub const INPUT: &str = "input";

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const OWNER_ALL: Mode = Mode::RWXU;

/// Makes a fresh workspace; an old one at the same path is removed first.
pub fn create(path: &Path) -> io::Result<()> {
    remove(path)?;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::create_dir(path)?;
    prepare(path, None)
}

/// Makes a workspace ready for its next execution: the standard folders and the mount point of the input are real
/// folders, and the old submission is gone, with the folder it was in. `submission` is relative to the workspace.
pub fn prepare(path: &Path, submission: Option<&str>) -> io::Result<()> {
    let root = rustix::fs::open(path, FOLDER, Mode::empty())?;
    if let Some(submission) = submission {
        remove_submission(&root, submission)?;
    }
    for name in FOLDERS.into_iter().chain([INPUT]) {
        ensure_folder(root.as_fd(), OsStr::new(name))?;
    }
    Ok(())
}

/// Removes a workspace. Symbolic links are unlinked, never followed; read-only folders, FIFOs and any depth of
/// nesting are no obstacle. A missing workspace is no error; a path that is itself a symbolic link is.
pub fn remove(path: &Path) -> io::Result<()> {
    let root = match rustix::fs::open(path, FOLDER, Mode::empty()) {
        Ok(root) => root,
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(CWD, path, OWNER_ALL, AtFlags::empty())?;
            rustix::fs::open(path, FOLDER, Mode::empty())?
        }
        Err(errno) => return Err(errno.into()),
    };
    empty_folder(&root)?;
    Ok(rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// Writes a file directly inside the workspace, replacing whatever stood there.
pub(crate) fn write_file(path: &Path, name: &str, content: &[u8]) -> io::Result<()> {
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
    remove_entry(root, first)?;
    if components.next().is_some() {
        ensure_folder(root.as_fd(), first)?;
    }
    Ok(())
}

/// Makes `name` a real folder that its owner can use.
fn ensure_folder(root: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match file_type(root, name)? {
        Some(FileType::Directory) => {
            rustix::fs::chmodat(root, name, Mode::from_raw_mode(0o755), AtFlags::empty())?;
        }
        Some(_) => {
            rustix::fs::unlinkat(root, name, AtFlags::empty())?;
            rustix::fs::mkdirat(root, name, Mode::from_raw_mode(0o755))?;
        }
        None => rustix::fs::mkdirat(root, name, Mode::from_raw_mode(0o755))?,
    }
    Ok(())
}

/// Removes one entry of a folder, whatever it is.
fn remove_entry(root: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match file_type(root.as_fd(), name)? {
        None => Ok(()),
        Some(FileType::Directory) => {
            let folder = open_folder(root.as_fd(), name)?;
            empty_folder(&folder)?;
            Ok(rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR)?)
        }
        Some(_) => Ok(rustix::fs::unlinkat(root, name, AtFlags::empty())?),
    }
}

/// Empties a folder. Folders inside folders are first moved up into `root`, so that neither the stack nor the number
/// of open descriptors nor the length of a path grows with the nesting.
fn empty_folder(root: &OwnedFd) -> io::Result<()> {
    let mut moved = 0_u64;
    let mut pending = VecDeque::new();
    rustix::fs::fchmod(root, OWNER_ALL)?;
    for (name, is_folder) in entries(root)? {
        if is_folder {
            pending.push_back(name);
        } else {
            rustix::fs::unlinkat(root, &name, AtFlags::empty())?;
        }
    }
    while let Some(name) = pending.pop_front() {
        let folder = open_folder(root.as_fd(), OsStr::from_bytes(name.as_bytes()))?;
        for (entry, is_folder) in entries(&folder)? {
            if is_folder {
                let up = fresh_name(root, &mut moved)?;
                // Moving a folder rewrites its `..`, for which it must be writable.
                rustix::fs::chmodat(&folder, &entry, OWNER_ALL, AtFlags::empty())?;
                rustix::fs::renameat(&folder, &entry, root, &up)?;
                pending.push_back(up);
            } else {
                rustix::fs::unlinkat(&folder, &entry, AtFlags::empty())?;
            }
        }
        rustix::fs::unlinkat(root, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
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

/// Opens a real folder, made readable and writable for its owner first.
fn open_folder(parent: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    rustix::fs::chmodat(parent, name, OWNER_ALL, AtFlags::empty())?;
    Ok(rustix::fs::openat(parent, name, FOLDER, Mode::empty())?)
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
