//! Device nodes of the jails' own, where the harness is the superuser.
//!
//! Bubblewrap binds the host's nodes. To their owner the kernel gives the right to change their mode, and inside a jail
//! that a superuser made the jail's user *is* their owner under another number: `chmod /dev/null` would reach the whole
//! host. A read-only mount is no way out, for bubblewrap then forbids devices on it. So the jails get nodes of their
//! own, on a disk that allows them, that belong to a user who exists in no jail: nobody in one can change them, so all
//! jails of a harness share them. Other users own no nodes and need none.

use std::{
    fs::{File, Permissions},
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{CWD, Dev, FileType, Mode, major, makedev, minor},
    io::Errno,
};
use tempfile::TempDir;

use super::arguments::Arguments;
use crate::scratch;

/// Name, major and minor number.
const NODES: [(&str, u32, u32); 6] =
    [("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0)];
/// Who they belong to, as user and group: nobody.
const OWNER: u32 = 65534;

/// The folder of the nodes, named by their numbers; `None` where the host's are bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes(Option<Arc<TempDir>>);

impl Nodes {
    /// Makes them where they are needed, and says what is missing where that fails.
    pub(super) fn new() -> Result<Self, &'static str> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self(None));
        }
        let made = [std::env::temp_dir().as_path(), Path::new("/var/tmp")].into_iter().find_map(folder);
        let missing =
            "no disk allows device nodes, so code of a superuser's jail can change the mode of the host's";
        made.map(|folder| Self(Some(Arc::new(folder)))).ok_or(missing)
    }

    /// Adds the nodes that every jail has; to be called after `--dev` and before `/dev` is sealed.
    pub(super) fn add(&self, arguments: &mut Arguments) {
        for (name, major, minor) in NODES {
            if let Some(folder) = &self.0 {
                let node = folder.path().join(file(major, minor));
                arguments.add("--dev-bind", [node, format!("/dev/{name}").into()]);
            }
        }
    }

    /// What is bound for a device node of the host.
    pub(super) fn stand_in(&self, source: PathBuf) -> PathBuf {
        let Some(folder) = &self.0 else { return source };
        let Ok(facts) = source.metadata() else { return source };
        let (major, minor) = (major(facts.rdev()), minor(facts.rdev()));
        if facts.file_type().is_char_device() && make(folder.path(), major, minor).is_some() {
            return folder.path().join(file(major, minor));
        }
        source
    }
}

/// The name of a node's file.
fn file(major: u32, minor: u32) -> String {
    format!("{major}-{minor}")
}

/// A folder with the nodes, in a place that allows them.
fn folder(place: &Path) -> Option<TempDir> {
    let folder = scratch::folder_in(place).ok()?;
    for (_, major, minor) in NODES {
        make(folder.path(), major, minor)?;
    }
    // A disk may hold nodes and yet not open them.
    File::open(folder.path().join(file(1, 3))).ok()?;
    Some(folder)
}

/// Makes one node, or finds it made.
fn make(folder: &Path, major: u32, minor: u32) -> Option<()> {
    let node = folder.join(file(major, minor));
    let device: Dev = makedev(major, minor);
    match rustix::fs::mknodat(CWD, &node, FileType::CharacterDevice, Mode::from_raw_mode(0o666), device) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(_) => return None,
    }
    // Whatever the mask of new files is.
    std::fs::set_permissions(&node, Permissions::from_mode(0o666)).ok()?;
    chown(&node, Some(OWNER), Some(OWNER)).ok()
}
