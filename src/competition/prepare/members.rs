//! The files of a zip where they lie: found by name, read at their place, written straight to where they are wanted. What
//! is not asked for is never unpacked.
//!
//! Only archives that are read so without any doubt are: stored and deflated files, no two of one name, nothing encrypted.
//! Every file is checked against its size and its sum.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use zip::{CompressionMethod, ZipArchive};

use crate::prepare::archive::plain;
use crate::prepare::error::PrepareError;
use crate::prepare::window::Window;

/// Up to this size a file is read and written at once.
const SMALL: u64 = 1 << 20;

/// Bytes of a file's head in the archive, without its name.
const HEAD: usize = 30;

/// Read with the head on the chance that the extra fields are no longer.
const EXTRA: usize = 64;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packed {
    Stored,
    Deflated,
    /// No file.
    Folder,
}

/// One file.
#[derive(Debug)]
struct Member {
    name: Box<str>,
    /// Where its head is.
    head: u64,
    packed: u64,
    size: u64,
    sum: u32,
    kind: Packed,
}

/// The files of one zip.
#[derive(Debug)]
pub(super) struct Members {
    archive: PathBuf,
    file: Arc<File>,
    /// Where the zip begins in the file.
    base: u64,
    /// In the order of their names.
    list: Vec<Member>,
    /// Which of the archives of a preparation it is.
    pub(super) number: usize,
}

/// What a thread that writes many files needs again and again.
pub(super) struct Scratch {
    packed: Vec<u8>,
    content: Vec<u8>,
    inflate: Decompress,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { packed: Vec::new(), content: Vec::new(), inflate: Decompress::new(false) }
    }
}

impl Members {
    /// The files of a zip, named as if it were unpacked below `prefix`; none where it has to be unpacked to be read.
    pub(super) fn open(archive: &Path, prefix: &str) -> Result<Option<Self>, PrepareError> {
        let file = File::open(archive).map_err(PrepareError::io("open", archive))?;
        let size = file.metadata().map_err(PrepareError::io("read", archive))?.len();
        Self::within(archive.to_owned(), Arc::new(file), 0..size, prefix)
    }

    /// As [`open`](Self::open), of a zip that lies in this one as it is.
    pub(super) fn nested(&self, place: usize, prefix: &str) -> Result<Option<Self>, PrepareError> {
        let Some(member) = self.list.get(place).filter(|member| member.kind == Packed::Stored) else {
            return Ok(None);
        };
        let start = self.start(member).map_err(|error| self.broken(member, error))?;
        let archive = self.archive.join(&*member.name);
        Self::within(archive, Arc::clone(&self.file), start..start + member.size, prefix)
    }

    fn within(
        archive: PathBuf,
        file: Arc<File>,
        bytes: Range<u64>,
        prefix: &str,
    ) -> Result<Option<Self>, PrepareError> {
        let bad = |error: &dyn std::fmt::Display| PrepareError::archive(&archive, error);
        let window = Window::new(Arc::clone(&file), bytes.clone());
        let reader = ZipArchive::new(window).map_err(|error| bad(&error))?;
        let mut list = Vec::with_capacity(reader.len());
        for place in 0..reader.len() {
            let entry = reader.by_index_data(place).map_err(|error| bad(&error))?;
            let name = entry.name().map_err(|error| bad(&error))?;
            let path = plain(&archive, Path::new(name.as_ref()))?;
            let kind = match entry.compression() {
                _ if entry.encrypted() => return Ok(None),
                _ if entry.is_dir() => Packed::Folder,
                // Links are left out.
                _ if !entry.is_file() => continue,
                CompressionMethod::Stored => Packed::Stored,
                CompressionMethod::Deflated => Packed::Deflated,
                _ => return Ok(None),
            };
            let Some(name) = Path::new(prefix).join(path).to_str().map(Box::from) else { return Ok(None) };
            let (packed, size) = (entry.compressed_size(), entry.size());
            list.push(Member { name, head: entry.header_start(), packed, size, sum: entry.crc32(), kind });
        }
        list.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        // A name that is a file twice, or a file and a folder, means what the order of unpacking makes of it.
        let twice = list.windows(2).any(|pair| match pair {
            [one, other] => {
                one.name == other.name && (one.kind, other.kind) != (Packed::Folder, Packed::Folder)
            }
            _ => false,
        });
        Ok((!twice).then_some(Self { archive, file, base: bytes.start, list, number: 0 }))
    }

