//! The submission as a file. An agent left it, so it may be anything: a link to the answers, a pipe that never ends,
//! a folder, terabytes of zeros. Only a regular file that is itself at the path is read; a caller that trusts a link
//! resolves it first.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use podium_types::sha256::Sha256;
use rustix::fs::{Mode, OFlags};
use sha2::Digest as _;

/// A larger submission is refused unread.
pub(crate) const MAX_BYTES: u64 = 8 << 30;

/// What is at a submission path.
pub(crate) enum Found {
    /// A regular file, open.
    File(File),
    /// Something else, or nothing.
    Other(&'static str),
    /// A file that cannot be graded.
    Unfit(String),
}

/// Looks at the submission path and opens what is there without following a link or waiting for a writer.
pub(crate) fn open(path: &Path) -> Found {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Found::Other("a folder"),
        Ok(metadata) if metadata.is_symlink() => return Found::Other("a symbolic link"),
        Ok(metadata) if !metadata.is_file() => return Found::Other("a special file"),
        Ok(metadata) if metadata.len() > MAX_BYTES => {
            let size = metadata.len();
            return Found::Unfit(format!("the file has {size} bytes, the limit is {MAX_BYTES}"));
        }
        Ok(_) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Found::Other("nothing");
        }
        Err(error) => return Found::Unfit(format!("the file cannot be read: {error}")),
    }
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return Found::Unfit("the name of the file does not end in `.csv`".to_owned());
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map(File::from).map_err(io::Error::from);
    match opened.and_then(|file| file.metadata().map(|metadata| (file, metadata))) {
        Ok((file, metadata)) if metadata.is_file() => Found::File(file),
        Ok(_) => Found::Other("a special file"),
        Err(error) => Found::Unfit(format!("the file cannot be read: {error}")),
    }
}

/// Passes bytes on and hashes them; ends with an error past [`MAX_BYTES`], should the file grow while it is read.
pub(crate) struct Hashing<R> {
    inner: R,
    hasher: sha2::Sha256,
    left: u64,
}

impl<R: Read> Hashing<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, hasher: sha2::Sha256::new(), left: MAX_BYTES }
    }

    /// SHA-256 of what was read.
    pub(crate) fn finish(self) -> Sha256 {
        Sha256::from_digest(&self.hasher.finalize().into())
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(format!("more than {MAX_BYTES} bytes")))?;
        self.hasher.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
