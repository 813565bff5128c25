//! The rows of a table of any usual dialect, as a stream of cells in UTF-8. One piece of the file is held at a time.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::csv::{CsvError, Row, Tokenizer};
use crate::own::dialect::{Dialect, Encoding};
use crate::own::error::OwnError;

/// Bytes that are read at once.
const PIECE: usize = 1 << 18;

/// Opens a table, a gzipped one too.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, OwnError> {
    // A pipe in its place would be waited on for ever.
    let facts = std::fs::metadata(path).map_err(OwnError::io("read", path))?;
    if !facts.is_file() {
        return Err(OwnError::unfit(path, "it is no regular file", "name a file or a folder of files"));
    }
    let file = File::open(path).map_err(OwnError::io("read", path))?;
    let zipped = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    Ok(if zipped { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// How tables of ours are written, whatever columns they have.
pub(crate) fn plain() -> Dialect {
    Dialect {
        encoding: Encoding::Utf8,
        delimiter: b',',
        names: Vec::new(),
        commas: Vec::new(),
        unnamed: false,
    }
}

/// Calls `each` with every row and its number, the header's being 0.
pub(crate) fn each(
    path: &Path,
    dialect: &Dialect,
    each: impl FnMut(u64, &Row<'_>) -> Result<(), OwnError>,
) -> Result<(), OwnError> {
    each_of(open(path)?, path, dialect, each)
}

/// As [`each`], of bytes that were read from `path` before.
pub(crate) fn each_of(
    mut input: impl Read,
    path: &Path,
    dialect: &Dialect,
    mut each: impl FnMut(u64, &Row<'_>) -> Result<(), OwnError>,
) -> Result<(), OwnError> {
    let mut tokenizer = Tokenizer::new(dialect.delimiter);
    let mut text = Text { encoding: dialect.encoding, held: Vec::new(), decoded: String::new(), offset: 0 };
    let mut buffer = vec![0; PIECE];
    let (mut number, mut stopped) = (0, None);
    let mut sink = |row: &Row<'_>| {
        let ended = each(number, row);
        number += 1;
        ended.map_err(|error| {
            stopped = Some(error);
            // Only a sign to stop: the error beside it is told.
            CsvError::TooManyRows { limit: 0 }
        })
    };
    let ended = loop {
        let read = match input.read(&mut buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Err(CsvError::from(error)),
        };
        let piece = buffer.get(..read).unwrap_or_default();
        let fed = text.decode(piece, read == 0).and_then(|text| tokenizer.feed(text, &mut sink));
        if read == 0 || fed.is_err() {
            break fed.and_then(|()| tokenizer.finish(&mut sink));
        }
    };
    match (stopped, ended) {
        (Some(error), _) => Err(error),
        (None, Err(source)) => Err(OwnError::Table { path: path.to_owned(), source }),
        (None, Ok(())) => Ok(()),
    }
}

/// Bytes to text.
struct Text {
    encoding: Encoding,
    /// Bytes of a character that the next piece ends.
    held: Vec<u8>,
    decoded: String,
    offset: u64,
}

impl Text {
    fn decode(&mut self, piece: &[u8], last: bool) -> Result<&str, CsvError> {
        self.decoded.clear();
        let first = self.offset == 0 && self.held.is_empty();
        match self.encoding {
            Encoding::Latin1 => {
                self.decoded.extend(piece.iter().map(|byte| windows_1252(*byte)));
                self.offset += piece.len() as u64;
            }
            Encoding::Utf8 => {
                self.held.extend_from_slice(piece);
                let good = match std::str::from_utf8(&self.held) {
                    Ok(text) => text.len(),
                    Err(error) if error.error_len().is_some() || last => {
                        return Err(CsvError::NotUtf8 { offset: self.offset + error.valid_up_to() as u64 });
                    }
                    Err(error) => error.valid_up_to(),
                };
                let rest = self.held.split_off(good);
                let whole = std::mem::replace(&mut self.held, rest);
                self.offset += good as u64;
                self.decoded = String::from_utf8(whole).unwrap_or_default();
            }
        }
        let text = self.decoded.as_str();
        Ok(if first { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text })
    }
}

/// Windows' code page 1252, which is Latin 1 with letters and quotes where Latin 1 has control characters.
fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH.get(usize::from(byte - 0x80)).copied().unwrap_or(char::from(byte)),
        _ => char::from(byte),
    }
}
