//! A part of a file as a reader of its own: several may read the same open file at once, each at its place.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes that are read at once; most small entries are whole in them, header and all.
const WINDOW: usize = 1 << 15;

/// A place in a part of a file that others read as well.
pub(super) struct Window {
    file: Arc<File>,
    /// Where the part begins in the file.
    base: u64,
    size: u64,
    /// Where the next byte is read.
    place: u64,
    /// Where the buffer begins.
    start: u64,
    buffer: Vec<u8>,
}

impl Window {
    /// Over these bytes of a file.
    pub(super) fn new(file: Arc<File>, bytes: Range<u64>) -> Self {
        let size = bytes.end.saturating_sub(bytes.start);
        Self { file, base: bytes.start, size, place: 0, start: 0, buffer: Vec::new() }
    }

    /// Reads there, as far as the part goes.
    fn read_at(&self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(self.place)).unwrap_or(usize::MAX);
        let most = left.min(into.len());
        self.file.read_at(into.get_mut(..most).unwrap_or_default(), self.base + self.place)
    }
}

impl Clone for Window {
    fn clone(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            base: self.base,
            size: self.size,
            place: self.place,
            start: 0,
            buffer: Vec::new(),
        }
    }
}

impl Read for Window {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let held = |start: u64, buffer: &[u8]| {
            let skipped = usize::try_from(self.place.checked_sub(start)?).ok()?;
            (skipped < buffer.len()).then_some(skipped)
        };
        let skipped = match held(self.start, &self.buffer) {
            Some(skipped) => skipped,
            None if into.len() >= WINDOW => {
                let count = self.read_at(into)?;
                self.place += count as u64;
                return Ok(count);
            }
            None => {
                let mut buffer = std::mem::take(&mut self.buffer);
                buffer.resize(WINDOW, 0);
                let count = self.read_at(&mut buffer)?;
                buffer.truncate(count);
                self.buffer = buffer;
                self.start = self.place;
                0
            }
        };
        let there = self.buffer.get(skipped..).unwrap_or_default();
        let count = there.len().min(into.len());
        if let (Some(to), Some(from)) = (into.get_mut(..count), there.get(..count)) {
            to.copy_from_slice(from);
        }
        self.place += count as u64;
        Ok(count)
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(by) => self.place.checked_add_signed(by),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
        };
        self.place = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.place)
    }
}
