//! Device nodes of a jail's own, where the harness is the superuser.
//!
//! Bubblewrap binds the host's nodes. To their owner the kernel gives the right to change their mode, and inside a jail
//! that a superuser made the jail's user *is* their owner under another number: `chmod /dev/null` would reach the whole
//! host. A read-only mount is no way out, for bubblewrap then forbids devices on it. So each jail gets nodes of its
//! own, on a disk that allows them; whatever it does to them ends with it. Other users own no nodes and need none.

use std::{
    fs::{File, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use rustix::fs::{CWD, FileType, Mode, makedev};
use tempfile::TempDir;

use super::arguments::Arguments;
use crate::scratch;

/// Name and minor number; they are all of the kernel's memory devices (major 1), but for the last.
const NODES: [(&str, u32, u32); 6] =
    [("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0)];

/// Adds the nodes; to be called after `--dev` and before `/dev` is sealed. Without a disk that allows nodes the host's
/// stay: see [`missing`].
pub(super) fn add(arguments: &mut Arguments) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    if let Some(folder) = make() {
        for (name, ..) in NODES {
            let target = format!("/dev/{name}");
            arguments.add("--dev-bind", [folder.path().join(name).into_os_string(), target.into()]);
        }
        arguments.keep(folder);
    }
}

/// What a jail lacks where nodes of its own cannot be made.
pub(super) fn missing() -> Option<&'static str> {
    let needed = rustix::process::geteuid().is_root() && make().is_none();
    needed.then_some(
        "no disk allows device nodes, so code of a superuser's jail can change the mode of the host's",
    )
}

fn make() -> Option<TempDir> {
    [std::env::temp_dir().as_path(), Path::new("/var/tmp")].into_iter().find_map(|place| {
        let folder = scratch::folder_in(place).ok()?;
        for (name, major, minor) in NODES {
            let node = folder.path().join(name);
            let mode = Mode::from_raw_mode(0o666);
            rustix::fs::mknodat(CWD, &node, FileType::CharacterDevice, mode, makedev(major, minor)).ok()?;
            // Whatever the mask of new files is.
            std::fs::set_permissions(&node, Permissions::from_mode(0o666)).ok()?;
        }
        // A disk may hold nodes and yet not open them.
        File::open(folder.path().join("null")).ok()?;
        Some(folder)
    })
}
