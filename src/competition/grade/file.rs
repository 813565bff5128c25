//! The submission as a file. An agent left it, so it may be anything: a link to the answers, a pipe that never ends,
//! a folder, terabytes of zeros. Only a regular file that is itself at the path is read; a caller that trusts a link
//! resolves it first.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use podium_types::sha256::Sha256;
use rustix::fs::{Mode, OFlags};
use sha2::Digest as _;

use crate::csv::{self, CsvError, ReadOptions, Table};
use crate::grade::outcome::Outcome;

/// A larger submission is refused unread.
const MAX_BYTES: u64 = 8 << 30;

/// From this number of bytes on, a file is read and hashed by one thread and understood by another.
const AHEAD: u64 = 1 << 20;

/// Far more rows than expected are refused before they fill the memory. A limit may be set after the reading has begun.
#[derive(Debug)]
pub(crate) struct RowLimit(AtomicU64);

impl RowLimit {
    /// Any number of rows, so far.
    pub(crate) const fn none() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    /// For a grading that expects this number of rows, or any.
    pub(crate) fn set(&self, expected: Option<usize>) {
        self.0.store(limit_of(expected), Ordering::Relaxed);
    }

    /// Nobody wants to see the rest.
    pub(crate) fn stop(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

fn limit_of(expected: Option<usize>) -> u64 {
    expected.map_or(u64::MAX, |rows| (rows as u64).saturating_mul(2).saturating_add(1000))
}

/// What came of reading a submission, before it is known how many rows were expected.
#[derive(Debug)]
pub(crate) struct Reading {
    end: Result<(Table, Sha256), End>,
    rows: u64,
}

/// Why there is no table.
#[derive(Debug)]
enum End {
    Outcome(Outcome),
    Error(CsvError),
}

impl Reading {
    /// The table with the hash of its bytes, or what is wrong with the file, where the grading expects this number of
    /// rows. It does not depend on when the limit was set.
    pub(crate) fn settle(self, expected: Option<usize>) -> Result<(Table, Sha256), Outcome> {
        let limit = limit_of(expected);
        let error = match self.end {
            Err(End::Outcome(outcome)) => return Err(outcome),
            _ if self.rows > limit => CsvError::TooManyRows { limit },
            Ok(read) => return Ok(read),
            Err(End::Error(error)) => error,
        };
        let reason = match (error, expected) {
            (CsvError::Io(source), _) => format!("the file cannot be read: {source}"),
            (error @ CsvError::TooManyRows { .. }, Some(rows)) => format!("{error}, expected {rows}"),
            (error, _) => error.to_string(),
        };
        Err(Outcome::Invalid { reason })
    }
}

/// Reads the table in the submission at `path`.
pub(crate) fn read_submission(path: &Path, options: &ReadOptions, limit: &RowLimit) -> Reading {
    let file = match open(path) {
        Found::File(file) => file,
        Found::Other(found) => {
            return Reading { end: Err(End::Outcome(Outcome::Missing { found: found.to_owned() })), rows: 0 };
        }
        Found::Unfit(reason) => {
            return Reading { end: Err(End::Outcome(Outcome::Invalid { reason })), rows: 0 };
        }
    };
    let long = is_long(&file);
    let mut reader = Hashing::new(file);
    let (table, rows) = csv::read_within(&mut reader, long, options, &limit.0);
    Reading { end: table.map(|table| (table, reader.finish())).map_err(End::Error), rows }
}

/// The table in a file that is ours.
pub(crate) fn read_trusted(path: &Path, options: &ReadOptions) -> Result<Table, CsvError> {
    read_open(&File::open(path)?, options)
}

/// As [`read_trusted`].
pub(crate) fn read_open(file: &File, options: &ReadOptions) -> Result<Table, CsvError> {
    csv::read_within(file, is_long(file), options, &AtomicU64::new(u64::MAX)).0
}

/// Whether a thread that reads ahead is worth its start.
fn is_long(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.len() >= AHEAD)
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