    /// The file of this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let place = self.list.partition_point(|member| *member.name < *name);
        self.list.get(place).filter(|member| *member.name == *name && member.kind != Packed::Folder)?;
        Some(place)
    }

    /// What lies below a folder, in the order of the names.
    pub(super) fn below(&self, folder: &str) -> Range<usize> {
        if folder.is_empty() {
            return 0..self.list.len();
        }
        let begins = |member: &Member| {
            let (name, folder) = (member.name.as_bytes(), folder.as_bytes());
            let head = name.get(..folder.len()).unwrap_or(name);
            head.cmp(folder).then_with(|| name.get(folder.len()).copied().cmp(&Some(b'/')))
        };
        let first = self.list.partition_point(|member| begins(member).is_lt());
        first..self.list.partition_point(|member| begins(member).is_le())
    }

    /// Whether there is a folder of this name.
    pub(super) fn is_folder(&self, name: &str) -> bool {
        let place = self.list.partition_point(|member| *member.name < *name);
        let is = |member: &Member| *member.name == *name && member.kind == Packed::Folder;
        self.list.get(place).is_some_and(is) || !self.below(name).is_empty()
    }

    /// Names in a folder.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let skipped = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let mut names: Vec<String> = Vec::new();
        for member in self.list.get(self.below(folder)).unwrap_or_default() {
            let rest = member.name.get(skipped..).unwrap_or_default();
            let name = rest.split('/').next().unwrap_or(rest);
            if names.last().is_none_or(|last| last != name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Name of a file or folder.
    pub(super) fn name(&self, place: usize) -> &str {
        self.list.get(place).map_or("", |member| &member.name)
    }

    /// Whether it is a folder.
    pub(super) fn is_folder_entry(&self, place: usize) -> bool {
        self.list.get(place).is_some_and(|member| member.kind == Packed::Folder)
    }

    /// Where it lies in the archive.
    pub(super) fn offset(&self, place: usize) -> u64 {
        self.list.get(place).map_or(0, |member| self.base + member.head)
    }

    /// Its size.
    pub(super) fn size(&self, place: usize) -> u64 {
        self.list.get(place).map_or(0, |member| member.size)
    }

    /// Its content, read as it is asked for.
    pub(super) fn reader(&self, place: usize) -> Result<Box<dyn Read + Send>, PrepareError> {
        let Some(member) = self.list.get(place) else { return Ok(Box::new(io::empty())) };
        let start = self.start(member).map_err(|error| self.broken(member, error))?;
        let part =
            Part { file: Arc::clone(&self.file), place: start, end: start.saturating_add(member.packed) };
        Ok(match member.kind {
            Packed::Deflated => {
                let part = BufReader::with_capacity(1 << 16, part);
                Box::new(Checked::new(DeflateDecoder::new(part), member))
            }
            _ => Box::new(Checked::new(part, member)),
        })
    }

    /// Writes a file to a place where there is none, or where one is replaced.
    pub(super) fn write(
        &self,
        place: usize,
        target: &Path,
        scratch: &mut Scratch,
    ) -> Result<(), PrepareError> {
        let Some(member) = self.list.get(place) else { return Ok(()) };
        if member.packed > SMALL || member.size > SMALL {
            let mut content = self.reader(place)?;
            let mut file = create(target)?;
            return io::copy(&mut content, &mut file).map(drop).map_err(|error| self.broken(member, error));
        }
        let content = self.small(member, scratch).map_err(|error| self.broken(member, error))?;
        create(target)?.write_all(content).map_err(PrepareError::io("write", target))
    }

    /// A small file, whole: mostly one call of the system reads head and content.
    fn small<'s>(&self, member: &Member, scratch: &'s mut Scratch) -> io::Result<&'s [u8]> {
        let Scratch { packed, content, inflate } = scratch;
        let (length, size) = (to_size(member.packed)?, to_size(member.size)?);
        let guess = HEAD + member.name.len() + EXTRA + length;
        packed.resize(packed.len().max(guess), 0);
        let there =
            read_some(&self.file, packed.get_mut(..guess).unwrap_or_default(), self.base + member.head)?;
        let head =
            packed.get(..there).and_then(|bytes| bytes.first_chunk()).ok_or(io::ErrorKind::UnexpectedEof)?;
        let start = HEAD + behind_head(head)?;
        if start + length > there {
            packed.resize(packed.len().max(start + length), 0);
            let rest = packed.get_mut(..start + length).unwrap_or_default();
            self.file.read_exact_at(rest, self.base + member.head)?;
        }
        let packed = packed.get(start..start + length).unwrap_or_default();
        let found = if member.kind == Packed::Stored {
            packed
        } else {
            // One byte more: a file that is longer than it says shows.
            content.resize(content.len().max(size + 1), 0);
            inflate.reset(false);
            let into = content.get_mut(..=size).unwrap_or_default();
            let ended = inflate.decompress(packed, into, FlushDecompress::Finish);
            if !matches!(ended, Ok(Status::StreamEnd)) {
                return Err(damaged());
            }
            content.get(..to_size(inflate.total_out())?).unwrap_or_default()
        };
        let mut sum = Crc::new();
        sum.update(found);
        if found.len() == size && sum.sum() == member.sum { Ok(found) } else { Err(damaged()) }
    }

    /// Where the content of a file begins.
    fn start(&self, member: &Member) -> io::Result<u64> {
        let mut head = [0; HEAD];
        let place = self.base + member.head;
        self.file.read_exact_at(&mut head, place)?;
        Ok(place + (HEAD + behind_head(&head)?) as u64)
    }

    fn broken(&self, member: &Member, error: io::Error) -> PrepareError {
        PrepareError::io("unpack", &self.archive.join(&*member.name))(error)
    }
}

