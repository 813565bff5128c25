//! Which files a workspace has, by their metadata alone, so that what changed since the last look is found without
//! reading everything.
//!
//! A program can set a file's time of modification, but not that of its last change of status, so both are compared.
//! No link is followed. Programs may be running: what they move at this moment is seen, or not, until the next look.

use std::{collections::BTreeMap, ffi::OsStr, io, os::fd::OwnedFd, path::Path};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

use super::{FOLDER, owner::WRITING};

/// Folders in folders are looked into so deep.
const DEEPEST: usize = 32;

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Size in bytes.
    pub bytes: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// The regular files of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// By their paths.
    pub files: BTreeMap<String, Seen>,
    /// There are more: too many, too deep, in a folder that is closed, or with names that are no text.
    pub unseen: bool,
}

/// Looks at a workspace; not into folders at its top that `skip` names, and at no more than `most` entries.
///
/// # Errors
/// When it cannot be opened.
pub fn survey(workspace: &Path, skip: &[&str], most: usize) -> io::Result<Survey> {
    let root = rustix::fs::openat(CWD, workspace, FOLDER, Mode::empty())?;
    let mut found = Survey::default();
    let mut left = most;
    let mut open: Vec<(Dir, OwnedFd, String)> = vec![(Dir::read_from(&root)?, root, String::new())];
    while let Some((entries, folder, prefix)) = open.last_mut() {
        let Some(entry) = entries.next() else {
            open.pop();
            continue;
        };
        let Ok(entry) = entry else {
            found.unseen = true;
            open.pop();
            continue;
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if left == 0 {
            found.unseen = true;
            break;
        }
        left -= 1;
        let Ok(text) = name.to_str() else {
            found.unseen = true;
            continue;
        };
        if text.starts_with(WRITING) || (prefix.is_empty() && skip.contains(&text)) {
            continue;
        }
        // One that is gone by now is not seen.
        let Ok(stat) = rustix::fs::statat(&*folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let path = format!("{prefix}{text}");
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let seen = Seen {
                    bytes: stat.st_size.unsigned_abs(),
                    inode: stat.st_ino,
                    modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(i64::MAX)),
                    changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX)),
                };
                found.files.insert(path, seen);
            }
            FileType::Directory => match enter(folder, OsStr::new(text)) {
                Some((entries, below)) if open.len() < DEEPEST => {
                    open.push((entries, below, format!("{path}/")));
                }
                _ => found.unseen = true,
            },
            _ => {}
        }
    }
    Ok(found)
}

/// A folder that can be read; its mode is left as it is, for a program may be at work in it.
fn enter(parent: &OwnedFd, name: &OsStr) -> Option<(Dir, OwnedFd)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(parent, name, flags, Mode::empty()).ok()?;
    Some((Dir::read_from(&folder).ok()?, folder))
}
