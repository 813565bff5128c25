//! CSV as pandas reads it (C parser, round-trip floats), because a submission means what the official grader's
//! reader makes of it: types are those of whole columns, certain words are missing values, short rows are padded.
//!
//! The file is streamed: bytes are checked to be UTF-8, cut into rows (`tokenizer`), collected by column
//! in blocks of rows and typed block by block, with pandas' block size, so that a large file gets pandas' types too.
//! No bytes make it panic.

mod column;
mod ends;
mod error;
mod infer;
mod number;
mod raw;
mod table;
mod tokenizer;

use std::io::Read;
use std::sync::atomic::AtomicU64;

pub use column::{Cell, Column, MixedCell, Texts};
pub use error::CsvError;
pub(crate) use number::{boolean, float64, int64};
pub use table::{MAX_COLUMNS, ReadOptions, Table};

pub(crate) use raw::{RawRow, cell, each_row};
pub(crate) use tokenizer::line_ends;

use table::TableBuilder;
use tokenizer::Tokenizer;

const PIECE: usize = 64 * 1024;

/// Reads a table.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<Table, CsvError> {
    read_within(input, options, &AtomicU64::new(options.max_rows.unwrap_or(u64::MAX))).0
}

/// Reads a table of at most `limit` data rows, whatever the options say; another thread may lower the limit meanwhile.
/// Also tells how many data rows were begun, so that what came of a limit that was late can be settled afterwards.
pub(crate) fn read_within(
    input: impl Read,
    options: &ReadOptions,
    limit: &AtomicU64,
) -> (Result<Table, CsvError>, u64) {
    let mut builder = TableBuilder::new(options, limit);
    let end = feed(input, options, &mut builder);
    let rows = builder.rows();
    (end.map(|()| builder.finish()), rows)
}

fn feed(mut input: impl Read, options: &ReadOptions, builder: &mut TableBuilder<'_>) -> Result<(), CsvError> {
    let mut tokenizer = Tokenizer::new(options.delimiter);
    let mut sink = |row: &tokenizer::Row| builder.row(row);
    let mut buffer = vec![0; PIECE];
    // Bytes at the front of the buffer that begin a character whose end has not come yet.
    let mut held = 0;
    let mut offset = 0u64;
    loop {
        let read = match input.read(buffer.get_mut(held..).unwrap_or_default()) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let filled = held + read;
        let piece = buffer.get(..filled).unwrap_or_default();
        // What stands before a bad byte is taken first: the first fault of the file is told, wherever a piece ends.
        let (whole, bad) = match std::str::from_utf8(piece) {
            Ok(_) => (filled, false),
            Err(error) => (error.valid_up_to(), error.error_len().is_some() || read == 0),
        };
        let text = piece.get(..whole).unwrap_or_default();
        let mark = if offset == 0 { text.strip_prefix("\u{feff}".as_bytes()) } else { None };
        tokenizer.feed(mark.unwrap_or(text), &mut sink)?;
        if bad {
            return Err(CsvError::NotUtf8 { offset: offset + whole as u64 });
        }
        if read == 0 {
            if !options.head_only {
                tokenizer.finish(&mut sink)?;
            }
            return Ok(());
        }
        buffer.copy_within(whole..filled, 0);
        held = filled - whole;
        offset += whole as u64;
    }
}

/// Reads a table from text in memory.
pub fn read_text(text: &str, options: &ReadOptions) -> Result<Table, CsvError> {
    read(text.as_bytes(), options)
}
