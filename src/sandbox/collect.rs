//! Taking a submission out of a workspace that hostile code has written to.
//!
//! Called when every process of the execution is dead, so that what is checked is what is copied. The path is opened
//! beneath the workspace without following any symbolic link, and without blocking on a FIFO; only a regular file with
//! one name and within the size limit is taken. The copy goes to a content store that the program cannot reach, is
//! synced, and is named by its SHA-256: only that copy is ever graded.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use podium_types::execution::Collected;
use podium_types::sha256::Sha256;
use rustix::{
    fs::{FileType, Mode, OFlags, ResolveFlags},
    io::Errno,
};
use sha2::Digest as _;

/// Copies the file at `relative` in `workspace` into `destination`, or says what was found instead.
pub fn collect(
    workspace: &Path,
    relative: &str,
    destination: &Path,
    max_bytes: u64,
) -> io::Result<Collected> {
    let root = rustix::fs::open(
        workspace,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = match rustix::fs::openat2(&root, relative, flags, Mode::empty(), resolve) {
        Ok(file) => File::from(file),
        Err(errno) => return refused(errno),
    };
    let stat = rustix::fs::fstat(&file)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Ok(missing(name_of(kind)));
    }
    if stat.st_nlink != 1 {
        return Ok(missing("a file with more than one name (a hard link)"));
    }
    if u64::try_from(stat.st_size).is_ok_and(|size| size > max_bytes) {
        return Ok(missing("a file over the size limit"));
    }
    store(file, destination, max_bytes)
}

/// Streams the file into the store.
fn store(file: File, destination: &Path, max_bytes: u64) -> io::Result<Collected> {
    std::fs::create_dir_all(destination)?;
    let mut copy = tempfile::Builder::new().prefix(".collecting-").tempfile_in(destination)?;
    let mut hasher = sha2::Sha256::new();
    let mut source = file.take(max_bytes.saturating_add(1));
    let mut buffer = vec![0_u8; 64 << 10];
    let mut bytes = 0_u64;
    loop {
        let count = source.read(&mut buffer)?;
        let Some(chunk) = buffer.get(..count).filter(|chunk| !chunk.is_empty()) else { break };
        hasher.update(chunk);
        copy.write_all(chunk)?;
        bytes += count as u64;
    }
    if bytes > max_bytes {
        return Ok(missing("a file over the size limit"));
    }
    let sha256 = Sha256::from_digest(&hasher.finalize().into());
    copy.as_file().sync_all()?;
    copy.persist(destination.join(sha256.as_str())).map_err(|error| error.error)?;
    File::open(destination)?.sync_all()?;
    Ok(Collected::File { sha256, bytes })
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What an open that failed says about what stands there.
fn refused(errno: Errno) -> io::Result<Collected> {
    match errno {
        Errno::NOENT => Ok(missing("nothing")),
        Errno::LOOP => Ok(missing("a symbolic link")),
        Errno::XDEV => Ok(missing("a path that leaves the workspace")),
        Errno::NOTDIR => Ok(missing("a path through something that is no folder")),
        Errno::ACCESS => Ok(missing("a file that cannot be read")),
        Errno::NXIO | Errno::NODEV => Ok(missing("a socket or a device")),
        other => Err(other.into()),
    }
}

/// In words.
fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a symbolic link",
        FileType::RegularFile | FileType::Unknown => "something unknown",
    }
}

fn missing(found: &str) -> Collected {
    Collected::Missing { found: found.to_owned() }
}
