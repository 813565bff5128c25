//! How much a workspace holds while hostile code writes to it.
//!
//! The walk goes from folder to folder by descriptor and never by path, so that neither the length of a path nor the
//! depth of the nesting hides anything, and holds three descriptors at most. It follows no symbolic link. On the way
//! back it checks that `..` is still the folder it came from; where a folder was moved meanwhile, it starts again from
//! the top and skips the folders it has counted. A folder that shut out its own owner is opened again.
//! What has no name any more is not found by walking: see [`super::nameless`].

use std::{
    collections::BTreeSet,
    ffi::{CStr, CString},
    io,
    os::fd::OwnedFd,
    path::Path,
};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use crate::workspace::open_folder;

/// How often one walk starts again because a folder was moved under it.
const RESTARTS: u32 = 64;

const ROOT: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const PARENT: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

const READABLE: Mode = Mode::RUSR.union(Mode::XUSR);

/// A file, wherever its name is.
pub(super) type Identity = (u64, u64);

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes allocated on the disk.
    pub(super) bytes: u64,
    /// Files and folders, besides the workspace itself.
    pub(super) files: u64,
}

impl Held {
    /// More than `enough` of one or the other.
    pub(super) const fn exceeds(&self, enough: Held) -> bool {
        self.bytes > enough.bytes || self.files > enough.files
    }
}

pub(super) fn identity(stat: &Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

pub(super) fn allocated(stat: &Stat) -> u64 {
    u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512)
}

/// One folder on the way down.
struct Level {
    folder: Identity,
    pending: Vec<CString>,
}

/// Counts what is below a folder, each file once; stops as soon as more than `enough` was found.
pub(super) fn held(workspace: &Path, enough: Held) -> io::Result<Held> {
    let root = rustix::fs::open(workspace, ROOT, Mode::empty())?;
    let mut walk = Walk { held: Held::default(), enough, named: BTreeSet::new(), counted: BTreeSet::new() };
    for _ in 0..RESTARTS {
        if walk.from(&root)? {
            break;
        }
    }
    Ok(walk.held)
}

struct Walk {
    held: Held,
    enough: Held,
    /// Folders, and files with several names, that were counted.
    named: BTreeSet<Identity>,
    /// Folders of which the content was counted.
    counted: BTreeSet<Identity>,
}

impl Walk {
    /// Walks everything below `root`; false when a folder was moved, so that something may have been missed.
    fn from(&mut self, root: &OwnedFd) -> io::Result<bool> {
        let top = identity(&rustix::fs::fstat(root)?);
        let mut current = root.try_clone()?;
        let mut levels = vec![Level { folder: top, pending: self.look(&current, top) }];
        while let Some(level) = levels.last_mut() {
            if self.held.exceeds(self.enough) {
                return Ok(true);
            }
            if let Some(name) = level.pending.pop() {
                // What vanished or became something else meanwhile holds nothing here.
                let Ok(folder) = open_folder(&current, &name, READABLE) else { continue };
                let id = identity(&rustix::fs::fstat(&folder)?);
                // Another file system, or the input, is not the workspace's.
                if id.0 == top.0 {
                    levels.push(Level { folder: id, pending: self.look(&folder, id) });
                    current = folder;
                }
            } else {
                levels.pop();
                let Some(parent) = levels.last() else { return Ok(true) };
                let Ok(back) = rustix::fs::openat(&current, c"..", PARENT, Mode::empty()) else {
                    return Ok(false);
                };
                if identity(&rustix::fs::fstat(&back)?) != parent.folder {
                    return Ok(false);
                }
                current = back;
            }
        }
        Ok(true)
    }

    /// Counts what lies directly in a folder, unless that was done, and returns the folders in it.
    fn look(&mut self, folder: &OwnedFd, id: Identity) -> Vec<CString> {
        let fresh = self.counted.insert(id);
        let mut folders = Vec::new();
        let Ok(entries) = Dir::read_from(folder) else { return folders };
        for entry in entries {
            // A folder that is removed while it is read ends here.
            let Ok(entry) = entry else { break };
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let kind = entry.file_type();
            if kind == FileType::Directory || kind == FileType::Unknown || fresh {
                self.entry(folder, name, fresh, &mut folders);
            }
            if self.held.exceeds(self.enough) {
                break;
            }
        }
        folders
    }

    fn entry(&mut self, folder: &OwnedFd, name: &CStr, fresh: bool, folders: &mut Vec<CString>) {
        let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if is_folder {
            folders.push(name.to_owned());
        }
        let once = !is_folder && stat.st_nlink == 1;
        if fresh && (once || self.named.insert(identity(&stat))) {
            self.held.files += 1;
            self.held.bytes = self.held.bytes.saturating_add(allocated(&stat));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Held = Held { bytes: u64::MAX, files: u64::MAX };

    #[test]
    fn links_and_depth_hide_nothing_and_count_nothing_twice() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("workspace"), place.path().join("outside"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("large"), vec![1; 1 << 20]).unwrap();
        std::fs::write(root.join("a"), vec![1; 64 << 10]).unwrap();
        std::fs::hard_link(root.join("a"), root.join("b")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let held_now = || held(&root, ALL).unwrap();
        assert_eq!(held_now(), Held { bytes: 64 << 10, files: 2 });

        // Far beyond the longest path, with a file at the bottom, and in a folder that shuts its owner out.
        let mut folder = rustix::fs::open(&root, ROOT, Mode::empty()).unwrap();
        let long = "d".repeat(200);
        for _ in 0..300 {
            rustix::fs::mkdirat(&folder, &long, Mode::RWXU).unwrap();
            folder = rustix::fs::openat(&folder, &long, ROOT, Mode::empty()).unwrap();
        }
        let flags = OFlags::CREATE | OFlags::WRONLY;
        let file = rustix::fs::openat(&folder, "bottom", flags, Mode::RUSR).unwrap();
        rustix::io::write(&file, &vec![1; 64 << 10]).unwrap();
        rustix::fs::chmod(root.join(&long), Mode::empty()).unwrap();
        let found = held_now();
        assert_eq!(found.files, 303);
        assert!((128 << 10..(128 << 10) + 301 * 4096).contains(&found.bytes), "{found:?}");
        // It stops where it knows enough.
        let some = held(&root, Held { bytes: u64::MAX, files: 10 }).unwrap();
        assert_eq!(some.files, 11);
        crate::workspace::remove(&root).unwrap();
        assert!(outside.join("large").exists());
    }

    #[test]
    fn folders_that_are_moved_meanwhile_are_found_again() {
        let place = tempfile::tempdir().unwrap();
        for name in ["left", "right", "left/moving", "left/moving/deep", "left/moving/deep/deeper"] {
            std::fs::create_dir(place.path().join(name)).unwrap();
        }
        std::fs::write(place.path().join("left/moving/deep/deeper/f"), vec![1; 4096]).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (left, right) = (place.path().join("left/moving"), place.path().join("right/moving"));
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::fs::rename(&left, &right).unwrap();
                    std::fs::rename(&right, &left).unwrap();
                }
            });
            // Each look ends, and no file is counted twice; a look may miss what moves from the part that is to be
            // read into the part that was.
            let most = (0..200).map(|_| held(place.path(), ALL).unwrap().files).max();
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(most, Some(6));
        });
    }
}
