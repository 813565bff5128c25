//! Who the program is: the user inside, and to whom the workspace belongs.
//!
//! A container's users are the machine's users, unless the engine runs without root. So the program runs as the
//! harness's own user, and where that is root, as one that no account has, to whom the workspace is given before each
//! execution. Root can still read and remove what such a user wrote.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use crate::SandboxError;

/// Used where the harness is root. Neither Debian, Fedora nor systemd hands out this number, and every user namespace
/// of 65536 has it.
const STRANGER: u32 = 61_000;
/// Folders deeper than this are left as they are: only the program can have made them.
const DEEPEST: usize = 64;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// User and group of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// The workspace must be given to the user, for it is another than the harness.
    gives: bool,
}

impl Owner {
    /// The user for an engine.
    pub(super) fn for_engine(rootless: bool) -> Self {
        if rootless {
            // Root inside is the engine's own user outside.
            return Self { uid: 0, gid: 0, gives: false };
        }
        let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
        if uid.is_root() {
            Self { uid: STRANGER, gid: STRANGER, gives: true }
        } else {
            Self { uid: uid.as_raw(), gid: gid.as_raw(), gives: false }
        }
    }

    /// As an engine takes it.
    pub(super) fn text(self) -> String {
        format!("{}:{}", self.uid, self.gid)
    }

    /// Lines of `/etc/passwd` and `/etc/group`.
    pub(super) fn accounts(self) -> (String, String) {
        let Self { uid, gid, .. } = self;
        (
            format!(
                "agent:x:{uid}:{gid}:agent:/workspace/.home:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
            ),
            format!("agent:x:{gid}:\nnogroup:x:65534:\n"),
        )
    }

    /// Gives the workspace and what is in it to the user. Symbolic links are not followed. No process of the workspace
    /// may be alive.
    pub(super) fn give(self, workspace: &Path) -> Result<(), SandboxError> {
        if !self.gives {
            return Ok(());
        }
        self.give_all(workspace).map_err(SandboxError::io("giving to the program", workspace))
    }

    /// To whom is given what the harness makes for the program; `None`: it is the harness's user.
    pub(super) fn other(self) -> Option<(Uid, Gid)> {
        self.gives.then(|| (self.user(), self.group()))
    }

    fn give_all(self, workspace: &Path) -> io::Result<()> {
        let root = rustix::fs::open(workspace, FOLDER, Mode::empty())?;
        rustix::fs::fchown(&root, Some(self.user()), Some(self.group()))?;
        let mut open = vec![(Dir::read_from(&root)?, root)];
        while let Some((entries, folder)) = open.last_mut() {
            match entries.next() {
                None => drop(open.pop()),
                Some(entry) => {
                    let below = self.give_entry(folder, &entry?)?;
                    if let Some(below) = below.filter(|_| open.len() < DEEPEST) {
                        open.push((Dir::read_from(&below)?, below));
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives one entry; a folder is opened to go on in.
    fn give_entry(self, folder: &OwnedFd, entry: &rustix::fs::DirEntry) -> io::Result<Option<OwnedFd>> {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            return Ok(None);
        }
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (stat.st_uid, stat.st_gid) != (self.uid, self.gid) {
            rustix::fs::chownat(
                folder,
                name,
                Some(self.user()),
                Some(self.group()),
                AtFlags::SYMLINK_NOFOLLOW,
            )?;
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Ok(None);
        }
        Ok(Some(rustix::fs::openat(folder.as_fd(), name, FOLDER, Mode::empty())?))
    }

    /// Whether the user can read a host folder, by the folder's own mode; what stands above it is not in its way.
    pub(super) fn can_read(self, folder: &Path) -> bool {
        if !self.gives {
            return true;
        }
        match rustix::fs::statat(CWD, folder, AtFlags::empty()) {
            Ok(stat) => {
                stat.st_mode & 0o005 == 0o005 || (stat.st_uid == self.uid && stat.st_mode & 0o500 == 0o500)
            }
            Err(Errno::NOENT) => true,
            Err(_) => false,
        }
    }

    fn user(self) -> Uid {
        Uid::from_raw(self.uid)
    }

    fn group(self) -> Gid {
        Gid::from_raw(self.gid)
    }
}
