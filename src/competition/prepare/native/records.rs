//! TensorFlow's record files, as far as a preparation reads them: the names of the images in them. A record is a length,
//! a sum, a protobuf message (`tf.train.Example`) and another sum; the sums are not checked.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::prepare::error::PrepareError;

/// A longer record is none.
const MOST: u64 = 1 << 30;

/// The feature `image_name` of every record.
pub(crate) fn image_names(path: &Path) -> Result<Vec<String>, PrepareError> {
    let mut input = BufReader::new(File::open(path).map_err(PrepareError::io("open", path))?);
    let bad = || PrepareError::unfit(format!("{} is no record file", path.display()));
    let mut names = Vec::new();
    let mut head = [0u8; 12];
    loop {
        let read = read_up_to(&mut input, &mut head).map_err(PrepareError::io("read", path))?;
        if read == 0 {
            return Ok(names);
        }
        let length = head.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if read < head.len() || length > MOST {
            return Err(bad());
        }
        let mut record = Vec::new();
        input.by_ref().take(length + 4).read_to_end(&mut record).map_err(PrepareError::io("read", path))?;
        let whole = record.get(..record.len().saturating_sub(4)).filter(|whole| whole.len() as u64 == length);
        names.push(whole.and_then(image_name).ok_or_else(bad)?);
    }
}

fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Example (1: features) holds a map (1: entries of 1: key and 2: feature); a feature (1: list of bytes) holds 1: bytes.
fn image_name(example: &[u8]) -> Option<String> {
    let features = fields(example).find(|(number, _)| *number == 1)?.1;
    for (_, entry) in fields(features).filter(|(number, _)| *number == 1) {
        let part = |wanted: u64| fields(entry).find(|(number, _)| *number == wanted).map(|(_, bytes)| bytes);
        if part(1) == Some(b"image_name") {
            let list = fields(part(2)?).find(|(number, _)| *number == 1)?.1;
            let first = fields(list).find(|(number, _)| *number == 1)?.1;
            return String::from_utf8(first.to_vec()).ok();
        }
    }
    None
}

/// The fields of a message that have a length, with their bytes; it ends where the message is broken.
fn fields(message: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = message;
    std::iter::from_fn(move || {
        loop {
            let tag = number(&mut rest)?;
            let skipped = match tag & 7 {
                0 => {
                    number(&mut rest)?;
                    0
                }
                1 => 8,
                5 => 4,
                2 => {
                    let length = usize::try_from(number(&mut rest)?).ok()?;
                    let (bytes, after) = rest.split_at_checked(length)?;
                    rest = after;
                    return Some((tag >> 3, bytes));
                }
                _ => return None,
            };
            rest = rest.get(skipped..)?;
        }
    })
}

/// A number of seven bits a byte.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