/// How much of a name and of extra fields stands behind a head.
fn behind_head(head: &[u8; HEAD]) -> io::Result<usize> {
    let number = |place: usize| {
        let bytes = head.get(place..).and_then(|bytes| bytes.first_chunk());
        bytes.map_or(0, |bytes| usize::from(u16::from_le_bytes(*bytes)))
    };
    if head.starts_with(b"PK\x03\x04") { Ok(number(26) + number(28)) } else { Err(damaged()) }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the archive is damaged")
}

fn to_size(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(|_| damaged())
}

/// Reads until the buffer is full or the file ends.
fn read_some(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    let mut there = 0;
    while let Some(rest) = buffer.get_mut(there..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, place + there as u64) {
            Ok(0) => break,
            Ok(count) => there += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(there)
}

/// A new file. What is there may be a file of the download under another name, which stays as it is.
fn create(target: &Path) -> Result<File, PrepareError> {
    /// Two threads may be at the same name.
    const TRIES: usize = 100;
    let mut file = Err(io::ErrorKind::AlreadyExists.into());
    for _ in 0..TRIES {
        file = OpenOptions::new().write(true).create_new(true).open(target);
        match &file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => drop(fs::remove_file(target)),
            _ => break,
        }
    }
    file.map_err(PrepareError::io("create", target))
}

/// A part of a file that others read as well.
struct Part {
    file: Arc<File>,
    place: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.place).unwrap_or(usize::MAX).min(into.len());
        let count = self.file.read_at(into.get_mut(..most).unwrap_or_default(), self.place)?;
        self.place += count as u64;
        Ok(count)
    }
}

/// Content that must have a size and a sum.
struct Checked<R> {
    content: R,
    left: u64,
    sum: u32,
    found: Crc,
}

impl<R> Checked<R> {
    fn new(content: R, member: &Member) -> Self {
        Self { content, left: member.size, sum: member.sum, found: Crc::new() }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(into)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(damaged)?;
        self.found.update(into.get(..count).unwrap_or_default());
        let ended = count == 0 && !into.is_empty();
        if ended && (self.left > 0 || self.found.sum() != self.sum) {
            return Err(damaged());
        }
        Ok(count)
    }
}
