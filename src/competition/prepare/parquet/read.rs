//! Reads a parquet file, row group by row group.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::prepare::error::PrepareError;
use crate::prepare::parquet::thrift::{Thrift, varint};
use crate::prepare::parquet::{Kind, Values};

/// A longer head is none.
const MOST_HEAD: u32 = 1 << 28;

/// Where a column of a row group stands.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    start: u64,
    length: usize,
    values: usize,
    codec: i64,
}

/// An open file.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    file: File,
    /// Names and types.
    pub columns: Vec<(String, Kind)>,
    optional: Vec<bool>,
    groups: Vec<Vec<Chunk>>,
}

impl Reader {
    /// Reads the foot of a file.
    pub fn open(path: &Path) -> Result<Self, PrepareError> {
        let mut file = File::open(path).map_err(PrepareError::io("open", path))?;
        let foot = foot(&mut file).map_err(PrepareError::io("read", path))?;
        let bad = || unknown(path);
        let (head, _) = foot.as_deref().and_then(Thrift::read).ok_or_else(bad)?;
        let mut reader = Self {
            path: path.to_owned(),
            file,
            columns: Vec::new(),
            optional: Vec::new(),
            groups: Vec::new(),
        };
        for element in head.list(2).ok_or_else(bad)?.iter().skip(1) {
            let kind = element.integer(1).and_then(Kind::of).ok_or_else(bad)?;
            reader.columns.push((element.text(4).ok_or_else(bad)?.to_owned(), kind));
            reader.optional.push(element.integer(3) == Some(1));
        }
        for group in head.list(4).ok_or_else(bad)? {
            let chunks: Option<Vec<Chunk>> = group.list(1).ok_or_else(bad)?.iter().map(chunk).collect();
            reader.groups.push(chunks.filter(|chunks| chunks.len() == reader.columns.len()).ok_or_else(bad)?);
        }
        Ok(reader)
    }

    /// Number of row groups.
    pub const fn groups(&self) -> usize {
        self.groups.len()
    }

    /// One column of a row group.
    pub fn column(&mut self, group: usize, column: usize) -> Result<Values, PrepareError> {
        let chunk = self.groups.get(group).and_then(|chunks| chunks.get(column)).copied();
        let kind = self.columns.get(column).map(|(_, kind)| *kind);
        let (Some(chunk), Some(kind)) = (chunk, kind) else { return Err(unknown(&self.path)) };
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(chunk.start));
        read.and_then(|_| self.file.by_ref().take(chunk.length as u64).read_to_end(&mut bytes))
            .map_err(PrepareError::io("read", &self.path))?;
        let optional = self.optional.get(column).copied().unwrap_or(false);
        pages(&bytes, chunk, kind, optional).ok_or_else(|| unknown(&self.path))
    }
}

fn unknown(path: &Path) -> PrepareError {
    PrepareError::unfit(format!("{} is no parquet file of a kind that is known here", path.display()))
}

fn foot(file: &mut File) -> std::io::Result<Option<Vec<u8>>> {
    let mut tail = [0; 8];
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut tail)?;
    let length = tail.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    if !tail.ends_with(b"PAR1") || length > MOST_HEAD {
        return Ok(None);
    }
    let mut foot = vec![0; length as usize];
    file.seek(SeekFrom::End(-8 - i64::from(length)))?;
    file.read_exact(&mut foot)?;
    Ok(Some(foot))
}

fn chunk(column: &Thrift<'_>) -> Option<Chunk> {
    let head = column.field(3)?;
    let data = head.integer(9)?;
    // A dictionary stands before the data, where there is one.
    let start = head.integer(11).filter(|start| *start > 0).map_or(data, |start| start.min(data));
    Some(Chunk {
        start: u64::try_from(start).ok()?,
        length: head.length(7)?,
        values: head.length(5)?,
        codec: head.integer(4)?,
    })
}

fn unpacked(codec: i64, bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    let found = match codec {
        0 => bytes.to_vec(),
        1 => snap::raw::Decoder::new().decompress_vec(bytes).ok()?,
        2 => {
            let mut found = Vec::new();
            MultiGzDecoder::new(bytes).take(size as u64 + 1).read_to_end(&mut found).ok()?;
            found
        }
        _ => return None,
    };
    (found.len() == size).then_some(found)
}

