//! The submission as a file. An agent left it, so it may be anything: a link to the answers, a pipe that never ends,
//! a folder, terabytes of zeros. Only a regular file that is itself at the path is read; a caller that trusts a link
//! resolves it first.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use podium_types::sha256::Sha256;
use rustix::fs::{Mode, OFlags};
use sha2::Digest as _;

use crate::csv::{self, CsvError, ReadOptions, Table};
use crate::grade::outcome::Outcome;

/// A larger submission is refused unread.
const MAX_BYTES: u64 = 8 << 30;

/// The table in the submission at `path` with the hash of its bytes, or what is wrong with it. `rows` are expected
/// where the number is fixed: far more are refused before they fill the memory.
pub(crate) fn read_table(
    path: &Path,
    mut options: ReadOptions,
    rows: Option<usize>,
) -> Result<(Table, Sha256), Outcome> {
    options.max_rows = rows.map(|rows| 2 * rows as u64 + 1000);
    let file = match open(path) {
        Found::File(file) => file,
        Found::Other(found) => return Err(Outcome::Missing { found: found.to_owned() }),
        Found::Unfit(reason) => return Err(Outcome::Invalid { reason }),
    };
    let mut reader = Hashing::new(file);
    let table = csv::read(&mut reader, &options).map_err(|error| {
        let reason = match (error, rows) {
            (CsvError::Io(source), _) => format!("the file cannot be read: {source}"),
            (error @ CsvError::TooManyRows { .. }, Some(rows)) => format!("{error}, expected {rows}"),
            (error, _) => error.to_string(),
        };
        Outcome::Invalid { reason }
    })?;
    Ok((table, reader.finish()))
}

/// The table in a file that is ours.
pub(crate) fn read_trusted(path: &Path, options: &ReadOptions) -> Result<Table, CsvError> {
    csv::read(File::open(path)?, options)
}

/// What is at a submission path.
enum Found {
    /// A regular file, open.
    File(File),
    /// Something else, or nothing.
    Other(&'static str),
    /// A file that cannot be graded.
    Unfit(String),
}

/// Looks at the submission path and opens what is there without following a link or waiting for a writer.
fn open(path: &Path) -> Found {
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
struct Hashing<R> {
    inner: R,
    hasher: sha2::Sha256,
    left: u64,
}

impl<R: Read> Hashing<R> {
    fn new(inner: R) -> Self {
        Self { inner, hasher: sha2::Sha256::new(), left: MAX_BYTES }
    }

    /// SHA-256 of what was read.
    fn finish(self) -> Sha256 {
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
