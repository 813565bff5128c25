//! Bounded reading. A preview never holds more than the head of a file in memory and never reads more than a fixed
//! number of bytes to count lines, so a folder of terabytes costs what a small one costs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::csv::line_ends;

/// Bytes of a file that are looked at.
pub(crate) const HEAD: u64 = 1 << 20;

/// Bytes that all line counts of one preview may read together.
pub(crate) const COUNTING: u64 = 256 << 20;

/// The beginning of a file as text.
#[derive(Debug)]
pub(crate) struct Head {
    /// The text; bytes that are no UTF-8 are replaced.
    pub(crate) text: String,
    /// Whether this is the whole file.
    pub(crate) whole: bool,
    /// Whether there is a NUL: then it is no text.
    pub(crate) binary: bool,
}

/// The first megabyte of a regular file; `None` when it cannot be read.
pub(crate) fn head(path: &Path) -> Option<Head> {
    let mut bytes = Vec::new();
    open(path)?.take(HEAD + 1).read_to_end(&mut bytes).ok()?;
    let whole = bytes.len() as u64 <= HEAD;
    bytes.truncate(usize::try_from(HEAD).unwrap_or(usize::MAX));
    if !whole
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        // The cut went through a character.
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(Head { binary: bytes.contains(&0), text, whole })
}

/// How many lines a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    Exactly(u64),
    MoreThan(u64),
}

impl std::fmt::Display for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(1) => f.write_str("1 line"),
            Self::Exactly(lines) => write!(f, "{lines} lines"),
            Self::MoreThan(lines) => write!(f, "more than {lines} lines"),
        }
    }
}

/// Counts the lines of a file, taking the bytes it reads from `budget`.
pub(crate) fn lines(path: &Path, budget: &mut u64) -> Option<Lines> {
    let mut file = open(path)?;
    let mut buffer = vec![0; 1 << 16];
    let (mut lines, mut last) = (0, b'\n');
    loop {
        let read = file.read(&mut buffer).ok()?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            return Some(Lines::Exactly(lines + u64::from(last != b'\n')));
        };
        lines += line_ends(piece);
        last = piece.last().copied().unwrap_or(last);
        match budget.checked_sub(read as u64) {
            Some(left) => *budget = left,
            None => return Some(Lines::MoreThan(lines)),
        }
    }
}

fn open(path: &Path) -> Option<File> {
    // A pipe would block: look before opening.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()
}