fn pages(bytes: &[u8], chunk: Chunk, kind: Kind, optional: bool) -> Option<Values> {
    let mut rest = bytes;
    let mut dictionary: Vec<u64> = Vec::new();
    let (mut bits, mut known) = (Vec::new(), Vec::new());
    while bits.len() < chunk.values {
        let (head, taken) = Thrift::read(rest)?;
        let (packed, after) = rest.get(taken..)?.split_at_checked(head.length(3)?)?;
        rest = after;
        let size = head.length(2)?;
        match head.integer(1)? {
            2 => dictionary = plain(&unpacked(chunk.codec, packed, size)?, kind),
            0 => {
                let page = head.field(5)?;
                let content = unpacked(chunk.codec, packed, size)?;
                let (mut values, count) = (content.as_slice(), page.length(1)?);
                let mut present = vec![true; count];
                if optional {
                    let (length, after) = values.split_first_chunk::<4>()?;
                    let (levels, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
                    present = hybrid(levels, 1, count)?.into_iter().map(|level| level == 1).collect();
                    values = after;
                }
                append(
                    &mut bits,
                    &mut known,
                    present,
                    decoded(values, page.integer(2)?, kind, &dictionary)?,
                )?;
            }
            3 => {
                let page = head.field(8)?;
                let count = page.length(1)?;
                let (levels, packed) = packed.split_at_checked(page.length(5)?)?;
                let size = size.checked_sub(levels.len())?;
                let codec = if page.integer(7) == Some(0) { 0 } else { chunk.codec };
                let content = unpacked(codec, packed, size)?;
                let present = if optional {
                    hybrid(levels, 1, count)?.into_iter().map(|level| level == 1).collect()
                } else {
                    vec![true; count]
                };
                append(
                    &mut bits,
                    &mut known,
                    present,
                    decoded(&content, page.integer(4)?, kind, &dictionary)?,
                )?;
            }
            _ => {}
        }
    }
    let all = known.iter().all(|known| *known);
    Some(Values { kind, bits, known: (!all).then_some(known) })
}

/// The values of a page as they are stored, without the missing ones; perhaps more than there are.
fn decoded(content: &[u8], encoding: i64, kind: Kind, dictionary: &[u64]) -> Option<Vec<u64>> {
    match encoding {
        0 => Some(plain(content, kind)),
        2 | 8 => {
            let (width, indices) = content.split_first()?;
            let indices = hybrid(indices, usize::from(*width), usize::MAX)?;
            // What is packed is padded, so that an index beyond the dictionary may stand at the end.
            Some(
                indices
                    .into_iter()
                    .map(|index| dictionary.get(index as usize).copied().unwrap_or_default())
                    .collect(),
            )
        }
        _ => None,
    }
}

fn append(bits: &mut Vec<u64>, known: &mut Vec<bool>, present: Vec<bool>, values: Vec<u64>) -> Option<()> {
    let mut values = values.into_iter();
    for is_present in &present {
        bits.push(if *is_present { values.next()? } else { 0 });
    }
    known.extend(present);
    Some(())
}

fn plain(content: &[u8], kind: Kind) -> Vec<u64> {
    let value = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    content.chunks_exact(kind.size()).map(value).collect()
}

/// At most `count` small numbers of `width` bits: runs of one number, or packed bit by bit.
fn hybrid(bytes: &[u8], width: usize, count: usize) -> Option<Vec<u32>> {
    let mut rest = bytes;
    let mut found = Vec::new();
    if width > 32 {
        return None;
    }
    while found.len() < count && !rest.is_empty() {
        let head = varint(&mut rest)?;
        if head & 1 == 0 {
            let (value, after) = rest.split_at_checked(width.div_ceil(8))?;
            rest = after;
            let value = value.iter().rev().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
            let run = usize::try_from(head >> 1).ok()?.min(count - found.len());
            // No page is longer than what its own head can say.
            if run > 1 << 31 {
                return None;
            }
            found.resize(found.len() + run, value);
        } else {
            let length = usize::try_from(head >> 1).ok()?.checked_mul(width)?.min(rest.len());
            let (packed, after) = rest.split_at_checked(length)?;
            rest = after;
            let numbers = (packed.len() * 8).checked_div(width).unwrap_or_default();
            for number in 0..numbers.min(count - found.len()) {
                let bit =
                    |place: usize| packed.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1);
                let bits = (0..width).filter(|place| bit(number * width + place));
                found.push(bits.fold(0u32, |value, place| value | 1 << place));
            }
        }
    }
    Some(found)
}
