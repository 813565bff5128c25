//! Which kind of file system a folder is on: WAL needs shared memory, which network file systems do not give.

use std::path::Path;

/// Kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// Shared memory and locks work: WAL.
    Local,
    /// Neither can be relied on: exclusive lock and rollback journal.
    Network,
}

/// Magic numbers of statfs(2) and of the file systems' own headers: NFS, SMB, CIFS, SMB2, AFS, Ceph, Lustre, GPFS,
/// 9P, FUSE (sshfs and friends; a local FUSE file system is treated with the same care), GFS2, OCFS2, CODA.
const NETWORK: [u64; 13] = [
    0x6969,
    0x517B,
    0xFF53_4D42,
    0xFE53_4D42,
    0x5346_414F,
    0x00C3_6400,
    0x0BD0_0BD0,
    0x4750_4653,
    0x0102_1997,
    0x6573_5546,
    0x0116_1970,
    0x7461_636F,
    0x7375_7245,
];

impl FileSystem {
    /// Looks at the folder. `PODIUM_FILE_SYSTEM=network` decides by hand, for file systems not known here.
    pub fn probe(folder: &Path) -> Self {
        if std::env::var_os("PODIUM_FILE_SYSTEM").is_some_and(|kind| kind == "network") {
            return Self::Network;
        }
        match rustix::fs::statfs(folder) {
            Ok(facts)
                if NETWORK.contains(&(u64::from_ne_bytes(facts.f_type.to_ne_bytes()) & 0xFFFF_FFFF)) =>
            {
                Self::Network
            }
            _ => Self::Local,
        }
    }
}
