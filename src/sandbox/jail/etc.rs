//! The `/etc` of the jails: a folder of the harness's own, made once and bound read-only by all of them.
//!
//! Laid out anew for each jail, its small files took more than a quarter of a millisecond. What of the host's is in it
//! holds nothing private: a copy of where libraries are (`ld.so.cache`), made with the folder, and the mount points of
//! two folders of links and settings, some hundred files that take ten times longer to copy than to mount. Nothing in it
//! is a link to outside of `/usr` and `/etc`, or can be written by those who see it.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use tempfile::TempDir;

use super::root::ETC;
use crate::{SandboxError, callback, scratch};

const PASSWD: &str =
    "agent:x:1000:1000:agent:/workspace/.home:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n";
const GROUP: &str = "agent:x:1000:\nnogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1 localhost podium\n::1 localhost\n";
const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files dns\n";
/// Without a name server, an address that no network has (RFC 5737): looking up a name fails at once, for want of a
/// route, and is counted.
const RESOLV: &str = "nameserver 192.0.2.1\noptions attempts:1 timeout:1\n";

/// A file of the host's is no larger, or is left out.
const BYTES: u64 = 16 << 20;

/// One with a name server and one without, each made when it is first needed. Shared by all clones.
#[derive(Clone, Debug, Default)]
pub(super) struct Etc(Arc<Mutex<[Option<TempDir>; 2]>>);

impl Etc {
    /// What is bound as `/etc`, of jails with a name server or without.
    pub(super) fn folder(&self, named: bool) -> Result<PathBuf, SandboxError> {
        // What a panic left is a whole state all the same.
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let [unnamed_one, named_one] = &mut *made;
        let (one, resolv) = if named { (named_one, callback::RESOLV) } else { (unnamed_one, RESOLV) };
        if let Some(folder) = one {
            return Ok(folder.path().join("etc"));
        }
        let folder = scratch::folder()?;
        let etc = folder.path().join("etc");
        fill(&etc, resolv).map_err(SandboxError::io("filling", &etc))?;
        *one = Some(folder);
        Ok(etc)
    }
}

fn fill(etc: &Path, resolv: &str) -> io::Result<()> {
    fs::create_dir(etc)?;
    open_to_all(etc)?;
    let files = [
        ("passwd", PASSWD),
        ("group", GROUP),
        ("hosts", HOSTS),
        ("nsswitch.conf", NSSWITCH),
        ("resolv.conf", resolv),
    ];
    for (name, content) in files {
        let path = etc.join(name);
        fs::write(&path, content)?;
        fs::set_permissions(&path, Permissions::from_mode(0o444))?;
    }
    for host in ETC.map(Path::new) {
        if let Some(name) = host.file_name() {
            take(host, &etc.join(name))?;
        }
    }
    Ok(())
}

/// Whatever the mask of new files is.
fn open_to_all(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// What of the host's everybody may read: a copy of a file, the mount point of a folder. What is not there, or is
/// neither, is left out.
fn take(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(facts) = from.metadata() else { return Ok(()) };
    if facts.permissions().mode() & 0o004 == 0 {
        return Ok(());
    }
    if facts.is_dir() {
        fs::create_dir(to)?;
        return open_to_all(to);
    }
    if facts.is_file() && facts.len() <= BYTES {
        // Its mode goes with it.
        fs::copy(from, to)?;
        return fs::set_permissions(to, Permissions::from_mode(0o444));
    }
    Ok(())
}
