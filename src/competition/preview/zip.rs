//! What is in a zip file, from its central directory: how many entries, and the names of the first. Nothing is
//! unpacked, and at most a megabyte is read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// What a zip file holds.
pub(crate) struct Entries {
    pub(crate) count: u64,
    pub(crate) first: Vec<String>,
}

const END: [u8; 4] = *b"PK\x05\x06";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const SHOWN: usize = 3;

/// Lists a zip file; `None` when it is none or of the 64-bit kind.
pub(crate) fn entries(path: &Path) -> Option<Entries> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let tail = read_at(&mut file, size.saturating_sub(22 + 65_535), 22 + 65_535)?;
    let position = tail.windows(4).rposition(|window| window == END)?;
    let end = tail.get(position..)?;
    let (count, start) = (u16_at(end, 10)?, u32_at(end, 16)?);
    if count == u16::MAX || start == u32::MAX {
        return None;
    }
    let directory = read_at(&mut file, u64::from(start), 1 << 16)?;
    let (mut first, mut rest) = (Vec::new(), directory.as_slice());
    while first.len() < SHOWN && rest.starts_with(&ENTRY) {
        let lengths = [u16_at(rest, 28)?, u16_at(rest, 30)?, u16_at(rest, 32)?].map(usize::from);
        let [name, extra, comment] = lengths;
        let Some(name_bytes) = rest.get(46..46 + name) else { break };
        first.push(super::tree::escape(&String::from_utf8_lossy(name_bytes)));
        rest = rest.get(46 + name + extra + comment..).unwrap_or_default();
    }
    if usize::from(count) > first.len() {
        first.push("...".to_owned());
    }
    Some(Entries { count: u64::from(count), first })
}

fn read_at(file: &mut File, position: u64, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(position)).ok()?;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn u16_at(bytes: &[u8], position: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(position..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], position: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(position..)?.first_chunk().copied()?))
}
